/** What one task reported, in the order of time: `[ms since the epoch, value]`. */
export interface HealthSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly Point[];
}

export type Point = readonly [number, number];

/** A stretch of time in ms; its start is not part of it, so that neighbouring windows share no point. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** One side of a check: how many tasks it has, whether or not they report, and one series of each that does. */
export interface Side {
  readonly tasks: number;
  readonly series: readonly HealthSeries[];
}

/** The points of a window, oldest first. What is that already, as nearly everything is, is not copied. */
export function pointsIn(window: Window, points: readonly Point[]): readonly Point[] {
  let last = window.start;
  for (const point of points) {
    const at = point[0];
    if (at <= window.start || at > window.end || at < last)
      return points.filter(([time]) => time > window.start && time <= window.end).sort(([one], [other]) => one - other);
    last = at;
  }
  return points;
}

/** The values of some points. */
export const valuesOf = (points: readonly Point[]): number[] => points.map((point) => point[1]);

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** NaN of nothing. Never beyond the extremes: of equal values it is that value, to the last digit, since thresholds are strict. */
export function mean(values: readonly number[]): number {
  let total = 0;
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    total += value;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return values.length === 0 ? NaN : Math.min(high, Math.max(low, total / values.length));
}

/** The quantile of type 7 (linear between the neighbours), as R, NumPy and spreadsheets do it; `q` from 0 to 100, NaN of nothing. */
export const quantile = (values: readonly number[], q: number): number => quantileOfSorted(sorted(values), q);

/** The same of values that are in order already. */
export function quantileOfSorted(values: readonly number[], q: number): number {
  const rank = ((values.length - 1) * q) / 100;
  const [low, high] = [values[Math.floor(rank)] ?? NaN, values[Math.ceil(rank)] ?? NaN];
  return low === high ? low : low + (high - low) * (rank - Math.floor(rank));
}

/** The values in order; what is not a number comes last. Typed arrays sort numbers several times as fast. */
export function sorted(values: readonly number[]): number[] {
  const inOrder: number[] = [];
  for (const value of Float64Array.from(values).sort()) inOrder.push(value);
  return inOrder;
}
