import { Hono } from 'hono';
import { conveyorError } from '../../domain/errors';
import { fitsRun } from '../../platform/callbacks';
import { getBearerToken, authenticate, type CallerDeps } from '../auth';
import type { RunEndings } from '../ended';
import type { RequestGate } from '../gate';

type RunRouteDeps = CallerDeps & {
  readonly ended: RunEndings;
  readonly lane: RequestGate;
};

/**
 * `POST /v1/runs/<run>/ended`: an action service reports that a run has ended. Only the path and the key are read. `…/look` does the same for callers
 * with a token, and answers with the result.
 */
export function runRoutes(deps: RunRouteDeps): Hono {
  const { config, ended, lane } = deps;
  const app = new Hono();
  app.post('/:run{.+}/ended', async (c) => {
    const run = c.req.param('run');
    const { callbacks } = config;
    if (callbacks === null) throw conveyorError('not-found', { what: 'call to say that a run has ended' });
    if (!fitsRun(callbacks, run, getBearerToken(c))) throw conveyorError('wrong-key', { run });
    await lane.run(() => ended.recordRunEnd(run), c.req.raw.signal);
    return c.body(null, 204);
  });
  app.post('/:run{.+}/look', async (c) => {
    const { client } = await authenticate(c, deps);
    return c.json({ look: await lane.run(() => client.lookNow(c.req.param('run')), c.req.raw.signal) });
  });
  return app;
}
