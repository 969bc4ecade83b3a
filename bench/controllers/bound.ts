import type { Placement } from '../../sdk';

/**
 * No batch of these tasks, no two of which host the same shard, can be larger. Each shard that they host is taken by one task
 * at most, so that the shards of a batch add up to no more than there are; the tasks with the fewest shards give the most.
 * It holds for every controller, however clever, and may be more than any can reach.
 */
export function largestConceivable(placement: Placement, tasks: readonly string[]): number {
  const shards = new Set(tasks.flatMap((task) => placement.get(task) ?? []));
  const needs = tasks.map((task) => placement.get(task)?.length ?? 0).sort((a, b) => a - b);
  let left = shards.size;
  return needs.filter((need) => (left -= need) >= 0).length;
}
