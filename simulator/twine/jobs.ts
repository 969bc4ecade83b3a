import { wakeControl } from './control';
import { internName, nameAtIndex, type Twine } from './fleet';
import {
  createJob,
  DOWN,
  ensureCapacity,
  hasTask,
  MOVING,
  RUNNING,
  jobSize,
  listTaskSlots,
  UPDATING,
  type Job,
  type JobSpec,
} from './job';
import { activeUnits, endUnit, schedule } from './scheduler';
import { addSlot, noteSize, removeSlot } from './tasks';

/** How long, in simulated ms, the tasks of a new job have already been running. */
const PAST_MS = 86_400_000;

export interface JobView {
  readonly name: string;
  readonly service: string;
  readonly region: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly size: number;
  /** Tasks by the version of their slot, whether or not they run. */
  readonly versions: Readonly<Record<string, number>>;
  readonly jobVersion: string;
  readonly running: number;
  readonly updating: number;
  readonly down: number;
  readonly moving: number;
  /** With hotswap: running tasks next to which a new one starts. */
  readonly swapping?: number;
  /** The number of tasks once the controller has let the others leave. */
  readonly shrinkingTo?: number;
  /** Tasks that must restart and have not yet. */
  readonly restarting?: number;
  /** After a removal: the number of tasks that the next update of all tasks makes. */
  readonly removed?: number;
}

/** Puts a job into the fleet, running `version`. */
export function addJob(twine: Twine, spec: Omit<JobSpec, 'version'> & { readonly version: string }): Job {
  const { world, fleet } = twine;
  const job = createJob({ ...spec, version: internName(fleet, spec.version) }, world.now - world.scaled(PAST_MS));
  fleet.jobs.set(job.name, job);
  twine.notify({ kind: 'job-sized', job: job.name, size: job.size, budget: job.budget });
  if (job.autoscale) world.after(job.autoscale.everyMs, { kind: 'autoscale', job: job.name });
  return job;
}

/** Adds tasks at the end, on the job's version, or removes the last ones; with a controller, when it approves. A removed job has that size once it is back. */
export function resizeJob(twine: Twine, job: Job, size: number): void {
  if (job.removed !== null) {
    job.removed = size;
    return;
  }
  if (job.shrink?.to === size) return;
  job.shrink = null;
  ensureCapacity(job, size);
  for (let slot = 0; slot < Math.min(size, job.size); slot += 1) if (!hasTask(job, slot)) addSlot(twine, job, slot);
  while (job.size < size) addSlot(twine, job, job.size);
  if (job.control && job.size > size) job.shrink = { id: `resize/${(job.errands += 1)}`, to: size };
  else while (job.size > size) removeSlot(twine, job, job.size - 1);
  noteSize(twine, job);
  wakeControl(twine, job);
  schedule(twine, job);
}

/** Takes a job out of the fleet, with its tasks and its pending events. */
export function removeJob(twine: Twine, job: Job): void {
  while (job.size > 0) removeSlot(twine, job, job.size - 1);
  noteSize(twine, job);
  for (const [id, unit] of activeUnits(twine, job)) endUnit(twine, job, id, unit, 'cancelled', `${job.name} is gone`);
  twine.fleet.jobs.delete(job.name);
}

/** Restarts running tasks on the version that they run, N_small at a time and as the budget and the controller allow. */
export function restartTasks(twine: Twine, job: Job, slots: readonly number[]): void {
  const { slots: left, away } = job.restart ?? { slots: [], away: new Map<number, number>() };
  job.errands += 1;
  job.restart = { id: `restart/${job.errands}`, at: twine.world.now, slots: new Set([...left, ...slots]), away };
  wakeControl(twine, job);
  schedule(twine, job);
}

export function viewJob(twine: Twine, job: Job): JobView {
  const states = [0, 0, 0, 0];
  for (let slot = 0; slot < job.size; slot += 1) {
    const state = job.tasks.state[slot] ?? 0;
    states[state] = (states[state] ?? 0) + 1;
  }
  const { name, service, region, labels, shrink, restart, removed } = job;
  const count = (state: number): number => states[state] ?? 0;
  return {
    ...{ name, service, region, labels, size: jobSize(job) },
    versions: Object.fromEntries(countVersions(twine, job)),
    jobVersion: nameAtIndex(twine.fleet, job.version) ?? '',
    running: count(RUNNING),
    updating: count(UPDATING),
    down: count(DOWN),
    moving: count(MOVING),
    ...(job.hotswap && { swapping: job.swaps.size }),
    ...(shrink && { shrinkingTo: shrink.to }),
    ...(restart && { restarting: restart.slots.size + restart.away.size }),
    ...(removed !== null && { removed }),
  };
}

/** Tasks of each version, by the version of their slot. */
export function countVersions(twine: Twine, job: Job): Map<string, number> {
  const counts = new Map<string, number>();
  const perIndex = new Map<number, number>();
  for (const slot of listTaskSlots(job)) {
    const version = job.tasks.version[slot] ?? 0;
    perIndex.set(version, (perIndex.get(version) ?? 0) + 1);
  }
  for (const [version, count] of perIndex) counts.set(nameAtIndex(twine.fleet, version) ?? '', count);
  return counts;
}
