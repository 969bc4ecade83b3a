import { hashText, noise } from '../kernel/random';
import { countAt } from '../twine/countLog';
import { nameAtIndex, type TwineFleet } from '../twine/fleet';
import { computeActs, combineActs } from '../configerator/behaviours';
import type { Configerator } from '../configerator/configerator';
import type { Acts } from '../configerator/valueBehaviour';
import { trafficFactor } from '../twine/traffic';
import { walkPastTasks, type Job } from '../twine/job';
import type { ReportedPoints } from './reports';
import { behaviourAt, type Behaviour, type BehaviourSpec } from './behaviour';
import { DAY_MS } from '../../domain/milliseconds';

export const METRICS = [
  'system.cpu',
  'system.memory',
  'system.crashes',
  'rpc.connections',
  'rpc.rate',
  'rpc.error_ratio',
  'rpc.latency',
  'log.error_rate',
  'app.engagement',
] as const;
export type MetricName = (typeof METRICS)[number];
export const isMetric = (name: string): name is MetricName => (METRICS as readonly string[]).includes(name);

/** Simulated ms between two points of a series. */
export const STEP_MS = 60_000;

/** One task: the run of a slot's task from its start to its end (ms since the epoch). */
export interface Task {
  readonly slot: number;
  readonly start: number;
  readonly version: number;
  readonly from: number;
  readonly to: number;
  /** It ended because its start failed. */
  readonly crashed: boolean;
}

/** The inputs of a metric's value other than the task. */
export interface MetricWorld {
  readonly seed: number;
  readonly speed: number;
  readonly fleet: TwineFleet;
  readonly behaviours: ReadonlyMap<string, readonly Behaviour[]>;
  /** Tasks outside the world, which measure themselves. */
  readonly reported: ReportedPoints;
  /** Values of the configuration change what tasks do. */
  readonly configerator: Configerator;
}

export const metricWorld = (world: {
  readonly world: { readonly kernel: { readonly seed: number; readonly speed: number } };
  readonly fleet: TwineFleet;
  readonly state: Pick<MetricWorld, 'behaviours' | 'reported'>;
  readonly configerator: Configerator;
}): MetricWorld => ({
  seed: world.world.kernel.seed,
  speed: world.world.kernel.speed,
  fleet: world.fleet,
  behaviours: world.state.behaviours,
  reported: world.state.reported,
  configerator: world.configerator,
});

/**
 * The value of a metric of a task at a time. It is computed from the seed and the history of the fleet alone, so
 * nothing is stored. Units: cpu and error ratio 0–1, memory MB, rate requests a second, latency ms, log errors a
 * minute, engagement an index around 100.
 */
export function metricValueAt(world: MetricWorld, job: Job, metric: MetricName, task: Task, at: number): number {
  return metricUnder(metric, {
    jitter: jitterAt(world, job.name, metric, task, at),
    acts: combineActs(taskBehaviour(world, job, task, at), configActs(world, job, task, at)),
    load: loadAt(world, job, at) * trafficFactor(world.fleet, job, task.version, at),
    crashes: crashesIn(job, task.slot, at - STEP_MS / world.speed, at),
    minutesUp: minutesSince(world, task.from, at),
  });
}

/** The value of a metric of a host that no job deploys to, including the effects of its configuration. */
export function hostValueAt(
  world: MetricWorld,
  metric: MetricName,
  { host, at }: { host: number; at: number },
): number {
  return metricUnder(metric, {
    jitter: jitterAt(world, 'hosts', metric, { slot: host, start: 0 }, at),
    acts: computeActs(world.configerator, { host, at, version: null }),
    load: dayLoad(world, at),
    ...{ crashes: 0, minutesUp: 0 },
  });
}

/** All inputs of a metric's value. */
interface Circumstances {
  readonly jitter: (share: number) => number;
  readonly acts: Acts & Pick<BehaviourSpec, 'memoryLeakMbPerMinute'>;
  readonly load: number;
  readonly crashes: number;
  readonly minutesUp: number;
}

function metricUnder(metric: MetricName, { jitter, acts, load, crashes, minutesUp }: Circumstances): number {
  const errors = Math.min(1, 0.001 * jitter(0.5) + (acts.errorRatio ?? 0) * jitter(0.05));
  switch (metric) {
    case 'system.cpu':
      return Math.min(1, 0.4 * load * (acts.cpuFactor ?? 1) * jitter(0.03));
    case 'system.memory':
      return 1000 * jitter(0.01) + (acts.memoryLeakMbPerMinute ?? 0) * minutesUp;
    case 'system.crashes':
      return crashes + (acts.crashesPerMinute ?? 0);
    case 'rpc.connections':
      return 50 * load * (acts.connectionsFactor ?? 1) * jitter(0.02);
    case 'rpc.rate':
      return 100 * load * jitter(0.03);
    case 'rpc.error_ratio':
      return errors;
    case 'rpc.latency':
      return 20 * (1 + 0.3 * Math.max(0, load - 1)) * (acts.latencyFactor ?? 1) * jitter(0.05);
    case 'log.error_rate':
      return 0.5 * jitter(0.5) + 6000 * load * (errors - 0.001 > 0.01 ? errors : 0);
    case 'app.engagement':
      return 100 * (acts.engagementFactor ?? 1) * jitter(0.02);
  }
}

function jitterAt(
  world: MetricWorld,
  of: string,
  metric: MetricName,
  { slot, start }: Pick<Task, 'slot' | 'start'>,
  at: number,
) {
  const step = Math.floor((at * world.speed) / STEP_MS);
  return (share: number): number =>
    1 + share * (2 * noise(world.seed ^ getNoiseSalt(of, metric), slot, start, step) - 1);
}

/** The effect of a task's configuration values on it; most worlds have none. */
function configActs({ configerator, fleet }: MetricWorld, job: Job, { slot, version }: Task, at: number): Acts {
  const { behaviours, groups } = configerator.state;
  if (behaviours.length === 0) return {};
  const of = groups.filter((group) => group.job === job.name).flatMap(({ hosts }) => hosts[slot] ?? []);
  const acted = of.map((host) => computeActs(configerator, { host, at, version: nameAtIndex(fleet, version) }));
  return acted.reduce<Acts>(combineActs, {});
}

const salts = new Map<string, Map<MetricName, number>>();

/** Makes the noise of one job's metric differ from that of others. It is cached, since a fleet asks for it millions of times. */
function getNoiseSalt(job: string, metric: MetricName): number {
  let ofJob = salts.get(job);
  if (ofJob === undefined) salts.set(job, (ofJob = new Map()));
  let salt = ofJob.get(metric);
  if (salt === undefined) ofJob.set(metric, (salt = hashText(`${job} ${metric}`)));
  return salt;
}

/** How many starts failed in a slot within (from, to]. */
function crashesIn(job: Job, slot: number, from: number, to: number): number {
  let count = 0;
  for (const index of walkPastTasks(job, slot)) {
    const ended = job.past.to[index] ?? 0;
    if (ended <= from) break;
    if (job.past.crashed[index] && ended <= to) count += 1;
  }
  return count;
}

/** The effect of the task's version at that moment. A point covers the time before it, so a value once read never changes. */
function taskBehaviour(world: MetricWorld, job: Job, task: Task, at: number): BehaviourSpec {
  return pickActiveBehaviour(
    world,
    job,
    task,
    at,
    behaviourAt(world.behaviours, nameAtIndex(world.fleet, task.version) ?? '', at - 1),
  );
}

/** Whether a task of the job that starts on a version now fails at once. */
export function crashesAtStart(world: MetricWorld, job: Job, version: string, now: number): boolean {
  const task = { version: world.fleet.indices.get(version) ?? -1, from: now };
  return pickActiveBehaviour(world, job, task, now, behaviourAt(world.behaviours, version, now)).crashOnStart === true;
}

/** A behaviour, if it applies at this place and time. */
function pickActiveBehaviour(
  world: MetricWorld,
  job: Job,
  task: Pick<Task, 'version' | 'from'>,
  at: number,
  spec: BehaviourSpec,
): BehaviourSpec {
  if (spec.onlyRegion !== undefined && spec.onlyRegion !== job.region) return {};
  if (spec.afterMs !== undefined && at - task.from < spec.afterMs / world.speed) return {};
  if (spec.atShare === undefined) return spec;
  const running = countAt(job.running, at);
  const log = job.runningOf.get(task.version);
  return running > 0 && log !== undefined && countAt(log, at) / running >= spec.atShare ? spec : {};
}

/** Load of each running task, 1 on average: higher by day than by night, and higher while others are down. */
function loadAt(world: MetricWorld, job: Job, at: number): number {
  const day = dayLoad(world, at);
  const running = countAt(job.running, at);
  // The incoming load does not depend on how many tasks an autoscaler runs.
  return running === 0 ? day : (day * (job.autoscale?.nominal ?? countAt(job.sizes, at))) / running;
}

const dayLoad = ({ speed }: MetricWorld, at: number): number =>
  1 + 0.25 * Math.sin((2 * Math.PI * ((at * speed) % DAY_MS)) / DAY_MS);

const minutesSince = (world: MetricWorld, from: number, at: number): number =>
  (Math.max(0, at - from) * world.speed) / 60_000;
