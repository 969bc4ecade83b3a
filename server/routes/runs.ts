import { Hono } from 'hono';
import { conveyorError } from '../../domain/errors';
import { fitsRun } from '../../sdk/callbacks';
import { bearerOf } from '../auth';
import type { ServerDeps } from '../deps';
import type { Ended } from '../ended';
import type { Gate } from '../gate';

type Deps = Pick<ServerDeps, 'callbacks'> & { readonly ended: Ended; readonly lane: Gate };

/** `POST /v1/runs/<run>/ended`: an action service says that a run has ended. Nothing is read but the path and the key. */
export function runRoutes({ callbacks, ended, lane }: Deps): Hono {
  const app = new Hono();
  app.post('/:run{.+}/ended', async (c) => {
    const run = c.req.param('run');
    if (callbacks === null) throw conveyorError('not-found', { what: 'call to say that a run has ended' });
    if (!fitsRun(callbacks, run, bearerOf(c))) throw conveyorError('wrong-key', { run });
    await lane.run(() => ended.say(run), c.req.raw.signal);
    return c.body(null, 204);
  });
  return app;
}
