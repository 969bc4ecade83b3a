import { paceRefusal, spendPace } from './allowance';
import { beginOp, completeOp } from './control';
import type { Twine, UnitUpdate } from './fleet';
import { DOWN, hasTask, RUNNING, type Job } from './job';
import { isTaskOf, noteSize, removeSlot } from './tasks';

/**
 * Stops the tasks that a removal has not stopped yet, and leaves in `waiting` those that cannot stop now. N_small and the budget do not hold. With a
 * controller each running task needs its approval; one that is being updated or moved comes up first.
 */
export function stopTasks(twine: Twine, job: Job, id: string, unit: UnitUpdate): void {
  const waiting = unit.waiting ?? new Set();
  const before = waiting.size;
  unit.reason = null;
  for (const slot of waiting) {
    const isThere = isTaskOf(job, unit, slot);
    if (isThere && job.control !== null && job.tasks.state[slot] !== DOWN) continue;
    if (isThere) removeSlot(twine, job, slot);
    waiting.delete(slot);
  }
  stopApproved(twine, job, id, unit, waiting);
  unit.cursor = unit.slots.length - waiting.size;
  if (waiting.size < before) noteSize(twine, job);
  if (waiting.size === 0) twine.fleet.traffic?.delete(job.name);
}

function stopApproved(twine: Twine, job: Job, id: string, unit: UnitUpdate, waiting: Set<number>): void {
  for (const approval of job.control?.approved.values() ?? []) {
    const { owner, slot } = approval;
    if (owner !== id || !waiting.has(slot) || !canStop(job, slot)) continue;
    const pace = paceRefusal(twine, job.region);
    if (pace !== null) {
      unit.reason = pace;
      return;
    }
    spendPace(twine, job.region);
    removeSlot(twine, job, slot);
    beginOp(job, approval);
    completeOp(job, slot);
    waiting.delete(slot);
  }
}

/** Whether a task runs and no other starts next to it: such a swap finishes first. */
export const canStop = (job: Job, slot: number): boolean =>
  hasTask(job, slot) && job.tasks.state[slot] === RUNNING && !job.swaps.has(slot);
