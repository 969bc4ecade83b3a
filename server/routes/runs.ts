import { CLIENT_OPERATIONS } from '../../client/operations';
import { conveyorError } from '../../domain/errors';
import { fitsRun } from '../../settings/callbacks';
import { callerRoute, type ApiRoute } from '../apiRoute';
import { getBearerToken } from '../auth';
import { lookAnswer } from '../changes';

/**
 * `/v1/runs/<run>`: an action service reports that a run has ended, or a caller requests a look at it. Only the path and the credentials are read.
 */
export const RUN_ROUTES: readonly ApiRoute[] = [
  {
    route: 'POST /v1/runs/{run}/ended',
    summary:
      'An action service reports that a run has ended: `callback.url` of its startRun; slashes of the id stay as they are',
    ...{ status: 204, security: 'key' },
    also: {
      403: 'The key belongs to another run',
      404: 'This server accepts no reports of runs',
      503: 'Retry after Retry-After',
    },
    respond: async (c, { config: { callbacks }, ended, lanes }) => {
      const run = c.req.param('run') ?? '';
      if (callbacks === null) throw conveyorError('not-found', { what: 'call to say that a run has ended' });
      if (!fitsRun(callbacks, run, getBearerToken(c))) throw conveyorError('wrong-key', { run });
      await lanes.runs.run(() => ended.recordRunEnd(run), c.req.raw.signal);
      return c.body(null, 204);
    },
  },
  callerRoute(CLIENT_OPERATIONS.lookNow.route, {
    summary: 'Polls a run at once; slashes of the id stay as they are',
    answer: lookAnswer,
    run: async ({ c, deps, client }) => {
      const run = c.req.param('run') ?? '';
      return { look: await deps.lanes.runs.run(() => client.lookNow(run), c.req.raw.signal) };
    },
  }),
];
