import type { HealthCheck } from '../spec/health';
import { fillsWithZero, taskValue, taskValues } from './transform';
import { mean, pointsIn, quantile, sum, type Side, type Window } from './series';

/** A side as numbers. */
export interface Summary {
  /** Across the tasks; undefined when not one has a value. */
  readonly value: number | undefined;
  /** Finite points that were really reported; what `fill` puts in does not count, so that it cannot turn silence into health. */
  readonly samples: number;
  /** Tasks with a value. */
  readonly reporting: number;
  readonly tasks: number;
  /** Every value of every task, where the check compares ranks. */
  readonly values: readonly number[];
}

/** One side of a check: each task's value, reduced across the tasks. */
export function summarise(check: HealthCheck, side: Side, window: Window, stepMs: number): Summary {
  const values = side.series.flatMap(({ points }) => taskValue(points, check.transform, window, stepMs) ?? []);
  const silent = fillsWithZero(check.transform) ? Math.max(0, side.tasks - values.length) : 0;
  const all = [...values, ...new Array<number>(silent).fill(0)];
  const samples = sum(side.series.map(({ points }) => pointsIn(window, points).filter(finite).length));
  const tasks = Math.max(side.tasks, all.length);
  const ranked = typeof check.method === 'object' ? side.series : [];
  return {
    value: all.length === 0 ? undefined : reduce(check.reduce, all),
    samples,
    reporting: all.length,
    tasks,
    values: ranked.flatMap(({ points }) => taskValues(points, check.transform, window, stepMs)),
  };
}

const finite = ([, value]: readonly [number, number]): boolean => Number.isFinite(value);

/** Sorted first, so that the order in which tasks report changes nothing, not even the last digit. */
function reduce(how: HealthCheck['reduce'], values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.some((value) => !Number.isFinite(value))) return NaN;
  switch (how) {
    case 'mean':
      return mean(sorted);
    case 'sum':
      return sum(sorted);
    case 'count':
      return sorted.length;
    case 'min':
      return sorted[0] ?? NaN;
    case 'max':
      return sorted.at(-1) ?? NaN;
    default:
      return quantile(sorted, Number(how.slice(1)));
  }
}
