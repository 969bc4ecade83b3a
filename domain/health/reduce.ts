import type { HealthCheck } from '../spec/health';
import { fillsWithZero, taskValue, applyTransforms } from './transform';
import { pointsIn, quantileOfSorted, sortNumbers, sum, type Point, type Side, type TimeRange } from './series';

/** A side as numbers. */
export interface SideSummary {
  /** Across the tasks; undefined if no task has a value. */
  readonly value: number | undefined;
  /** The points that were really reported. Points from `fill` do not count, so that `fill` cannot turn silence into health. */
  readonly samples: number;
  /** Tasks with a value. */
  readonly reporting: number;
  readonly tasks: number;
  /** All values of all tasks, if the check compares ranks. */
  readonly values: readonly number[];
}

/** One side of a check: each task's value, reduced across the tasks. */
export function summariseSide(check: HealthCheck, side: Side, window: TimeRange, stepMs: number): SideSummary {
  const isRanked = typeof check.method === 'object';
  const all: number[] = [];
  const ranked: number[] = [];
  let samples = 0;
  for (const { points } of side.series) {
    const inside = pointsIn(window, points);
    const value = taskValue(inside, check.transform, window, stepMs);
    samples += inside.length;
    if (value !== undefined) all.push(value);
    if (isRanked) addFinite(ranked, applyTransforms(inside, check.transform, window, stepMs));
  }
  const silent = fillsWithZero(check.transform) ? Math.max(0, side.tasks - all.length) : 0;
  for (let nth = 0; nth < silent; nth += 1) all.push(0);
  return {
    value: all.length === 0 ? undefined : reduceValues(check.reduce, all),
    samples,
    reporting: all.length,
    tasks: Math.max(side.tasks, all.length),
    values: ranked,
  };
}

function addFinite(values: number[], points: readonly Point[]): void {
  for (const point of points) if (Number.isFinite(point[1])) values.push(point[1]);
}

/** Sorts first, so that the order in which tasks report has no effect, not even on the last digit. */
function reduceValues(how: HealthCheck['reduce'], values: readonly number[]): number {
  const inOrder = sortNumbers(values);
  if (inOrder.some((value) => !Number.isFinite(value))) return NaN;
  switch (how) {
    case 'mean':
      return meanOfSorted(inOrder);
    case 'sum':
      return sum(inOrder);
    case 'count':
      return inOrder.length;
    case 'min':
      return inOrder[0] ?? NaN;
    case 'max':
      return inOrder.at(-1) ?? NaN;
    default:
      return quantileOfSorted(inOrder, Number(how.slice(1)));
  }
}

/** Never beyond the extremes: the mean of equal values is exactly that value. */
const meanOfSorted = (values: readonly number[]): number =>
  Math.min(values.at(-1) ?? NaN, Math.max(values[0] ?? NaN, sum(values) / values.length));
