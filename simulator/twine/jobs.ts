import { setCount } from './countLog';
import { indexOf, nameOf, type Twine } from './fleet';
import { createJob, DOWN, ensureCapacity, MOVING, RUNNING, UPDATING, type Job, type JobSpec } from './job';
import { schedule } from './scheduler';
import { addSlot, removeSlot } from './tasks';

/** How long, in simulated ms, the tasks of a new job have been running already. */
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
  /** With hotswap: running tasks beside which the next one starts. */
  readonly swapping?: number;
}

/** Puts a job into the fleet, running `version`. */
export function addJob(twine: Twine, spec: Omit<JobSpec, 'version'> & { readonly version: string }): Job {
  const { world, fleet } = twine;
  const job = createJob({ ...spec, version: indexOf(fleet, spec.version) }, world.now - world.scaled(PAST_MS));
  fleet.jobs.set(job.name, job);
  twine.notify({ kind: 'job-sized', job: job.name, size: job.size, budget: job.budget });
  if (job.autoscale) world.after(job.autoscale.everyMs, { kind: 'autoscale', job: job.name });
  return job;
}

/** Adds tasks at the end, on the job's version, or removes the last ones. */
export function resizeJob(twine: Twine, job: Job, size: number): void {
  ensureCapacity(job, size);
  while (job.size < size) addSlot(twine, job);
  while (job.size > size) removeSlot(twine, job);
  setCount(job.sizes, twine.world.now, size);
  twine.notify({ kind: 'job-sized', job: job.name, size, budget: job.budget });
  schedule(twine, job);
}

export function viewJob(twine: Twine, job: Job): JobView {
  const states = [0, 0, 0, 0];
  for (let slot = 0; slot < job.size; slot += 1) {
    const state = job.tasks.state[slot] ?? 0;
    states[state] = (states[state] ?? 0) + 1;
  }
  const { name, service, region, labels, size } = job;
  const count = (state: number): number => states[state] ?? 0;
  return {
    ...{ name, service, region, labels, size },
    versions: Object.fromEntries(countVersions(twine, job)),
    jobVersion: nameOf(twine.fleet, job.version) ?? '',
    running: count(RUNNING),
    updating: count(UPDATING),
    down: count(DOWN),
    moving: count(MOVING),
    ...(job.hotswap && { swapping: job.swaps.size }),
  };
}

/** Tasks of each version, by the version of their slot. */
export function countVersions(twine: Twine, job: Job): Map<string, number> {
  const counts = new Map<string, number>();
  const perIndex = new Map<number, number>();
  for (let slot = 0; slot < job.size; slot += 1) {
    const version = job.tasks.version[slot] ?? 0;
    perIndex.set(version, (perIndex.get(version) ?? 0) + 1);
  }
  for (const [version, count] of perIndex) counts.set(nameOf(twine.fleet, version) ?? '', count);
  return counts;
}
