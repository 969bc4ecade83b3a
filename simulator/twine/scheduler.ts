import { plural } from '../../domain/text';
import type { UpdateEndState } from '../events';
import { budgetRefusal, paceRefusal, spendPace } from './allowance';
import { beginOp, completeOp, dropOp, wakeControl } from './control';
import { nameAtIndex, type Twine, type UnitUpdate } from './fleet';
import { computeFetchMs, computeNSmall, RUNNING, UPDATING, slotVersion, type Job } from './job';
import { failRestart, resizeAndRestart } from './resizeAndRestart';
import { relieve } from './relocation';
import { stopTasks } from './stops';
import { beginSwap } from './swaps';
import {
  hasCrashed,
  finishStart,
  isTaskOf,
  leaveState,
  isMachineUp,
  regionDown,
  schedulerDown,
  startAfter,
} from './tasks';

/**
 * One step of a region's scheduler for one job. It moves tasks that must leave their machine, and removes and restarts tasks as requested. When the
 * previous batch is over, it takes the next tasks of the active update: at most N_small, and never more than the unavailability budget leaves. Tasks
 * that are down already cost no budget. It is called whenever something changed, and does nothing if nothing can be done.
 */
export function schedule(twine: Twine, job: Job): void {
  const isDown = schedulerDown(twine, job.region);
  if (!isDown) {
    relieve(twine, job);
    resizeAndRestart(twine, job);
  }
  for (const [id, unit] of activeUnits(twine, job)) {
    if (unit.state !== 'active') continue;
    if (isDown) unit.reason = downReason(twine, job.region);
    else if (unit.removes) advanceRemoval(twine, job, id, unit);
    else if (unit.waiting) advanceControlled(twine, job, id, unit);
    else advance(twine, job, id, unit);
  }
}

function advance(twine: Twine, job: Job, id: string, unit: UnitUpdate): void {
  if (unit.inFlight === 0) unit.left = computeNSmall(job);
  else if (unit.left === 0) return;
  unit.reason = null;
  while (unit.left > 0 && unit.cursor < unit.slots.length) {
    const refusal = takeTask(twine, job, id, unit, unit.slots[unit.cursor] ?? 0);
    if (refusal !== null) {
      unit.reason = refusal.reason;
      // A batch cut short by the budget is a smaller batch; one that is only slowed down continues.
      if (refusal.by === 'budget') unit.left = 0;
      break;
    }
    unit.cursor += 1;
  }
  if (unit.inFlight === 0 && unit.cursor >= unit.slots.length) endUnit(twine, job, id, unit, 'done', null);
}

/** Takes tasks as they are approved, in any order, at most N_small at a time. */
function advanceControlled(twine: Twine, job: Job, id: string, unit: UnitUpdate): void {
  const { control } = job;
  const waiting = unit.waiting ?? new Set();
  unit.reason = null;
  const limit = computeNSmall(job);
  for (const approval of control?.approved.values() ?? []) {
    if (approval.owner !== id || !waiting.has(approval.slot)) continue;
    if (unit.inFlight >= limit) break;
    // An approval that is no longer wanted is dropped at once; its task may be gone.
    if (!wants(job, unit, approval.slot)) dropOp(job, approval);
    else {
      const refusal = takeTask(twine, job, id, unit, approval.slot);
      unit.reason = refusal?.reason ?? null;
      if (refusal !== null) break;
      beginOp(job, approval);
      if (job.tasks.state[approval.slot] === RUNNING && !job.swaps.has(approval.slot)) completeOp(job, approval.slot);
    }
    leaveQueue(unit, approval.slot);
  }
  if (waiting.size > 0) {
    wakeControl(twine, job);
    unit.reason ??= controlReason(job, waiting.size);
  } else if (unit.inFlight === 0) endUnit(twine, job, id, unit, 'done', null);
}

function advanceRemoval(twine: Twine, job: Job, id: string, unit: UnitUpdate): void {
  stopTasks(twine, job, id, unit);
  const left = unit.waiting?.size ?? 0;
  if (left === 0) return endUnit(twine, job, id, unit, 'done', null);
  wakeControl(twine, job);
  unit.reason ??= controlReason(job, left);
}

/** Takes the tasks that need no approval: those that are down, and those that already have what the update brings. */
export function takeFree(twine: Twine, job: Job, id: string, unit: UnitUpdate): void {
  if (unit.state !== 'active' || !unit.waiting || unit.removes) return;
  const isUrgent = twine.fleet.updates.get(id)?.urgency === 'revert';
  for (const slot of [...unit.waiting]) {
    const state = job.tasks.state[slot];
    if ((state === RUNNING || (state === UPDATING && !isUrgent)) && wants(job, unit, slot)) continue;
    if (unit.inFlight >= computeNSmall(job)) break;
    takeTask(twine, job, id, unit, slot);
    leaveQueue(unit, slot);
  }
  if (unit.waiting.size === 0 && unit.inFlight === 0) endUnit(twine, job, id, unit, 'done', null);
}

function leaveQueue(unit: UnitUpdate, slot: number): void {
  unit.waiting?.delete(slot);
  unit.cursor = unit.slots.length - (unit.waiting?.size ?? 0);
}

const downReason = (twine: Twine, region: string): string =>
  regionDown(twine, region) ? `region ${region} is down` : `the scheduler of region ${region} is down`;

const controlReason = (job: Job, waiting: number): string =>
  job.control?.trouble
    ? `no answer from the task controller: ${job.control.trouble}`
    : `waiting for the task controller to approve: ${plural(waiting, 'task')}`;

/** A task comes up, or fails its liveness check, which stops the job's next batches. */
export function onTaskStarted(twine: Twine, job: Job, slot: number, epoch: number): void {
  const start = finishStart(twine, job, slot, epoch);
  if (start === undefined) return;
  const { unit } = start;
  if (!start.live) failRestart(job, slot, epoch);
  if (!start.live && job.tasks.state[slot] === RUNNING) unit?.rejected.add(slot);
  const [id] = activeUnits(twine, job).find(([, active]) => active === unit) ?? [];
  if (!start.live && unit !== undefined && id !== undefined) {
    const version = nameAtIndex(twine.fleet, unit.version) ?? '';
    endUnit(twine, job, id, unit, 'failed', `task ${job.name}/${slot} failed its liveness check on ${version}`);
  }
  schedule(twine, job);
}

/** The updates of a job that have not ended, in the order of their arrival. */
export function activeUnits({ fleet }: Pick<Twine, 'fleet'>, job: Job): (readonly [id: string, unit: UnitUpdate])[] {
  return job.active.flatMap((id) => {
    const unit = fleet.updates.get(id)?.units.get(job.name);
    return unit ? [[id, unit] as const] : [];
  });
}

/** Ends an update of a job; tasks in flight finish. */
export function endUnit(
  twine: Twine,
  job: Job,
  id: string,
  unit: UnitUpdate,
  how: UpdateEndState,
  reason: string | null,
): void {
  unit.state = how;
  unit.reason = reason;
  job.active = job.active.filter((active) => active !== id);
  twine.notify({ kind: 'update-ended', job: job.name, update: id, how });
}

/** Whether a slot still lacks the result of an update. */
export function wants(job: Job, unit: Pick<UnitUpdate, 'version' | 'acceptedAt'>, slot: number): boolean {
  const { tasks } = job;
  if (!isTaskOf(job, unit, slot)) return false;
  // A task that starts next to the old one is not up yet.
  const runs = tasks.version[slot] === unit.version && slotVersion(job, slot) === unit.version;
  return !runs || hasCrashed(job, slot);
}

/** Takes a task; if it must wait, returns the reason. */
function takeTask(
  twine: Twine,
  job: Job,
  id: string,
  unit: UnitUpdate,
  slot: number,
): { readonly by: 'budget' | 'pace'; readonly reason: string } | null {
  if (!wants(job, unit, slot)) return null;
  const { tasks } = job;
  const update = twine.fleet.indices.get(id) ?? 0;
  const up = isMachineUp(twine, job, slot);
  if (tasks.state[slot] === RUNNING) {
    const budget = job.hotswap ? null : budgetRefusal(job);
    if (budget !== null) return { by: 'budget', reason: budget };
    const pace = paceRefusal(twine, job.region);
    if (pace !== null) return { by: 'pace', reason: pace };
    spendPace(twine, job.region);
  }
  if (job.hotswap && tasks.state[slot] === RUNNING) {
    if (!beginSwap(twine, job, slot, { version: unit.version, update })) return null;
    unit.inFlight += 1;
    unit.left -= 1;
    return null;
  }
  // A task on an unreachable machine only gets its version set: it starts on it when its machine returns.
  leaveState(twine, job, slot, up ? UPDATING : (tasks.state[slot] ?? 0), 'update', update);
  tasks.version[slot] = unit.version;
  tasks.update[slot] = update;
  tasks.crashes[slot] = 0;
  if (!up) return null;
  unit.inFlight += 1;
  unit.left -= 1;
  const { stopMs, startMs } = job.timings;
  startAfter(twine, job, slot, computeFetchMs(job, unit.version, twine.world.now) + stopMs + startMs);
  return null;
}
