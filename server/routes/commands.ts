import type { Context } from 'hono';
import type { z } from 'zod';
import type { Route } from '../../client/operations/row';
import { conveyorError } from '../../domain/errors';
import { unfitCommand } from '../../domain/excess';
import type { CommandInput, Verb } from '../../domain/verbs';
import { REFUSED, type ApiRoute } from '../apiRoute';
import { authenticate } from '../auth';
import { readJson, rejectInvalidInput } from '../body';
import { commandRequest } from '../commandRequest';
import { receiptAnswer } from '../schemas';

/** A route of one kind of id. @param of the target of the command, in words */
export const commandRoute = (
  route: Route,
  of: string,
  verbs: readonly Verb[],
  idIn: (c: Context) => string,
): ApiRoute => ({
  ...{ route, verbs, status: 200, security: 'token' },
  summary: `A command to ${of}; the actor is the principal of the token`,
  ...{ request: commandRequest, answer: receiptAnswer, also: REFUSED },
  respond: async (c, deps) => {
    const verb = parseVerb(c, verbs);
    const { client, principal } = await authenticate(c, deps);
    const [id, input] = [idIn(c), await readCommand(c, verb, principal)];
    return c.json(await deps.turns.run(id, () => client.command(id, verb, input)));
  },
});

/** @throws ConveyorError `not-found` */
function parseVerb(c: Context, verbs: readonly Verb[]): Verb {
  const given = c.req.param('verb');
  const verb = verbs.find((one) => one === given);
  if (verb === undefined) throw conveyorError('not-found', { what: `verb ${given}; there are ${verbs.join(', ')}` });
  return verb;
}

/** @throws ConveyorError `missing-reason`, `invalid-request` */
const readCommand = async (c: Context, verb: Verb, actor: string): Promise<CommandInput> =>
  buildCommand(await readJson(c, commandRequest), verb, actor);

/** A command with its actor and reason. @throws ConveyorError `missing-reason`, `over-limit`, `invalid-text` */
export function buildCommand(
  { reason, ...given }: z.output<typeof commandRequest>,
  verb: Verb,
  actor: string,
): CommandInput {
  if (reason === undefined) throw conveyorError('missing-reason', { verb });
  const command = { ...given, reason, actor };
  rejectInvalidInput(unfitCommand(command));
  return command;
}
