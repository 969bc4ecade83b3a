import type { Placement } from '../../sdk/controllers/shardAware';
import { draw, openStream } from '../kernel/random';

/**
 * Slots in one domain for each replica. A main switch board is never split, unless there are fewer of them than
 * replicas: then one failure may take several replicas of a shard.
 */
export function splitIntoDomains(slots: readonly number[], msbs: number, replicas: number): number[][] {
  const domain = (slot: number): number => (msbs < replicas ? slot : slot % msbs) % replicas;
  return Array.from({ length: replicas }, (_, index) => slots.filter((slot) => domain(slot) === index));
}

/**
 * Places one replica of each shard in each domain, which is a group of tasks that fail together. The placement is random; the tasks of a domain have
 * the same number of shards, give or take one. The same seed always gives the same placement.
 */
export function placeShards(domains: readonly (readonly string[])[], shards: number, seed: number): Placement {
  const placement = new Map(domains.flat().map((task) => [task, [] as string[]]));
  for (const [index, tasks] of domains.entries()) {
    const stream = openStream(seed, `domain ${index}`);
    const dealt = Array.from({ length: shards }, (_, shard) => ({ name: `shard-${shard}`, rank: draw(stream) }));
    dealt.sort((a, b) => a.rank - b.rank);
    for (const [turn, { name }] of dealt.entries()) placement.get(tasks[turn % tasks.length] ?? '')?.push(name);
  }
  return placement;
}
