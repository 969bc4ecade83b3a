import { z } from 'zod';
import { conversation } from '../../sdk/controllers/conversation';
import { shardAware, type Placement } from '../../sdk/controllers/shardAware';
import { hashText } from '../kernel/random';
import { standardController } from './controller';
import { splitIntoDomains, placeShards } from './placement';

const shardAwareOptions = z.strictObject({
  shards: z.number().int().positive().max(1_000_000).default(1000),
  replicas: z.number().int().min(2).max(12).default(3),
  onMaintenance: z.enum(['move', 'stop', 'ride-out']).default('ride-out'),
});

/** A sharded store, with one replica of each shard in each domain of `splitIntoDomains`. Its shards are placed again when its size changes. */
export const shardAwareController = standardController(
  shardAwareOptions,
  ({ shards, replicas, onMaintenance }, view) => {
    const ask = conversation(onMaintenance);
    let placed: { readonly size: number; readonly placement: Placement } | undefined;
    const placement = (): Placement => {
      const slots = view.slots();
      if (placed?.size !== slots.length) {
        const domains = splitIntoDomains(slots, view.msbs(), replicas);
        const names = domains.map((domain) => domain.map((slot) => `${view.job}/${slot}`));
        placed = { size: slots.length, placement: placeShards(names, shards, hashText(view.job)) };
      }
      return placed.placement;
    };
    return (request) => ask(request, shardAware(placement()));
  },
);
