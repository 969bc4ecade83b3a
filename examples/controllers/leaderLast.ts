import type { Hono } from 'hono';
import { conversation, leaderLast, serveTaskController, type Ensemble } from '../../sdk';

/**
 * The controller of a replicated service such as ZooKeeper: followers first, the leader last, and always a majority.
 * `ensemble` asks the members who leads; that changes while a release goes through.
 */
export function ensembleController(ensemble: () => Ensemble | Promise<Ensemble>): Hono {
  const answer = conversation('stop'); // a member keeps its data: it comes back where it was
  return serveTaskController('leader-last', {
    process: async (request) => {
      const decide = leaderLast(await ensemble());
      return answer(request, decide);
    },
  });
}
