import type { Recording } from '../../domain/health/replay';
import type { HealthSeries, Point, Side } from '../../domain/health/series';
import { draw, openStream, type StreamState } from '../../simulator/kernel/random';

/** A labelled recording: the fault of the updated tasks, its size, and the conditions that both sides shared. */
export interface Case {
  readonly fault: Fault | null;
  readonly size: FaultSize | null;
  readonly weather: Weather;
  readonly noise: number;
  readonly faultAt: number | null;
  readonly recording: Recording;
}

export const FAULTS = ['step', 'ramp', 'leak', 'burst'] as const;
type Fault = (typeof FAULTS)[number];
export const SIZES = ['gross', 'clear', 'subtle'] as const;
type FaultSize = (typeof SIZES)[number];
/** Effects on every task, whatever its version, or on a single one by chance. */
export const WEATHERS = ['calm', 'diurnal', 'load-spike', 'hot-task', 'missing-data'] as const;
type Weather = (typeof WEATHERS)[number];

/** How many times the metric's level a fault adds: gross adds twice the level, subtle just more than an owner would accept. */
const ADDS: Readonly<Record<FaultSize, number>> = { gross: 2, clear: 0.8, subtle: 0.4 };
const NOISES = [0.02, 0.1, 0.25];
const MINUTE = 60_000;
const BEFORE_MINUTES = 30;
const BAKE_MINUTES = 30;
const TASKS = { fresh: 4, control: 8 };
/** The permanent spread between tasks of one service, caused by their machines. */
const TASK_SPREAD = 0.06;

/** The `nth` case of a seed: half have a fault. The same seed and number always give the same case. */
export function caseOf(seed: number, nth: number): Case {
  const random = openStream(seed, `case ${nth}`);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(draw(random) * from.length)] as T;
  const isBad = draw(random) < 0.5;
  const [weather, noise] = [pick(WEATHERS), pick(NOISES)];
  const [fault, size] = [isBad ? pick(FAULTS) : null, isBad ? pick(SIZES) : null];
  const updatedAt = Math.floor(draw(random) * 24 * 60) * MINUTE + 365 * 24 * 60 * MINUTE;
  // Some faults are there from the start, others appear only later.
  const faultAt = isBad ? updatedAt + Math.floor(draw(random) * (BAKE_MINUTES / 3)) * MINUTE : null;
  const world: World = {
    random,
    weather,
    noise,
    updatedAt,
    spikeAt: updatedAt + (5 + Math.floor(draw(random) * 15)) * MINUTE,
  };
  const until = updatedAt + BAKE_MINUTES * MINUTE;
  const begin = updatedAt - BEFORE_MINUTES * MINUTE;
  const fresh = tasks(world, TASKS.fresh, begin, until, (at) =>
    faultAt === null ? 0 : added(fault, size, at - faultAt),
  );
  const control = tasks(world, TASKS.control, begin, until, () => 0);
  const sides = { fresh: after(fresh, updatedAt), control, before: upTo(fresh, updatedAt) };
  const baseline = { start: begin, end: updatedAt };
  return { fault, size, weather, noise, faultAt, recording: { ...sides, updatedAt, until, baseline } };
}

interface World {
  readonly random: StreamState;
  readonly weather: Weather;
  readonly noise: number;
  readonly updatedAt: number;
  readonly spikeAt: number;
}

/** The addition of a fault to a level of 1, at a time after its start; a negative time is before it. */
function added(fault: Fault | null, size: FaultSize | null, sinceMs: number): number {
  if (fault === null || size === null || sinceMs < 0) return 0;
  const minutes = sinceMs / MINUTE;
  const most = ADDS[size];
  if (fault === 'step') return most;
  if (fault === 'ramp') return most * Math.min(1, minutes / 10);
  if (fault === 'leak') return most * Math.min(1, minutes / 20);
  return minutes % 8 < 5 ? most : 0;
}

function tasks(world: World, count: number, from: number, until: number, fault: (at: number) => number): Side {
  const series = Array.from({ length: count }, (_, task): HealthSeries => {
    const own = 1 + TASK_SPREAD * gauss(world.random);
    const isHot = world.weather === 'hot-task' && task === 0 && draw(world.random) < 0.5;
    const points: Point[] = [];
    for (let at = from; at <= until; at += MINUTE) {
      const value = own * (level(world, at) + (isHot ? heat(world, at) : 0) + fault(at));
      const measured = Math.max(0, value * (1 + world.noise * gauss(world.random)));
      if (world.weather !== 'missing-data' || draw(world.random) > 0.2) points.push([at, measured]);
    }
    return { labels: { task: String(task) }, points };
  });
  return { tasks: count, series };
}

/** The effect of the load on the metric: it is the same on both sides. */
function level({ weather, spikeAt }: World, at: number): number {
  if (weather === 'diurnal') return 1 + 0.4 * Math.sin((2 * Math.PI * at) / (24 * 60 * MINUTE));
  if (weather === 'load-spike' && at >= spikeAt && at < spikeAt + 6 * MINUTE) return 2.2;
  return 1;
}

/** One task has a bad few minutes by itself, on either side. */
const heat = ({ spikeAt }: World, at: number): number => (at >= spikeAt && at < spikeAt + 3 * MINUTE ? 2.5 : 0);

const cut = (side: Side, keep: (at: number) => boolean): Side => ({
  tasks: side.tasks,
  series: side.series.map(({ labels, points }) => ({ labels, points: points.filter(([at]) => keep(at)) })),
});
const after = (side: Side, at: number): Side => cut(side, (time) => time > at);
const upTo = (side: Side, at: number): Side => cut(side, (time) => time <= at);

/** Box–Muller. */
function gauss(random: StreamState): number {
  return Math.sqrt(-2 * Math.log(1 - draw(random))) * Math.cos(2 * Math.PI * draw(random));
}
