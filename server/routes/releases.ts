import { Hono, type Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import { unfitCommand } from '../../domain/excess';
import { parseId } from '../../domain/ids';
import { authenticate } from '../auth';
import { parseQuery, readJson, rejectInvalidInput } from '../body';
import { statusResponse } from '../lastKnown';
import { listQuery, logsQuery, releaseVerb, rerunRequest } from '../schemas';
import type { RouteDeps } from './deps';
import { readCommand, requestKey, parseVerb } from './pipelines';

/** `/v1/releases`; `/v1/releases/<pipeline>/<n>` and, with `/<action>`, its deploys: their status, and commands to them. */
export function releaseRoutes(deps: RouteDeps): Hono {
  const { client: reader, turns } = deps;
  const app = new Hono();
  app.get('/', async (c) => c.json(await reader.listReleases(parseQuery(c, listQuery))));
  app.get('/:pipeline/:n', (c) => statusResponse(c, reader, parseTargetId(c)));
  app.get('/:pipeline/:n/:action', (c) => statusResponse(c, reader, parseTargetId(c)));
  app.get('/:pipeline/:n/:action/logs', async (c) =>
    c.json(await reader.logs(parseTargetId(c), parseQuery(c, logsQuery).attempt)),
  );
  const command = async (c: Context): Promise<Response> => {
    const verb = parseVerb(c, releaseVerb.options);
    const { client, ...caller } = await authenticate(c, deps);
    const [id, input] = [parseTargetId(c), await readCommand(c, verb, caller)];
    return c.json(await turns.run(id, () => client.command(id, verb, input)));
  };
  app.post('/:pipeline/:n/rerun', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const { reason, trigger: kind, idempotencyKey } = await readJson(c, rerunRequest);
    const id = parseId(parseTargetId(c));
    if (id?.kind !== 'release') throw conveyorError('not-found', { what: 'release' });
    const given = { actor, kind, reason, key: requestKey(c, idempotencyKey) } as const;
    rejectInvalidInput(unfitCommand({ actor, ...(reason === undefined ? {} : { reason }) }));
    const started = await turns.run(id.pipeline, () => client.rerun(id.pipeline, id.number, given));
    c.header('location', `/v1/releases/${started.id}`);
    return c.json(started, 202);
  });
  app.post('/:pipeline/:n/commands/:verb', command);
  app.post('/:pipeline/:n/:action/commands/:verb', command);
  return app;
}

/** The id from the path. An encoded slash (`%2F`) must not turn it into another id. */
function parseTargetId(c: Context): string {
  const { pipeline, n, action } = c.req.param() as { pipeline: string; n: string; action?: string };
  const parts = [pipeline, n, ...(action === undefined ? [] : [action])];
  const text = parts.join('/');
  const id = parts.some((part) => part.includes('/')) ? undefined : parseId(text);
  if (id !== undefined && id.kind !== 'pipeline') return text;
  throw conveyorError('invalid-id', { text, expected: 'the id of a release or deploy' });
}
