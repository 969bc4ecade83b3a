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

/** The points of a window, oldest first. */
export function pointsIn(window: Window, points: readonly Point[]): Point[] {
  return points.filter(([at]) => at > window.start && at <= window.end).sort(([a], [b]) => a - b);
}

/** The values of some points. */
export const valuesOf = (points: readonly Point[]): number[] => points.map(([, value]) => value);

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** NaN of nothing. Never beyond the extremes: of equal values it is that value, to the last digit, since thresholds are strict. */
export function mean(values: readonly number[]): number {
  const raw = sum(values) / values.length;
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return values.length === 0 ? NaN : Math.min(high, Math.max(low, raw));
}

/** The quantile of type 7 (linear between the neighbours), as R, NumPy and spreadsheets do it; `q` from 0 to 100, NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = ((sorted.length - 1) * q) / 100;
  const [low, high] = [sorted[Math.floor(rank)] ?? NaN, sorted[Math.ceil(rank)] ?? NaN];
  return low === high ? low : low + (high - low) * (rank - Math.floor(rank));
}
