import { plural } from '../../domain/text';
import type { UpdateEnd } from '../events';
import { nameOf, type Twine, type UnitUpdate } from './fleet';
import { budgetOf, nSmallOf, RUNNING, UPDATING, type Job } from './job';
import { crashed, finishStart, leave, reachable, regionDown, startAfter } from './tasks';

/**
 * One step of a region's scheduler for one job: when the batch before is over, takes the next tasks of the active update,
 * at most N_small and never more than the unavailability budget leaves. What is down already costs no budget. Called
 * whenever something changed; does nothing when nothing can be done.
 */
export function schedule(twine: Twine, job: Job): void {
  for (const [id, unit] of activeUnits(twine, job)) advance(twine, job, id, unit);
}

function advance(twine: Twine, job: Job, id: string, unit: UnitUpdate): void {
  if (unit.state !== 'active' || unit.inFlight > 0) return;
  if (regionDown(twine, job.region)) {
    unit.reason = `region ${job.region} is down`;
    return;
  }
  unit.reason = null;
  const batch = nSmallOf(job);
  while (unit.inFlight < batch && unit.cursor < unit.slots.length && take(twine, job, id, unit)) unit.cursor += 1;
  if (unit.inFlight === 0 && unit.cursor >= unit.slots.length) endUnit(twine, job, id, unit, 'done', null);
}

/** A task comes up, or fails its liveness check, which stops the job's next batches. */
export function onTaskStarted(twine: Twine, job: Job, slot: number, epoch: number): void {
  const start = finishStart(twine, job, slot, epoch);
  if (start === undefined) return;
  const { unit } = start;
  const [id] = activeUnits(twine, job).find(([, active]) => active === unit) ?? [];
  if (!start.live && unit !== undefined && id !== undefined) {
    const version = nameOf(twine.fleet, unit.version) ?? '';
    endUnit(twine, job, id, unit, 'failed', `task ${job.name}/${slot} failed its liveness check on ${version}`);
  }
  schedule(twine, job);
}

/** The updates of a job that have not ended, in the order in which they came. */
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
  how: UpdateEnd,
  reason: string | null,
): void {
  unit.state = how;
  unit.reason = reason;
  job.active = job.active.filter((active) => active !== id);
  twine.notify({ kind: 'update-ended', job: job.name, update: id, how });
}

/** Whether a slot still wants what an update brings. */
export function wants(job: Job, unit: Pick<UnitUpdate, 'version' | 'acceptedAt'>, slot: number): boolean {
  const { tasks } = job;
  if (slot >= job.size || (tasks.bornAt[slot] ?? 0) > unit.acceptedAt) return false;
  return tasks.version[slot] !== unit.version || crashed(job, slot);
}

/** Takes the next task; false when it must wait for the budget. */
function take(twine: Twine, job: Job, id: string, unit: UnitUpdate): boolean {
  const slot = unit.slots[unit.cursor] ?? 0;
  if (!wants(job, unit, slot)) return true;
  const { tasks } = job;
  const update = twine.fleet.indices.get(id) ?? 0;
  const up = reachable(twine, job, slot);
  if (tasks.state[slot] === RUNNING && job.unavailable >= budgetOf(job)) {
    unit.reason = `waiting for the unavailability budget: ${plural(job.unavailable, 'task')} down, ${budgetOf(job)} allowed`;
    return false;
  }
  // What cannot be reached is only told its version: it starts on it when its machine returns.
  leave(twine, job, slot, up ? UPDATING : (tasks.state[slot] ?? 0), 'update', update);
  tasks.version[slot] = unit.version;
  tasks.update[slot] = update;
  tasks.crashes[slot] = 0;
  if (!up) return true;
  unit.inFlight += 1;
  const { fetchMs, stopMs, startMs } = job.timings;
  startAfter(twine, job, slot, fetchMs + stopMs + startMs);
  return true;
}
