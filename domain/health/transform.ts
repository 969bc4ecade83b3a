import type { Transform } from '../spec/healthFields';
import { mean, pointsAfter, quantile, sum, getPointValues, type Point, type TimeRange } from './series';

/** Whether a check defines the meaning of missing data; only then may a silent task be counted. */
export const fillsWithZero = (transforms: readonly Transform[]): boolean =>
  transforms.some((step) => typeof step === 'object' && 'fill' in step && step.fill === 'zero');

/** The longest time that a transform looks back from a point; 0 if none does. */
export const findLongestReach = (transforms: readonly Transform[]): number => Math.max(0, ...transforms.map(reach));

/**
 * The one number of a task: its points of the window (`pointsIn`) after all transforms in order. If several points remain, their mean counts.
 * `average` and `percentile` look back from each point; as the last step they look back from now. Undefined if no point remains.
 */
export function taskValue(
  points: readonly Point[],
  transforms: readonly Transform[],
  window: TimeRange,
  stepMs: number,
): number | undefined {
  const last = transforms.at(-1);
  const over = last === undefined ? 0 : reach(last);
  const shaped = applyTransforms(points, over > 0 ? transforms.slice(0, -1) : transforms, window, stepMs);
  const counted = over > 0 ? pointsAfter(window.end - over, shaped) : shaped;
  if (counted.length === 0) return undefined;
  return typeof last === 'object' && 'percentile' in last
    ? quantile(getPointValues(counted), last.percentile.q)
    : mean(counted);
}

/** The points of a task after all transforms, from those of the window. */
export function applyTransforms(
  points: readonly Point[],
  transforms: readonly Transform[],
  window: TimeRange,
  stepMs: number,
): readonly Point[] {
  return transforms.reduce((kept, step) => apply(step, kept, window, stepMs), points);
}

function reach(step: Transform): number {
  if (typeof step === 'string') return 0;
  if ('average' in step) return step.average;
  return 'percentile' in step ? step.percentile.over : 0;
}

function apply(step: Transform, points: readonly Point[], window: TimeRange, stepMs: number): readonly Point[] {
  if (step === 'rate') return rate(points);
  if (typeof step === 'string') return collapse(step, points, window.end);
  if ('average' in step) return summariseTrailing(points, step.average, mean);
  if ('percentile' in step) {
    const { q, over } = step.percentile;
    return summariseTrailing(points, over, (some) => quantile(getPointValues(some), q));
  }
  return fill(step.fill, points, window, stepMs);
}

/** Per second. A counter that falls was restarted: its value is the amount that was added since. */
function rate(points: readonly Point[]): Point[] {
  const rates: Point[] = [];
  let before = points[0];
  for (const point of points) {
    if (before !== undefined && point[0] > before[0]) rates.push([point[0], perSecond(before, point)]);
    before = point;
  }
  return rates;
}

function perSecond(before: Point, point: Point): number {
  const added = point[1] < before[1] ? point[1] : point[1] - before[1];
  return (added * 1000) / (point[0] - before[0]);
}

function collapse(how: 'max' | 'min' | 'sum', points: readonly Point[], end: number): Point[] {
  if (points.length === 0) return [];
  const values = getPointValues(points);
  const extreme = (pick: (a: number, b: number) => number): number => values.reduce((a, b) => pick(a, b));
  return [[end, how === 'sum' ? sum(values) : extreme(how === 'max' ? Math.max : Math.min)]];
}

/** Each point becomes the summary of the points in the stretch that ends with it. */
function summariseTrailing(
  points: readonly Point[],
  over: number,
  summary: (points: readonly Point[]) => number,
): Point[] {
  let first = 0;
  return points.map(([at], index): Point => {
    while (first < index && (points[first]?.[0] ?? at) <= at - over) first += 1;
    return [at, summary(points.slice(first, index + 1))];
  });
}

/** `drop` leaves out values that are not numbers; `zero` and `last` replace them, and fill every gap of the grid. */
function fill(how: 'zero' | 'last' | 'drop', points: readonly Point[], window: TimeRange, stepMs: number): Point[] {
  const good = points.filter(([, value]) => Number.isFinite(value));
  if (how === 'drop') return good;
  const filled: Point[] = [];
  let next = 0;
  // The steps are counted, because far from 1970 numbers have no milliseconds, and adding a step would not advance.
  const steps = Math.floor((window.end - window.start + 1e-6) / stepMs);
  for (let step = 1; step <= steps; step += 1) {
    const at = window.start + step * stepMs;
    const from = next;
    while ((good[next]?.[0] ?? Infinity) <= at) next += 1;
    if (next > from) filled.push(...good.slice(from, next));
    else if (how === 'zero') filled.push([at, 0]);
    else if (filled.length > 0) filled.push([at, filled.at(-1)?.[1] ?? 0]);
  }
  return [...filled, ...good.slice(next)];
}
