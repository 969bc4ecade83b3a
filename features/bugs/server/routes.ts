import type { Context } from 'hono';
import { CLIENT_OPERATIONS } from '../../../client/operations';
import { conveyorError } from '../../../domain/errors';
import { numberOfBug } from '../domain/bug';
import { callerRoute, lookRoute, REFUSED, type ApiRoute } from '../../../server/apiRoute';
import * as schemas from './schemas';

const NOT_LISTED = { 403: 'platform.bugs does not list the caller' };

/** `/v1/bugs`: reported bugs. */
export const BUG_ROUTES: readonly ApiRoute[] = [
  lookRoute(CLIENT_OPERATIONS.listBugs.route, {
    summary: 'Reported bugs, newest first',
    answer: schemas.bugsAnswer,
    run: ({ client }) => client.listBugs(),
  }),
  // Programs want one bug; people see all.
  lookRoute('GET /v1/bugs/{n}', {
    summary: 'One bug, and the artifacts that contain it',
    answer: schemas.bugAnswer,
    run: async ({ c, client }) => {
      const bug = (await client.listBugs()).find(({ id }) => id === getBugId(c));
      if (bug === undefined) throw conveyorError('unknown-bug', { id: getBugId(c) });
      return bug;
    },
  }),
  callerRoute(CLIENT_OPERATIONS.reportBug.route, {
    summary:
      'Reports a bug; artifacts that contain it are no longer deployed. Repeating a report creates no second bug',
    ...{ status: 201, request: schemas.reportBugRequest, answer: schemas.bugAnswer, also: NOT_LISTED },
    run: async ({ deps, client, actor, body }) => {
      const report = schemas.toBugReport(await body());
      return deps.turns.run('bugs', () => client.reportBug(report, actor));
    },
    location: ({ id }) => `/v1/bugs/${String(numberOfBug(id))}`,
  }),
  callerRoute(CLIENT_OPERATIONS.closeBug.route, {
    summary: 'Closes a bug with the revision that fixes it, or as a mistake',
    ...{ request: schemas.closeBugRequest, answer: schemas.bugAnswer, also: { ...NOT_LISTED, 404: REFUSED[404] } },
    run: async ({ c, deps, client, actor, body }) => {
      const { to, reason } = await body();
      return deps.turns.run('bugs', () => client.closeBug({ id: getBugId(c), to, reason }, actor));
    },
  }),
];

const getBugId = (c: Context): string => `bug/${c.req.param('n') ?? ''}`;
