import { tasksOf, type Amount } from '../../domain/fleet/amount';
import type { TaskStateName } from '../events';
import { freshControl, type ControlState, type ControlSpec } from './controlState';
import { countLog, type CountLog } from './countLog';

/** States of a task, as they are stored. */
export const RUNNING = 0;
export const UPDATING = 1;
export const DOWN = 2;
export const MOVING = 3;
/** A hole: this task has left the job, and tasks with higher slots have not yet. */
export const GONE = 4;
export const STATE_NAMES: readonly TaskStateName[] = ['running', 'updating', 'down', 'moving'];

/** ms of simulated time, means of the distributions. */
export interface Timings {
  readonly fetchMs: number;
  readonly stopMs: number;
  readonly startMs: number;
}

/** For a job whose new tasks start next to the old ones and take over their connections. */
export interface Hotswap {
  /** MB of memory: of one task, and of the container that must hold two of them. */
  readonly taskMb: number;
  readonly containerMb: number;
}

/** A task that starts next to the one that runs in its slot. */
export interface Swap {
  readonly version: number;
  readonly update: number;
}

/** A job whose size follows its load. */
export interface Autoscale {
  readonly min: number;
  readonly max: number;
  /** The target CPU of running tasks, 0 to 1. */
  readonly targetCpu: number;
  /** Simulated ms between two looks. */
  readonly everyMs: number;
  /** How many tasks would carry the average load at their usual CPU. */
  readonly nominal: number;
}

/** The job is shrinking: its tasks from slot `to` on leave, each when the controller approves. */
export interface Shrink {
  readonly id: string;
  readonly to: number;
}

/** Tasks to restart on the version that they run. */
export interface Restart {
  readonly id: string;
  /** The time of the request, ms since the epoch: a task that started since is done. */
  readonly at: number;
  /** Those not stopped yet. */
  readonly slots: Set<number>;
  /** Those stopped and not up again, with their epoch. */
  readonly away: Map<number, number>;
}

/** One entry per slot. Versions and update ids are indices into the fleet's names; 0 is none. */
export interface Columns {
  readonly state: Uint8Array;
  readonly version: Int32Array;
  /** The update that touched the slot last, or whose version it inherited. */
  readonly update: Int32Array;
  /** How often the slot was started: with job and slot it forms the identifier of the task that runs there. */
  readonly starts: Int32Array;
  readonly machine: Int32Array;
  /** Rises when the operation under way in the slot becomes void. */
  readonly epoch: Int32Array;
  /** Starts that failed in a row. */
  readonly crashes: Int32Array;
  /** The start of the present task, and the creation of the slot. */
  readonly startedAt: Float64Array;
  readonly bornAt: Float64Array;
  /** Index + 1 of the slot's latest entry in `past`; 0 for none. */
  readonly lastPast: Int32Array;
}

/** Tasks that ran earlier: one entry each, in the order in which they ended. */
export interface PastTasks {
  readonly slot: number[];
  readonly start: number[];
  readonly version: number[];
  readonly update: number[];
  readonly from: number[];
  readonly to: number[];
  readonly crashed: boolean[];
  /** Index + 1 of the previous entry of the same slot. */
  readonly previous: number[];
}

/** A job of tasks: plain data, so that a world can be saved. */
export interface Job {
  readonly name: string;
  readonly service: string;
  readonly region: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nSmall: Amount;
  readonly budget: Amount;
  readonly timings: Timings;
  /** Null for a job without a task controller. */
  readonly control: ControlState | null;
  readonly hotswap: Hotswap | null;
  readonly autoscale: Autoscale | null;
  /** By slot. */
  readonly swaps: Map<number, Swap>;
  /** The time by which each version is fetched on all machines, ms since the epoch. */
  readonly prefetched: Map<number, number>;
  /** Slot of the leading task, for a controller that may ask for it; -1 while none runs. */
  leader: number;
  shrink: Shrink | null;
  restart: Restart | null;
  /** How many tasks an update of all tasks makes again; null unless a removal has taken tasks since the last one. */
  removed: number | null;
  /** How often a shrink or a restart was requested. */
  errands: number;
  /** The number of slots; the job has as many tasks, minus the holes. */
  size: number;
  holes: number;
  /** Tasks that are not running, for any reason. */
  unavailable: number;
  /** The version on which added tasks start, and the update that set it. */
  version: number;
  update: number;
  /** The updates that have not ended: several only if they do not touch each other's tasks. */
  active: readonly string[];
  tasks: Columns;
  readonly past: PastTasks;
  readonly running: CountLog;
  readonly sizes: CountLog;
  /** Running tasks of each version. */
  readonly runningOf: Map<number, CountLog>;
}

export type JobSpec = Pick<
  Job,
  'name' | 'service' | 'region' | 'labels' | 'nSmall' | 'budget' | 'timings' | 'size' | 'version'
> & {
  readonly control?: ControlSpec | null;
  readonly hotswap?: Hotswap | null;
  readonly autoscale?: Autoscale | null;
};

/**
 * A job whose tasks have all run since `sinceMs`: a new world starts with a past, so there are metrics from before a
 * deploy.
 */
export function createJob(spec: JobSpec, sinceMs: number): Job {
  const tasks = columns(Math.max(1, spec.size));
  for (let slot = 0; slot < spec.size; slot += 1) tasks.machine[slot] = slot;
  tasks.version.fill(spec.version, 0, spec.size);
  tasks.starts.fill(1, 0, spec.size);
  tasks.startedAt.fill(sinceMs);
  tasks.bornAt.fill(sinceMs);
  const running = countLog(sinceMs, spec.size);
  const runningOf = new Map([[spec.version, countLog(sinceMs, spec.size)]]);
  const past: PastTasks = { slot: [], start: [], version: [], update: [], from: [], to: [], crashed: [], previous: [] };
  return {
    ...freshExtras(),
    ...spec,
    hotswap: spec.hotswap ?? null,
    autoscale: spec.autoscale ?? null,
    control: spec.control ? freshControl(spec.control) : null,
    leader: spec.control && spec.size > 0 ? Math.min(spec.control.leader, spec.size - 1) : -1,
    unavailable: 0,
    update: 0,
    active: [],
    tasks,
    past,
    running,
    sizes: countLog(sinceMs, spec.size),
    runningOf,
  };
}

/** The defaults of a job: no controller, no hotswap, no autoscaling. */
export const freshExtras = (): Pick<
  Job,
  | 'control'
  | 'hotswap'
  | 'autoscale'
  | 'swaps'
  | 'prefetched'
  | 'leader'
  | 'shrink'
  | 'restart'
  | 'removed'
  | 'errands'
  | 'holes'
> => ({
  ...{ control: null, hotswap: null, autoscale: null, leader: -1 },
  ...{ shrink: null, restart: null, removed: null, errands: 0, holes: 0 },
  swaps: new Map(),
  prefetched: new Map(),
});

/** How many tasks a job has, running or not. */
export const jobSize = ({ size, holes }: Pick<Job, 'size' | 'holes'>): number => size - holes;

/** Whether a slot has a task, running or not. */
export const hasTask = (job: Job, slot: number): boolean => slot < job.size && job.tasks.state[slot] !== GONE;

/** The slots of all tasks of a job, running or not. */
export const listTaskSlots = (job: Job): number[] =>
  Array.from({ length: job.size }, (_, slot) => slot).filter((slot) => hasTask(job, slot));

/** Makes room for `size` slots. */
export function ensureCapacity(job: Job, size: number): void {
  if (size <= job.tasks.state.length) return;
  const larger = columns(Math.max(size, 2 * job.tasks.state.length));
  for (const key of Object.keys(larger) as (keyof Columns)[]) larger[key].set(job.tasks[key]);
  job.tasks = larger;
}

/** The version that a slot runs, or will run as soon as the task next to it has taken over. */
export const slotVersion = (job: Job, slot: number): number =>
  job.swaps.get(slot)?.version ?? job.tasks.version[slot] ?? 0;

/** The update that touched a slot last. */
export const getLastUpdate = (job: Job, slot: number): number =>
  job.swaps.get(slot)?.update ?? job.tasks.update[slot] ?? 0;

/** Simulated ms until a new task of a version can start: 0 if it was prefetched. */
export const computeFetchMs = (job: Job, version: number, now: number): number =>
  (job.prefetched.get(version) ?? Infinity) <= now ? 0 : job.timings.fetchMs;

/** How many tasks may be unavailable: percentages round down, to at least one. */
export const budgetOfJob = (job: Pick<Job, 'budget' | 'size' | 'holes'>): number =>
  'percent' in job.budget
    ? Math.max(1, Math.floor((job.budget.percent * jobSize(job)) / 100))
    : tasksIn(job.budget, jobSize(job));

/** How many tasks are updated at a time. */
export const computeNSmall = (job: Job): number => Math.max(1, tasksOf(job.nSmall, jobSize(job)));

/** `kvstore-x/3/17`: slot 3, its seventeenth start. New on every start. */
export const formatIdentifier = (job: string, slot: number, start: number): string => `${job}/${slot}/${start}`;

/** The slot and start that an identifier names; undefined if it does not belong to this job. */
export function parseIdentifier(job: string, identifier: string): { slot: number; start: number } | undefined {
  if (!identifier.startsWith(`${job}/`)) return undefined;
  const [slot = NaN, start = NaN, ...rest] = identifier
    .slice(job.length + 1)
    .split('/')
    .map(Number);
  return Number.isInteger(slot) && Number.isInteger(start) && rest.length === 0 ? { slot, start } : undefined;
}

/** The tasks that ran in a slot before the present one, latest first, as indices into `past`. */
export function* walkPastTasks(job: Job, slot: number): Generator<number> {
  for (let next = job.tasks.lastPast[slot] ?? 0; next > 0; next = job.past.previous[next - 1] ?? 0) yield next - 1;
}

const tasksIn = (amount: Amount, size: number): number =>
  'count' in amount ? Math.min(amount.count, size) : 'all' in amount ? size : 0;

const columns = (capacity: number): Columns => ({
  state: new Uint8Array(capacity),
  version: new Int32Array(capacity),
  update: new Int32Array(capacity),
  starts: new Int32Array(capacity),
  machine: new Int32Array(capacity),
  epoch: new Int32Array(capacity),
  crashes: new Int32Array(capacity),
  startedAt: new Float64Array(capacity),
  bornAt: new Float64Array(capacity),
  lastPast: new Int32Array(capacity),
});
