import { STATE_LIMITS } from './limits';
import { newestWithin } from './size';
import type { CommandRecord } from './verbs';

/** The number of commands that a release or a deploy keeps. */
export const RUN_COMMANDS = 200;

/**
 * The commands that a workflow keeps, oldest first: the newest accepted ones and, counted separately, the newest
 * refused ones. So refused commands never push out those of an owner.
 */
export function trimCommands(
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
