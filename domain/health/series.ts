import { sortedAt } from './sortedAt';

/** What one task reported, in the order of time: `[ms since the epoch, value]`. */
export interface HealthSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly Point[];
}

export type Point = readonly [number, number];

/** A stretch of time in ms; its start is not part of it, so that neighbouring windows share no point. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** One side of a check: how many tasks it has, whether or not they report, and one series of each that does. */
export interface Side {
  readonly tasks: number;
  /** The first few of them, by what they were asked for; missing where they were asked for by their version. */
  readonly asked?: readonly string[];
  readonly series: readonly HealthSeries[];
}

/**
 * The points of a window, oldest first; what is not a number is missing data. What is that already, as nearly everything is, is
 * not copied.
 */
export function pointsIn(window: TimeRange, points: readonly Point[]): readonly Point[] {
  let last = window.start;
  for (const point of points) {
    const at = point[0];
    if (at <= window.start || at > window.end || at < last || !Number.isFinite(point[1])) return chosen(window, points);
    last = at;
  }
  return points;
}

const chosen = ({ start, end }: TimeRange, points: readonly Point[]): Point[] =>
  points
    .filter(([time, value]) => time > start && time <= end && Number.isFinite(value))
    .sort(([one], [other]) => one - other);

/** Of points in the order of time, those after `start`: looks at no others. */
export function pointsAfter(start: number, points: readonly Point[]): readonly Point[] {
  let first = points.length;
  while ((points[first - 1]?.[0] ?? start) > start) first -= 1;
  return points.slice(first);
}

/** The values of some points. */
export const valuesOf = (points: readonly Point[]): number[] => points.map((point) => point[1]);

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** NaN of nothing. Never beyond the extremes: of equal values it is that value, to the last digit, since thresholds are strict. */
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

/** The quantile of type 7 (linear between the neighbours), as R, NumPy and spreadsheets do it; `q` from 0 to 100, NaN of nothing. */
export const quantile = (values: readonly number[], q: number): number => quantiles(values, [q])[0] ?? NaN;

/** Several of them. Of many values only those around the quantiles are sorted. */
export function quantiles(values: readonly number[], qs: readonly number[]): number[] {
  const ranks = qs.map((q) => rankOf(values.length, q)).flatMap((rank) => [Math.floor(rank), Math.ceil(rank)]);
  const inOrder = sortedAt(ranks, values);
  return qs.map((q) => quantileOfSorted(inOrder, q));
}

/** The same of values that are in order already, at least where the quantile lies. */
export function quantileOfSorted(values: ArrayLike<number>, q: number): number {
  const rank = rankOf(values.length, q);
  const [low, high] = [values[Math.floor(rank)] ?? NaN, values[Math.ceil(rank)] ?? NaN];
  const share = rank - Math.floor(rank);
  if (low === high) return low;
  // Numbers may be further apart than a number can be.
  return Math.abs(high - low) < Infinity ? low + (high - low) * share : low * (1 - share) + high * share;
}

/** The values in order; what is not a number comes last. Typed arrays sort numbers several times as fast. */
export function sorted(values: readonly number[]): number[] {
  const inOrder: number[] = [];
  for (const value of Float64Array.from(values).sort()) inOrder.push(value);
  return inOrder;
}

const rankOf = (count: number, q: number): number => ((count - 1) * q) / 100;
