import type { TimeRange } from '../../domain/health/series';
import type { Series } from '../protocol/dataSource';
import { isJsonObject } from '../../domain/json';

/**
 * The series in an answer of Prometheus, under the label `task`, without points outside the window. `NaN` and `+Inf`
 * are kept: they never pass (docs/design/health.md#one-evaluation). Throws a sentence if the answer is an error, is
 * incomplete, or does not have one series per task.
 */
export function seriesFromAnswer(body: unknown, window: TimeRange, taskLabel: string): Series[] {
  if (!isJsonObject(body)) throw new Error('answered with something that is not JSON of Prometheus');
  if (body['status'] !== 'success') throw new Error(`answered: ${errorIn(body) ?? 'something that is no success'}`);
  const doubt = incompleteness(body);
  if (doubt !== undefined) throw new Error(`gave an answer that is not complete: ${doubt}`);
  const data = body['data'];
  if (!isJsonObject(data) || data['resultType'] !== 'matrix' || !Array.isArray(data['result']))
    throw new Error('answered with something that is not series of points');
  const series = data['result'].map((result: unknown) => toSeries(result, window, taskLabel));
  assertOnePerTask(series, taskLabel);
  return series;
}

/** The error in an answer: `bad_data: parse error`; undefined if it states none. */
export function errorIn(body: unknown): string | undefined {
  if (!isJsonObject(body) || typeof body['error'] !== 'string') return undefined;
  return [body['errorType'], body['error']].filter((part) => typeof part === 'string').join(': ');
}

/** Thanos and Mimir warn when a store did not answer, Prometheus when remote storage did not; VictoriaMetrics says `isPartial`. */
function incompleteness(body: Readonly<Record<string, unknown>>): string | undefined {
  const { warnings, isPartial } = body;
  if (Array.isArray(warnings) && warnings.length > 0) return warnings.map(String).join('; ');
  return isPartial === true ? 'it is partial' : undefined;
}

function toSeries(result: unknown, window: TimeRange, taskLabel: string): Series {
  const labels = isJsonObject(result) ? result['metric'] : undefined;
  if (!isJsonObject(result) || !isJsonObject(labels))
    throw new Error('answered with something that is not series of points');
  const task = labels[taskLabel];
  if (typeof task !== 'string')
    throw new Error(
      `gave a series without the label ${taskLabel}; an aggregation has to keep it, as sum by (${taskLabel})`,
    );
  const values = result['values'];
  if (!Array.isArray(values))
    throw new Error(`gave no numbers for ${task}, perhaps a histogram; use histogram_quantile`);
  const points: [number, number][] = [];
  for (const pair of values as readonly unknown[]) {
    const point = toPoint(pair);
    if (point[0] > window.start && point[0] <= window.end) points.push(point);
  }
  return { labels: { ...(labels as Record<string, string>), task }, points };
}

function toPoint(pair: unknown): [number, number] {
  const [at, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
  if (typeof at !== 'number' || typeof value !== 'string')
    throw new Error('answered with something that is not series of points');
  return [Math.round(at * 1000), toNumber(value)];
}

/** The API writes numbers as text, so that these three are possible. */
function toNumber(value: string): number {
  if (value === '+Inf') return Infinity;
  // An empty text is not a number, although JavaScript converts it to 0.
  return value === '-Inf' ? -Infinity : value.trim() === '' ? NaN : Number(value);
}

/** A task with several series would weigh more than others, and the reader could not tell them apart. */
function assertOnePerTask(series: readonly Series[], taskLabel: string): void {
  const seen = new Set<string>();
  for (const { labels } of series) {
    const task = labels['task'] ?? '';
    if (seen.has(task))
      throw new Error(
        `gave several series for ${task}; the metric has to bring them together, as sum by (${taskLabel})`,
      );
    seen.add(task);
  }
}
