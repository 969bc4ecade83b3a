import { Hono, type Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import { numberOfBug, type Bug } from '../../domain/bugs/bug';
import { authenticate } from '../auth';
import { readJson } from '../body';
import { closeBugRequest, reportBugRequest, toBugReport } from '../bugSchemas';
import type { RouteDeps } from './deps';

/** `/v1/bugs`: what is reported to be bad. */
export function bugRoutes(deps: RouteDeps): Hono {
  const { client: reader, turns } = deps;
  const app = new Hono();
  app.get('/', async (c) => c.json(await reader.listBugs()));
  app.get('/:n', async (c) => c.json(requireKnownBug(c, await reader.listBugs())));

  app.post('/', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const report = toBugReport(await readJson(c, reportBugRequest));
    const bug = await turns.run('bugs', () => client.reportBug(report, actor));
    c.header('location', `/v1/bugs/${String(numberOfBug(bug.id))}`);
    return c.json(bug, 201);
  });

  app.post('/:n/close', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const { to, reason } = await readJson(c, closeBugRequest);
    return c.json(await turns.run('bugs', () => client.closeBug({ id: getBugId(c), to, reason }, actor)));
  });
  return app;
}

const getBugId = (c: Context): string => `bug/${c.req.param('n') ?? ''}`;

function requireKnownBug(c: Context, bugs: readonly Bug[]): Bug {
  const bug = bugs.find(({ id }) => id === getBugId(c));
  if (bug) return bug;
  throw conveyorError('unknown-bug', { id: getBugId(c) });
}
