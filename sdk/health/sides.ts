import type { ConcurrencyGate } from '../concurrency';
import { stepFor } from '../../domain/health/lookback';
import type { HealthSeries, Point, Side, TimeRange } from '../../domain/health/series';
import { fillsWithZero } from '../../domain/health/transform';
import type { HealthCheck } from '../../domain/spec/health';
import type { RequestOf, ResponseOf } from '../protocol/common';
import type { DataSourceProtocol } from '../protocol/dataSource';

/** Queries a data source; `source` is the name in the check, undefined for the fleet's own store. Must stop when `signal` aborts. */
export type Query = (
  request: RequestOf<DataSourceProtocol['query']>,
  options: { readonly source: string | undefined; readonly signal: AbortSignal },
) => Promise<ResponseOf<DataSourceProtocol['query']>>;

/** Tasks of a unit, by identifier, or by the version that they run. */
export type TaskGroup =
  { readonly unit: string; readonly tasks: readonly string[] } | { readonly unit: string; readonly version: string };

/** The number of tasks that a message names as examples. */
const EXAMPLE_TASKS = 3;
const DEFAULT_DEADLINE_MS = 10_000;

/** A reader of whole sides of a check: one query for each unit, all series in one side. */
export function readSides(query: Query, gated: ConcurrencyGate, deadlineMs: number = DEFAULT_DEADLINE_MS) {
  return async (check: HealthCheck, groups: readonly TaskGroup[], window: TimeRange): Promise<Side> => {
    const sides = await Promise.all(
      groups.map((group) => gated(() => readTaskGroup(query, check, group, window, deadlineMs))),
    );
    const asked = sides.flatMap((side) => side.asked ?? []).slice(0, EXAMPLE_TASKS);
    return {
      tasks: sides.reduce((count, side) => count + side.tasks, 0),
      ...(asked.length > 0 && { asked }),
      series: sides.flatMap(({ series }) => series),
    };
  };
}

async function readTaskGroup(
  query: Query,
  check: HealthCheck,
  group: TaskGroup,
  window: TimeRange,
  deadlineMs: number,
): Promise<Side> {
  const selector =
    'tasks' in group
      ? { unit: group.unit, tasks: [...group.tasks] }
      : { unit: group.unit, labels: { version: group.version } };
  const request = { metric: check.metric, selector, ...window, step: stepFor(window.end - window.start) };
  const ask = async (metric: string): Promise<readonly HealthSeries[]> => {
    const answer = await withDeadline(deadlineMs, (signal) =>
      query({ ...request, metric }, { source: check.source, signal }),
    );
    if (!isAnswer(answer)) throw new Error('the data source answered with something that is not series of points');
    assertOneEach(answer.series);
    if ('tasks' in group) assertRequested(answer.series, group.tasks);
    return answer.series;
  };
  const series = await ask(check.metric);
  if (!('tasks' in group)) return { tasks: series.length, series };
  const isSilent = series.every(({ points }) => points.length === 0);
  return {
    ...{ tasks: group.tasks.length, asked: group.tasks.slice(0, EXAMPLE_TASKS) },
    series: isSilent && fillsWithZero(check.transform) ? await zeroWhereScraped(ask, group.tasks) : series,
  };
}

/**
 * A metric that only exists once something happened has no series if nothing did, but also none if the tasks are not scraped. `up`, which Prometheus
 * writes at each scrape, tells the two apart: the result is zero if the `up` of every task is 1. Without `up` in the source the tasks stay silent.
 */
async function zeroWhereScraped(
  ask: (metric: string) => Promise<readonly HealthSeries[]>,
  tasks: readonly string[],
): Promise<readonly HealthSeries[]> {
  const scraped = (await ask('up').catch(() => [])).filter(({ points }) => points.at(-1)?.[1] === 1);
  if (scraped.length < tasks.length) return [];
  const zero = ([time]: Point): Point => [time, 0];
  return scraped.map(({ labels, points }) => ({
    labels,
    points: points.filter(([, value]) => value === 1).map(zero),
  }));
}

/** Checked by hand, because there may be millions of points. Non-finite values are accepted here: they never pass. */
function isAnswer(answer: unknown): answer is { readonly series: readonly HealthSeries[] } {
  if (!isObjectLike(answer) || !Array.isArray(answer['series'])) return false;
  return answer['series'].every(
    (series: unknown) =>
      isObjectLike(series) &&
      isObjectLike(series['labels']) &&
      Array.isArray(series['points']) &&
      series['points'].every(isPoint),
  );
}

const isObjectLike = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isPoint = (point: unknown): boolean =>
  Array.isArray(point) && point.length === 2 && Number.isFinite(point[0]) && typeof point[1] === 'number';

/** A source that ignores the selector would mix old and new tasks in one verdict. A source asked about one task need not name it. */
function assertRequested(series: readonly HealthSeries[], tasks: readonly string[]): void {
  const asked = new Set(tasks);
  const stranger = series.find(({ labels }) => labels['task'] !== undefined && !asked.has(labels['task']));
  if (stranger)
    throw new Error(`the data source answered for ${stranger.labels['task']}, which it was not asked about`);
  if (Math.max(tasks.length, series.length) > 1 && series.some(({ labels }) => labels['task'] === undefined))
    throw new Error('the data source answered a series without the label task, so nobody knows whose it is');
}

/** A task with two series would hide one without any. */
function assertOneEach(series: readonly HealthSeries[]): void {
  const seen = new Set<string>();
  for (const { labels } of series) {
    const task = labels['task'];
    if (task === undefined) continue;
    if (seen.has(task)) throw new Error(`the data source answered two series for ${task}; one for each task is needed`);
    seen.add(task);
  }
}

async function withDeadline<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`the data source did not answer within ${deadlineMs} ms`);
      controller.abort(error);
      reject(error);
    }, deadlineMs);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
