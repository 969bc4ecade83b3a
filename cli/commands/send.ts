import type { Command } from 'commander';
import type { ConveyorClient } from '../../client/api';
import type { CommandInput, Verb } from '../../domain/verbs';
import { paint } from '../../render/paint';
import { requireReason } from '../io';
import { resolveActor, withClient } from '../door';
import { emit } from '../output';
import type { CommandCall } from './command';

export interface ReasonOption {
  readonly reason?: string;
}

/** How to send a verb that first resolves its target or asks the user. */
export interface OwnWay {
  readonly options?: (command: Command) => Command;
  readonly send: (call: CommandCall<ReasonOption>, id: string) => Promise<number>;
}

export const addReason = (command: Command): Command => command.option('-r, --reason <text>', 'why; it is recorded');

/** Sends a verb with actor and reason, and reports the effect. `resolve` may resolve the id first. */
export async function sendVerb(
  { io, output, connect, options }: CommandCall<ReasonOption>,
  id: string,
  verb: Verb,
  extra: Partial<CommandInput>,
  resolve: (client: ConveyorClient) => Promise<string> = () => Promise.resolve(id),
): Promise<number> {
  const actor = resolveActor(io, connect);
  const reason = await requireReason(io, verb, options.reason);
  return withClient(io, connect, async (client) => {
    const receipt = await client.command(await resolve(client), verb, { ...extra, actor, reason });
    emit(io, output, receipt, {
      text: (view, { id: of, effect }) => `${paint(view.color).green('✔')} ${of}: ${effect}`,
      name: [receipt.id],
    });
    return 0;
  });
}
