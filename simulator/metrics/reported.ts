import { z } from 'zod';
import type { Series } from '../../sdk/protocol/dataSource';
import type { ReportedPoints } from './reports';
import { METRICS } from './series';

/** The most tasks that may report, and the most points kept for each of their metrics: the oldest are dropped. */
export const REPORTED_LIMITS = { tasks: 2_000, points: 600, together: 1_000 } as const;

/** A report of a process that measures itself. */
export const reportSchema = z.strictObject({
  points: z
    .array(z.strictObject({ task: z.string().min(1).max(512), metric: z.enum(METRICS), value: z.number() }))
    .max(REPORTED_LIMITS.together),
});

export function takeReport(reported: ReportedPoints, now: number, { points }: z.infer<typeof reportSchema>): void {
  for (const { task, metric, value } of points) {
    const known = reported.get(task) ?? new Map<string, readonly (readonly [number, number])[]>();
    known.set(metric, [...(known.get(metric) ?? []), [now, value] as const].slice(-REPORTED_LIMITS.points));
    // The task that reported last is forgotten last.
    reported.delete(task);
    reported.set(task, known);
  }
  for (const task of [...reported.keys()].slice(0, -REPORTED_LIMITS.tasks)) reported.delete(task);
}

/** The points that these tasks reported in (start, end]. */
export const listReportedSeries = (
  reported: ReportedPoints,
  metric: string,
  tasks: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
): Series[] =>
  tasks.flatMap((task) => {
    const points = reported.get(task)?.get(metric) ?? [];
    const found = points.flatMap(([at, value]): [number, number][] => (at > start && at <= end ? [[at, value]] : []));
    return found.length > 0 ? [{ labels: { task }, points: found }] : [];
  });
