import type { Hono } from 'hono';
import { conversation, leaderLast, serveTaskController, type Ensemble } from '../../sdk';

/**
 * The controller of a replicated service such as ZooKeeper: followers first, the leader last, and always a majority up.
 * `ensemble` asks the members which one leads; that changes during a release.
 */
export function ensembleController(ensemble: () => Ensemble | Promise<Ensemble>): Hono {
  const answer = conversation('stop'); // a member keeps its data: it returns to the same place
  return serveTaskController('leader-last', {
    process: async (request) => {
      const decide = leaderLast(await ensemble());
      return answer(request, decide);
    },
  });
}
