import type { Hono } from 'hono';
import { conversation, serveTaskController, shardAware, type Placement } from '../../sdk';

/**
 * The controller of a sharded store: no shard loses a second replica. `placement` returns which shards each task hosts
 * now, from the program that places them. One process serves all jobs of the service, since they share shards.
 */
export function shardController(placement: () => Placement | Promise<Placement>): Hono {
  const answer = conversation('ride-out'); // a short maintenance costs less than copying a replica elsewhere
  return serveTaskController('shard-aware', {
    process: async (request) => {
      const decide = shardAware(await placement());
      return answer(request, decide);
    },
  });
}
