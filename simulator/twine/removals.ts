import { deployOfUpdate, freshProgress, internName, nameAtIndex, type FleetUpdate, type Twine } from './fleet';
import { ensureCapacity, hasTask, jobSize, listTaskSlots, type Job } from './job';
import { activeUnits, endUnit, schedule } from './scheduler';
import { addSlot, noteSize } from './tasks';

/** Jobs that are removed with all of their tasks, and made again by a later update. */

/** Begins a removal of these jobs, or extends it to more. A job without tasks is removed at once. */
export function beginRemoval(twine: Twine, id: string, jobs: readonly Job[]): void {
  const { fleet, world } = twine;
  internName(fleet, id);
  const lists = { updatedBy: [], inherits: [], exclude: [] };
  const update: FleetUpdate = fleet.updates.get(id) ?? {
    id,
    urgency: 'normal',
    wholeUnit: false,
    ...lists,
    units: new Map(),
  };
  fleet.updates.set(id, update);
  for (const job of jobs) {
    for (const [other, earlier] of activeUnits(twine, job))
      if (deployOfUpdate(other) === deployOfUpdate(id))
        endUnit(twine, job, other, earlier, 'superseded', `superseded by ${id}`);
    const slots = Int32Array.from(listTaskSlots(job));
    const progress = { ...freshProgress(), removes: true as const, waiting: new Set(slots) };
    update.units.set(job.name, { ...progress, job: job.name, version: 0, acceptedAt: world.now, slots });
    job.removed ??= job.shrink?.to ?? jobSize(job);
    Object.assign(job, { shrink: null, restart: null, active: [...job.active, id] });
    const kind = { kind: 'update-accepted', urgency: 'normal', wholeUnit: false, isPart: false } as const;
    twine.notify({ ...kind, job: job.name, update: id, updatedBy: null, exclude: [] });
  }
  for (const job of jobs) schedule(twine, job);
}

/** How many tasks an update of all tasks makes, because a removal has taken them. */
export const countRemovedTasks = (job: Job): number =>
  job.removed === null ? 0 : Math.max(0, job.removed - jobSize(job));

/** Makes the tasks of a removed job again: they start on this version, all at once. */
export function makeTasksAgain(twine: Twine, job: Job, version: number): void {
  const missing = countRemovedTasks(job);
  ensureCapacity(job, job.size + missing);
  for (let slot = 0, left = missing; left > 0; slot += 1) {
    if (hasTask(job, slot)) continue;
    addSlot(twine, job, slot, version);
    left -= 1;
  }
  job.removed = null;
  noteSize(twine, job);
}

/** The version on which an added task starts; null for a removed job. */
export const ownVersion = ({ fleet }: Pick<Twine, 'fleet'>, job: Job): string | null =>
  job.removed !== null && jobSize(job) === 0 ? null : nameAtIndex(fleet, job.version);
