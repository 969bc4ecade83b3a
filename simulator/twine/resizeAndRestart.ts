import type { TaskOp } from '../../sdk/protocol/taskController';
import { budgetRefusal, paceRefusal, spendPace } from './allowance';
import { beginOp, completeOp, formatTaskId } from './control';
import type { OpApproval } from './controlState';
import type { Twine } from './fleet';
import { DOWN, hasTask, computeNSmall, RUNNING, jobSize, type Job, type Restart, type Shrink } from './job';
import { leaveState, noteSize, removeSlot, startAfter } from './tasks';
import { faultCovers } from './topology';

/** Requests for running tasks other than updates and repairs: to leave the job, or to restart. */

/** Continues both as far as possible. Each running task needs the controller's approval; one that is down needs none. */
export function resizeAndRestart(twine: Twine, job: Job): void {
  if (job.shrink !== null) shrinkOn(twine, job, job.shrink);
  if (job.restart !== null) restartOn(twine, job, job.restart);
}

/** The approvals that these requests need from a controller. */
export function listRequestApprovals(twine: Twine, job: Job): OpApproval[] {
  const { shrink, restart } = job;
  const leaving = shrink === null ? [] : surplusSlots(job, shrink).filter((slot) => isUndisturbed(job, slot));
  const starting = restart === null ? [] : [...restart.slots].filter((slot) => canRestart(twine, job, restart, slot));
  return [
    ...leaving.map((slot) => resizeOrRestartOp(job, shrink?.id ?? '', slot, 'stop')),
    ...starting
      .filter((slot) => !isLeaving(job, slot))
      .map((slot) => resizeOrRestartOp(job, restart?.id ?? '', slot, 'restart')),
  ];
}

/** Whether a task is to leave its job. */
export const isLeaving = ({ shrink }: Job, slot: number): boolean => shrink !== null && slot >= shrink.to;

/** A task did not come up: if it was restarted on purpose, no other is. */
export function failRestart(job: Job, slot: number, epoch: number): void {
  if (job.restart?.away.get(slot) === epoch) job.restart = null;
}

function shrinkOn(twine: Twine, job: Job, shrink: Shrink): void {
  const before = jobSize(job);
  for (const slot of surplusSlots(job, shrink)) if (isLost(job, slot)) removeSlot(twine, job, slot);
  for (const approval of approvalsFor(job, shrink.id)) {
    if (!hasTask(job, approval.slot) || !isUndisturbed(job, approval.slot)) continue;
    if (paceRefusal(twine, job.region) !== null) break;
    spendPace(twine, job.region);
    removeSlot(twine, job, approval.slot);
    beginOp(job, approval);
    completeOp(job, approval.slot);
  }
  if (jobSize(job) < before) noteSize(twine, job);
  if (job.size <= shrink.to) job.shrink = null;
}

function restartOn(twine: Twine, job: Job, restart: Restart): void {
  const { slots, away } = restart;
  for (const slot of slots) if (!lacksRestart(job, restart, slot)) slots.delete(slot);
  for (const [slot, epoch] of away) if (job.tasks.epoch[slot] !== epoch) away.delete(slot);
  const asked = job.control ? approvalsFor(job, restart.id) : [...slots].map((slot) => ({ slot }));
  for (const next of asked) {
    if (away.size >= computeNSmall(job)) break;
    if (!slots.has(next.slot) || !canRestart(twine, job, restart, next.slot)) continue;
    if (budgetRefusal(job) !== null || paceRefusal(twine, job.region) !== null) break;
    spendPace(twine, job.region);
    leaveState(twine, job, next.slot, DOWN, 'restart');
    if ('op' in next) beginOp(job, next);
    startAfter(twine, job, next.slot, job.timings.stopMs + job.timings.startMs);
    slots.delete(next.slot);
    away.set(next.slot, job.tasks.epoch[next.slot] ?? 0);
  }
  if (slots.size + away.size === 0) job.restart = null;
}

const approvalsFor = ({ control }: Job, id: string): OpApproval[] =>
  [...(control?.approved.values() ?? [])].filter(({ owner }) => owner === id);

function surplusSlots(job: Job, { to }: Shrink): number[] {
  const slots: number[] = [];
  for (let slot = to; slot < job.size; slot += 1) if (hasTask(job, slot)) slots.push(slot);
  return slots;
}

/** Down for another reason than the restart; an update or a move finishes first. */
const isLost = ({ tasks, restart }: Job, slot: number): boolean =>
  tasks.state[slot] === DOWN && restart?.away.get(slot) !== tasks.epoch[slot];

/** Runs, and no task starts next to it: such a swap finishes first. */
const isUndisturbed = (job: Job, slot: number): boolean => job.tasks.state[slot] === RUNNING && !job.swaps.has(slot);

/** A task that is down or being updated starts again by itself. */
const lacksRestart = (job: Job, { at }: Restart, slot: number): boolean =>
  hasTask(job, slot) && job.tasks.state[slot] === RUNNING && (job.tasks.startedAt[slot] ?? 0) < at;

/** False if the task could not start again, because work on its machine is announced. */
const canRestart = (twine: Twine, job: Job, restart: Restart, slot: number): boolean =>
  lacksRestart(job, restart, slot) &&
  isUndisturbed(job, slot) &&
  ![...twine.fleet.faults.values()].some((fault) => faultCovers(fault, job.region, job.tasks.machine[slot] ?? 0));

function resizeOrRestartOp(job: Job, owner: string, slot: number, kind: 'stop' | 'restart'): OpApproval {
  const op: TaskOp = { id: `${owner}/${slot}`, task: formatTaskId(job, slot), kind };
  return { op, slot, owner };
}
