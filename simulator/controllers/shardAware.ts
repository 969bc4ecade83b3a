import { z } from 'zod';
import { conversation } from '../../sdk/controllers/conversation';
import { shardAware, type Placement } from '../../sdk/controllers/shardAware';
import { hashText } from '../kernel/random';
import { standardController } from './controller';
import { placeShards } from './placement';

const options = z.strictObject({
  shards: z.number().int().positive().max(1_000_000).default(1000),
  replicas: z.number().int().min(2).max(12).default(3),
  onMaintenance: z.enum(['move', 'stop', 'ride-out']).default('ride-out'),
});

/** A sharded store. Its tasks are dealt to as many domains as there are replicas, so that main switch boards are not torn apart. */
export const shardAwareController = standardController(options, ({ shards, replicas, onMaintenance }, view) => {
  const ask = conversation(onMaintenance);
  let placed: { readonly size: number; readonly placement: Placement } | undefined;
  const placement = (): Placement => {
    const tasks = view.tasks();
    if (placed?.size !== tasks.length) {
      const domains = Array.from({ length: replicas }, (_, domain) =>
        tasks.filter((_, slot) => slot % replicas === domain),
      );
      placed = { size: tasks.length, placement: placeShards(domains, shards, hashText(view.job)) };
    }
    return placed.placement;
  };
  return (request) => ask(request, shardAware(placement()));
});
