import type { Placement } from '../../sdk';

/**
 * An upper limit on a batch of these tasks in which no two host the same shard. Each shard is hosted by at most one
 * task of the batch, so the shards of a batch add up to at most their total; the tasks with the fewest shards give the
 * largest batch. The limit holds for every controller, and may be more than any can reach.
 */
export function largestConceivable(placement: Placement, tasks: readonly string[]): number {
  const shards = new Set(tasks.flatMap((task) => placement.get(task) ?? []));
  const needs = tasks.map((task) => placement.get(task)?.length ?? 0).sort((a, b) => a - b);
  let left = shards.size;
  return needs.filter((need) => (left -= need) >= 0).length;
}
