import { completeOp } from './control';
import { nameAtIndex, type Twine } from './fleet';
import { computeFetchMs, type Job, type Swap } from './job';
import { releaseFlight, startAfter } from './tasks';

/**
 * A new task starts next to the one that runs in a slot, or this update takes over a task that the previous update was
 * starting; nothing becomes unavailable meanwhile. Returns false if nothing has to start, because the slot already runs
 * that version and only the task that was starting is dropped.
 */
export function beginSwap(twine: Twine, job: Job, slot: number, swap: Swap): boolean {
  const { tasks } = job;
  const begun = job.swaps.get(slot);
  const previous = nameAtIndex(twine.fleet, begun?.update ?? tasks.update[slot] ?? 0);
  if (begun) releaseFlight(twine, job, begun.update);
  completeOp(job, slot);
  job.swaps.delete(slot);
  const starts = tasks.version[slot] !== swap.version;
  const isTakenOver = begun?.version === swap.version;
  if (!isTakenOver) tasks.epoch[slot] = (tasks.epoch[slot] ?? 0) + 1;
  if (starts) job.swaps.set(slot, swap);
  if (starts && !isTakenOver)
    startAfter(twine, job, slot, computeFetchMs(job, swap.version, twine.world.now) + job.timings.startMs);
  if (!starts) tasks.update[slot] = swap.update;
  const change = { from: 'running', to: 'running', why: 'update', previous } as const;
  twine.notify({ kind: 'task', job: job.name, slot, ...change, update: nameAtIndex(twine.fleet, swap.update) });
  return starts;
}

/** Why a job's tasks cannot be updated at all; null if they can. */
export function roomRefusal({ name, hotswap }: Job): string | null {
  if (hotswap === null || hotswap.containerMb >= 2 * hotswap.taskMb) return null;
  return `hotswap needs room for two tasks of ${hotswap.taskMb} MB, but a container of ${name} has ${hotswap.containerMb} MB`;
}

/** Fetches a version on all machines of a job, so that its tasks start sooner. Returns true if it was not fetched already. */
export function prefetchVersion(twine: Twine, job: Job, version: number): boolean {
  if (job.prefetched.has(version)) return false;
  job.prefetched.set(version, twine.world.now + twine.world.scaled(job.timings.fetchMs));
  return true;
}
