import type { Placement } from '../../sdk/controllers/shardAware';
import { draw, openStream } from '../kernel/random';

/**
 * One replica of each shard in each domain, which is a group of tasks that fail together: by chance, and the same number on
 * each task of a domain but for one. The same seed always gives the same.
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
