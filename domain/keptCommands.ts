import { STATE_LIMITS } from './limits';
import { newestWithin } from './size';
import type { CommandRecord } from './verbs';

/** How many a release or a deploy keeps. */
export const RUN_COMMANDS = 200;

/**
 * The commands that a workflow keeps, oldest first: the newest that were taken, and apart from them the newest that were not. Whoever may not
 * command can have as many refused as they like, and pushes out nothing that an owner did.
 */
export function keptCommands(
  commands: readonly CommandRecord[],
  count: number,
  bytes: number = Infinity,
): readonly CommandRecord[] {
  const { refusedCommands, refusedCommandsTogether } = STATE_LIMITS;
  const taken = newestWithin(
    commands.filter(({ accepted }) => accepted),
    bytes,
    count,
  );
  const refused = newestWithin(
    commands.filter(({ accepted }) => !accepted),
    refusedCommandsTogether.max,
    refusedCommands.max,
  );
  if (taken.length + refused.length === commands.length) return commands;
  const kept = new Set([...taken, ...refused]);
  return commands.filter((command) => kept.has(command));
}
