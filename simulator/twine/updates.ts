import type { UnitProgress } from '../../domain/fleet/unit';
import type { UpdateVerb } from '../events';
import { listArrivingSlots, chooseSlots, findUpdateIndices, withReverts, type Wish } from './choose';
import {
  deployOfUpdate,
  freshProgress,
  internName,
  nameAtIndex,
  type TwineFleet,
  type Twine,
  type UnitUpdate,
  type FleetUpdate,
} from './fleet';
import { DOWN, RUNNING, type Job } from './job';
import { makeTasksAgain, countRemovedTasks } from './removals';
import { activeUnits, endUnit, schedule } from './scheduler';
import { hasCrashed, isMachineUp, isTaskOf, releaseFlight } from './tasks';

/** The part of an update that concerns one job. */
export interface UpdateTarget extends Omit<Wish, 'urgency' | 'version'> {
  readonly job: Job;
  readonly version: string;
}

export interface FleetUpdateRequest extends Pick<FleetUpdate, 'id' | 'urgency' | 'wholeUnit'> {
  readonly targets: readonly UpdateTarget[];
}

/**
 * The update of another deploy that has not ended on a job. No other deploy may begin one there, unless the two do not
 * touch each other's tasks: one excludes the other, or undoes only tasks that the other excludes.
 */
export function busyWith(
  fleet: TwineFleet,
  id: string,
  {
    job,
    exclude = [],
    updatedBy = [],
  }: Pick<UpdateTarget, 'job'> & Partial<Pick<UpdateTarget, 'exclude' | 'updatedBy'>>,
): string | null {
  const excluded = withReverts(fleet, exclude);
  const keepsOff = (other: string): boolean => {
    const theirs = withReverts(fleet, fleet.updates.get(other)?.exclude ?? []);
    return excluded.includes(other) || (updatedBy.length > 0 && updatedBy.every((update) => theirs.includes(update)));
  };
  return job.active.find((other) => deployOfUpdate(other) !== deployOfUpdate(id) && !keepsOff(other)) ?? null;
}

/** Begins an update on these jobs, or extends it to more. An earlier update of the same deploy that has not ended there is superseded. */
export function acceptUpdate(twine: Twine, request: FleetUpdateRequest): void {
  const { id, urgency, wholeUnit } = request;
  const known = twine.fleet.updates.get(id);
  const all = (field: 'updatedBy' | 'exclude'): string[] => [
    ...new Set([...(known?.[field] ?? []), ...request.targets.flatMap((target) => target[field] ?? [])]),
  ];
  const [updatedBy, exclude] = [all('updatedBy'), all('exclude')];
  const inherits = [...new Set([...(known?.inherits ?? []), ...findInherited(twine.fleet, request)])];
  const update: FleetUpdate = {
    id,
    urgency,
    wholeUnit,
    updatedBy,
    inherits,
    exclude,
    units: known?.units ?? new Map(),
  };
  internName(twine.fleet, id);
  twine.fleet.updates.set(id, update);
  for (const target of request.targets) acceptOn(twine, update, target);
  for (const { job } of request.targets) schedule(twine, job);
}

/** Pauses, resumes or cancels an update on some of its jobs (all by default); tasks in flight finish. Returns true if it changed anything. */
export function commandUpdate(
  twine: Twine,
  update: FleetUpdate,
  verb: UpdateVerb,
  units: readonly string[] | undefined,
): boolean {
  let changed = false;
  for (const unit of update.units.values()) {
    const job = twine.fleet.jobs.get(unit.job);
    if (job === undefined || !job.active.includes(update.id) || (units && !units.includes(unit.job))) continue;
    changed = commandUnit(twine, job, unit, update.id, verb) || changed;
  }
  return changed;
}

/**
 * The progress of an update on one job. `targeted` counts the tasks that it chose, so an update that is done without
 * losses has `targeted = updated = live`.
 */
export function unitProgress(twine: Twine, unit: UnitUpdate): UnitProgress {
  const job = twine.fleet.jobs.get(unit.job);
  const counts = { targeted: unit.slots.length, updated: 0, live: 0, failed: 0, unreachable: 0, gone: 0 };
  const isRemoved = unit.removes && unit.state === 'done';
  if (job && !isRemoved) for (const slot of unit.slots) tally(twine, job, unit, slot, counts);
  else counts.gone = unit.slots.length;
  const reason = unit.reason ?? undefined;
  return { id: unit.job, state: unitState(unit), ...counts, ...(reason === undefined ? {} : { reason }) };
}

/** How many tasks a target would still have to change or wait for, and how many of these have left their old version and are not up. */
export function countOutdatedTasks({ fleet, world }: Twine, target: UpdateTarget): { outdated: number; down: number } {
  const { job } = target;
  const wish = { ...target, version: internName(fleet, target.version), urgency: 'normal' } as const;
  const slots = [...listArrivingSlots(fleet, job, wish), ...chooseSlots(fleet, job, wish, world.now)];
  const down = slots.filter((slot) => job.tasks.version[slot] === wish.version && job.tasks.state[slot] !== RUNNING);
  const missing = isOfAllTasks(target) ? countRemovedTasks(job) : 0;
  return { outdated: slots.length + missing, down: down.length };
}

function acceptOn(twine: Twine, update: FleetUpdate, target: UpdateTarget): void {
  const { fleet, world } = twine;
  const { job, updatedBy } = target;
  for (const [id, earlier] of activeUnits(twine, job))
    if (deployOfUpdate(id) === deployOfUpdate(update.id))
      endUnit(twine, job, id, earlier, 'superseded', `superseded by ${update.id}`);
  const version = internName(fleet, target.version);
  const isBack = job.removed !== null && isOfAllTasks(target);
  if (isBack) makeTasksAgain(twine, job, version);
  const wish = { ...target, version, urgency: update.urgency };
  const [coming, chosen] = [listArrivingSlots(fleet, job, wish), chooseSlots(fleet, job, wish, world.now)];
  const slots = Int32Array.from([...coming, ...chosen]);
  const waiting = job.control ? new Set(chosen) : null;
  const progress = { ...freshProgress(), cursor: coming.length, inFlight: coming.length };
  update.units.set(job.name, { ...progress, job: job.name, version, acceptedAt: world.now, slots, waiting });
  for (const slot of coming) takeOver(twine, job, slot, internName(fleet, update.id));
  if (update.wholeUnit || isBack || revertsWholeUnit(twine, job, updatedBy)) {
    job.version = version;
    job.update = internName(fleet, update.id);
  }
  job.active = [...job.active, update.id];
  const { id, urgency, wholeUnit } = update;
  const undone = updatedBy ? withReverts(fleet, updatedBy) : null;
  const exclude = withReverts(fleet, update.exclude);
  const isPart = updatedBy !== undefined && !('all' in (target.amount ?? { all: true }));
  twine.notify({
    ...{ kind: 'update-accepted', job: job.name, update: id, urgency, wholeUnit },
    ...{ updatedBy: undone, isPart, exclude },
  });
}

/** Whether it is an update of all tasks, which makes those that a removal has taken. */
const isOfAllTasks = ({ amount, updatedBy }: UpdateTarget): boolean =>
  updatedBy === undefined && 'all' in (amount ?? { all: true });

/** The updates that set the versions to which tasks return, if their job is to run that version now. */
const findInherited = (fleet: TwineFleet, { id, targets }: FleetUpdateRequest): string[] =>
  targets.flatMap(({ job, version, updatedBy }) => {
    const setBy = nameAtIndex(fleet, job.update);
    const isInherited = updatedBy !== undefined && setBy !== null && nameAtIndex(fleet, job.version) === version;
    return isInherited && setBy !== id && !updatedBy.includes(setBy) ? [setBy] : [];
  });

/** A task that another update began to change becomes one of this update. */
function takeOver(twine: Twine, job: Job, slot: number, update: number): void {
  releaseFlight(twine, job, job.tasks.update[slot] ?? 0);
  job.tasks.update[slot] = update;
}

/** Whether one of the undone updates set the job's own version. */
const revertsWholeUnit = (twine: Twine, job: Job, updatedBy: readonly string[] | undefined): boolean =>
  updatedBy !== undefined && findUpdateIndices(twine.fleet, withReverts(twine.fleet, updatedBy)).has(job.update);

function commandUnit(twine: Twine, job: Job, unit: UnitUpdate, id: string, verb: UpdateVerb): boolean {
  if (verb === 'pause' && unit.state !== 'active') return false;
  if (verb === 'resume' && unit.state !== 'paused') return false;
  twine.notify({ kind: 'update-commanded', job: job.name, update: id, verb });
  if (verb === 'cancel') endUnit(twine, job, id, unit, 'cancelled', 'cancelled on request');
  else {
    unit.state = verb === 'pause' ? 'paused' : 'active';
    unit.reason = verb === 'pause' ? 'paused on request' : null;
    if (verb === 'resume') schedule(twine, job);
  }
  return true;
}

function unitState(unit: UnitUpdate): UnitProgress['state'] {
  switch (unit.state) {
    case 'active':
      return unit.cursor === 0 ? 'pending' : 'updating';
    case 'cancelled':
    case 'superseded':
      return unit.inFlight > 0 ? 'updating' : 'failed';
    default:
      return unit.state;
  }
}

type UpdateCounts = { -readonly [K in 'updated' | 'live' | 'failed' | 'unreachable' | 'gone']: number };

function tally(twine: Twine, job: Job, unit: UnitUpdate, slot: number, counts: UpdateCounts): void {
  const { tasks } = job;
  if (!isTaskOf(job, unit, slot)) counts.gone += 1;
  else if (tasks.state[slot] === DOWN && !isMachineUp(twine, job, slot)) counts.unreachable += 1;
  else if (unit.rejected.has(slot) && tasks.version[slot] !== unit.version) {
    counts.updated += 1;
    counts.failed += 1;
  } else if (tasks.version[slot] !== unit.version || (tasks.state[slot] !== RUNNING && tasks.state[slot] !== DOWN))
    return;
  else {
    counts.updated += 1;
    if (tasks.state[slot] === RUNNING) counts.live += 1;
    if (hasCrashed(job, slot)) counts.failed += 1;
  }
}
