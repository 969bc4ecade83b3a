import { Hono } from 'hono';
import { conveyorError } from '../../domain/errors';
import { unfitCommand } from '../../domain/excess';
import { authenticate } from '../auth';
import { readJson, rejectInvalidInput } from '../body';
import { pushRequest, submitRequest } from '../changes';
import type { RouteDeps } from './deps';
import { parseArtifacts, requestKey, pipelineParam } from './pipelines';

/** `/v1/pipelines/<name>`: emergencies, and what came into being elsewhere. */
export function submissionRoutes(deps: RouteDeps): Hono {
  const { turns } = deps;
  const app = new Hono();
  app.post('/:name/pushes', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const { action, artifacts, reason, skipBake, idempotencyKey } = await readJson(c, pushRequest);
    if (reason === undefined) throw conveyorError('missing-reason', { verb: 'push' });
    rejectInvalidInput(unfitCommand({ actor, reason }));
    const [given, key] = [parseArtifacts(artifacts), requestKey(c, idempotencyKey)];
    const push = { actor, reason, ...(skipBake ? { skipBake } : {}), ...(key === null ? {} : { key }) };
    const pipeline = pipelineParam(c);
    const started = await turns.run(pipeline, () => client.push(pipeline, action, given, push));
    c.header('location', `/v1/releases/${started.id}`);
    return c.json(started, 202);
  });

  app.post('/:name/submissions', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const { artifacts, idempotencyKey } = await readJson(c, submitRequest);
    const [pipeline, given, key] = [pipelineParam(c), parseArtifacts(artifacts), requestKey(c, idempotencyKey)];
    const trigger = { kind: 'webhook', actor, key } as const;
    const submitted = await turns.run(pipeline, () => client.submit(pipeline, given, trigger));
    if (submitted.id !== null) c.header('location', `/v1/releases/${submitted.id}`);
    return c.json(submitted, 202);
  });
  return app;
}
