import { completeOp } from './control';
import { nameAtIndex, type Twine } from './fleet';
import { fetchMsOf, type Job, type Swap } from './job';
import { releaseFlight, startAfter } from './tasks';

/**
 * A new task starts beside the one that runs in a slot, or one that starts already is taken over from the update before;
 * nothing becomes unavailable meanwhile. False when nothing has to start, because the slot runs that version and only what
 * was starting beside it is given up.
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
    startAfter(twine, job, slot, fetchMsOf(job, swap.version, twine.world.now) + job.timings.startMs);
  if (!starts) tasks.update[slot] = swap.update;
  const change = { from: 'running', to: 'running', why: 'update', previous } as const;
  twine.notify({ kind: 'task', job: job.name, slot, ...change, update: nameAtIndex(twine.fleet, swap.update) });
  return starts;
}

/** Why a job's tasks cannot be updated at all; null when they can. */
export function roomRefusal({ name, hotswap }: Job): string | null {
  if (hotswap === null || hotswap.containerMb >= 2 * hotswap.taskMb) return null;
  return `hotswap needs room for two tasks of ${hotswap.taskMb} MB, but a container of ${name} has ${hotswap.containerMb} MB`;
}

/** Has a version fetched on all machines of a job, so that its tasks start sooner. True when that was news. */
export function prefetchVersion(twine: Twine, job: Job, version: number): boolean {
  if (job.prefetched.has(version)) return false;
  job.prefetched.set(version, twine.world.now + twine.world.scaled(job.timings.fetchMs));
  return true;
}
