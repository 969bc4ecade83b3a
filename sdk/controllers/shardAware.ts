import type { TaskOp } from '../protocol/taskController';
import type { Decide } from './conversation';
import { largestIndependent, type Conflicts } from './independent';

/** The shards with a replica on a task, by the task's name; empty for a task that hosts none. */
export type Placement = ReadonlyMap<string, readonly string[]>;

/**
 * While operations are in flight, more begin only if all of them together reach this share of the batch that would be
 * possible if none were in flight.
 */
const WORTH_STARTING = 0.9;

/**
 * No shard loses a second replica (Conveyor §2.3, Twine §5.1): of the tasks that host a replica of a shard, at most one
 * is operated on, and only while the others run. A task that is already down has nothing to lose: it may be operated
 * on, one at a time for each shard, so that a version that crashes everywhere can be reverted. Tasks that the placement
 * does not know wait. The batch is the largest that a quick search finds.
 */
export function shardAware(placement: Placement): Decide {
  return ({ pending, inFlight, unhealthy }) => {
    const lost = shardsOn(
      placement,
      [...unhealthy].filter((task) => !inFlight.has(task)),
    );
    const moving = shardsOn(placement, inFlight);
    const possible = pending.filter(
      ({ task }) => placement.has(task) && (unhealthy.has(task) || !touches(placement, task, lost)),
    );
    const batch = largestBatch(
      placement,
      possible.filter(({ task }) => !touches(placement, task, moving)),
    );
    if (inFlight.size === 0 || batch.length === 0) return batch;
    // A few operations that are possible by chance would block many once those in flight are over.
    const ideal = largestBatch(placement, possible).length;
    return inFlight.size + batch.length >= WORTH_STARTING * ideal ? batch : [];
  };
}

const touches = (placement: Placement, task: string, shards: ReadonlySet<string>): boolean =>
  (placement.get(task) ?? []).some((shard) => shards.has(shard));

const shardsOn = (placement: Placement, tasks: Iterable<string>): Set<string> =>
  new Set([...tasks].flatMap((task) => placement.get(task) ?? []));

/**
 * Operations of tasks no two of which share a shard. If replicas are spread over fault domains this finds a whole
 * domain, since each further task of the first domain excludes fewer of the rest.
 */
function largestBatch(placement: Placement, ops: readonly TaskOp[]): TaskOp[] {
  const taken = largestIndependent(conflicts(placement, ops));
  return ops.filter((_, index) => taken.has(index));
}

/** For each operation, the others whose task shares a shard with its own. */
function conflicts(placement: Placement, ops: readonly TaskOp[]): Conflicts {
  const hosts = new Map<string, number[]>();
  const found = ops.map(() => new Set<number>());
  for (const [index, { task }] of ops.entries())
    for (const shard of placement.get(task) ?? []) {
      const sharing = hosts.get(shard) ?? [];
      for (const other of sharing) {
        found[index]?.add(other);
        found[other]?.add(index);
      }
      hosts.set(shard, [...sharing, index]);
    }
  return found;
}
