import { sortAtRanks } from './sortedAt';

/** The reports of one task, in the order of time: `[ms since the epoch, value]`. */
export interface HealthSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly Point[];
}

export type Point = readonly [number, number];

/** A stretch of time in ms. Its start does not belong to it, so that neighbouring windows share no point. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** One side of a check: the number of its tasks, whether or not they report, and one series for each that does. */
export interface Side {
  readonly tasks: number;
  /** The first of its tasks, by the names that were queried; missing if they were queried by version. */
  readonly asked?: readonly string[];
  readonly series: readonly HealthSeries[];
}

/**
 * The points of a window, oldest first; a value that is not a number is missing data. Nearly all inputs are in this form already, and
 * are not copied.
 */
export function pointsIn(window: TimeRange, points: readonly Point[]): readonly Point[] {
  let last = window.start;
  for (const point of points) {
    const at = point[0];
    if (at <= window.start || at > window.end || at < last || !Number.isFinite(point[1]))
      return pickWindowPoints(window, points);
    last = at;
  }
  return points;
}

const pickWindowPoints = ({ start, end }: TimeRange, points: readonly Point[]): Point[] =>
  points
    .filter(([time, value]) => time > start && time <= end && Number.isFinite(value))
    .sort(([one], [other]) => one - other);

/** The points after `start`, from points in the order of time; reads no others. */
export function pointsAfter(start: number, points: readonly Point[]): readonly Point[] {
  let first = points.length;
  while ((points[first - 1]?.[0] ?? start) > start) first -= 1;
  return points.slice(first);
}

/** The values of some points. */
export const getPointValues = (points: readonly Point[]): number[] => points.map((point) => point[1]);

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** NaN if there are no points. Never beyond the extremes: the mean of equal values is exactly that value, since thresholds are strict. */
export function mean(points: readonly Point[]): number {
  let total = 0;
  let low = Infinity;
  let high = -Infinity;
  for (const point of points) {
    const value = point[1];
    total += value;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return points.length === 0 ? NaN : Math.min(high, Math.max(low, total / points.length));
}

/** The quantile of type 7 (linear between the neighbours), as in R, NumPy and spreadsheets; `q` from 0 to 100, NaN without values. */
export const quantile = (values: readonly number[], q: number): number => quantiles(values, [q])[0] ?? NaN;

/** Several quantiles. If there are many values, only those around the quantiles are sorted. */
export function quantiles(values: readonly number[], qs: readonly number[]): number[] {
  const ranks = qs.map((q) => computeRank(values.length, q)).flatMap((rank) => [Math.floor(rank), Math.ceil(rank)]);
  const inOrder = sortAtRanks(ranks, values);
  return qs.map((q) => quantileOfSorted(inOrder, q));
}

/** The same for values that are already in order, at least around the quantile. */
export function quantileOfSorted(values: ArrayLike<number>, q: number): number {
  const rank = computeRank(values.length, q);
  const [low, high] = [values[Math.floor(rank)] ?? NaN, values[Math.ceil(rank)] ?? NaN];
  const share = rank - Math.floor(rank);
  if (low === high) return low;
  // The distance of two numbers may exceed the largest number.
  return Math.abs(high - low) < Infinity ? low + (high - low) * share : low * (1 - share) + high * share;
}

/** The values in order; NaN comes last. Typed arrays sort numbers several times as fast. */
export function sortNumbers(values: readonly number[]): number[] {
  const inOrder: number[] = [];
  for (const value of Float64Array.from(values).sort()) inOrder.push(value);
  return inOrder;
}

const computeRank = (count: number, q: number): number => ((count - 1) * q) / 100;
