import { Hono, type Context } from 'hono';
import type { z } from 'zod';
import type { Artifact } from '../../domain/artifact';
import { conveyorError } from '../../domain/errors';
import { unfitArtifacts, unfitCommand, unfitKey } from '../../domain/excess';
import type { CommandInput, Verb } from '../../domain/verbs';
import { authenticate, type Caller } from '../auth';
import { parseQuery, readJson, rejectInvalidInput } from '../body';
import { historyResponse, statusResponse } from '../lastKnown';
import { commandRequest } from '../commandRequest';
import { listQuery, pipelineVerb, releaseRequest } from '../schemas';
import type { RouteDeps } from './deps';

/** `/v1/pipelines`: everybody may look; who changes something says who they are. Answers are those of `-o json`. */
export function pipelineRoutes(deps: RouteDeps): Hono {
  const { client: reader, turns } = deps;
  const app = new Hono();
  app.get('/', async (c) => c.json(await reader.listPipelines(parseQuery(c, listQuery))));
  app.get('/:name', (c) => statusResponse(c, reader, pipelineParam(c)));
  app.get('/:name/history', (c) => historyResponse(c, reader, pipelineParam(c)));

  app.post('/:name/releases', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const { artifacts, trigger: kind, idempotencyKey } = await readJson(c, releaseRequest);
    const given = parseArtifacts(artifacts);
    const [pipeline, trigger] = [pipelineParam(c), { kind, actor, key: requestKey(c, idempotencyKey) } as const];
    const started = await turns.run(pipeline, () => client.release(pipeline, given, trigger));
    c.header('location', `/v1/releases/${started.id}`);
    return c.json(started, 202);
  });

  app.post('/:name/commands/:verb', async (c) => {
    const verb = parseVerb(c, pipelineVerb.options);
    const { client, ...caller } = await authenticate(c, deps);
    const [id, input] = [pipelineParam(c), await readCommand(c, verb, caller)];
    return c.json(await turns.run(id, () => client.command(id, verb, input)));
  });
  return app;
}

/** The artifacts of a request, with their kinds filled in. @throws ConveyorError `over-limit`, `invalid-text` */
export function parseArtifacts(artifacts: z.output<typeof releaseRequest>['artifacts']): readonly Artifact[] {
  const given = artifacts.map(({ kind, ...rest }): Artifact => ({ ...rest, kind: kind ?? rest.name }));
  rejectInvalidInput(unfitArtifacts(given));
  return given;
}

/** The command of a request, with its actor and reason. @throws ConveyorError `missing-reason`, `invalid-request` */
export async function readCommand(c: Context, verb: Verb, caller: Pick<Caller, 'principal'>): Promise<CommandInput> {
  const { reason, ...given } = await readJson(c, commandRequest);
  if (reason === undefined) throw conveyorError('missing-reason', { verb });
  const command = { ...given, reason, actor: caller.principal };
  rejectInvalidInput(unfitCommand(command));
  return command;
}

export function parseVerb<V extends Verb>(c: Context, verbs: readonly V[]): V {
  const given = c.req.param('verb');
  const verb = verbs.find((one) => one === given);
  if (verb === undefined) throw conveyorError('not-found', { what: `verb ${given}; there are ${verbs.join(', ')}` });
  return verb;
}

/** Without a slash in it: `%2F` would make another id of it. */
export function pipelineParam(c: Context): string {
  const name = c.req.param('name') ?? '';
  if (name.includes('/')) throw conveyorError('invalid-id', { text: name, expected: 'the name of a pipeline' });
  return name;
}

/** The idempotency key from the header or the body. @throws ConveyorError where they differ */
export function requestKey(c: Context, inBody: string | undefined): string | null {
  const inHeader = c.req.header('idempotency-key');
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody)
    throw conveyorError('invalid-request', { detail: 'Idempotency-Key and idempotencyKey say different things' });
  const key = inBody ?? (inHeader === undefined || inHeader === '' ? null : inHeader);
  rejectInvalidInput(unfitKey(key ?? ''));
  return key;
}
