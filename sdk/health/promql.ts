import type { RequestOf } from '../protocol/common';
import type { DataSourceProtocol } from '../protocol/dataSource';

type HealthQuery = RequestOf<DataSourceProtocol['query']>;

/** The labels that distinguish tasks and units. */
export interface PrometheusLabels {
  readonly task: string;
  readonly unit: string;
}

/** One request to the HTTP API of Prometheus. */
export interface PrometheusRequest {
  readonly endpoint: 'query' | 'query_range';
  readonly params: Readonly<Record<string, string>>;
}

/** The place of the tasks' matchers in an expression: `rate(http_errors_total{$selector}[1m])`. */
const PLACE = '$selector';
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:.]*$/;
/** One metric with matchers: `errors_total{code=~"5..", $selector}`; quoted values may hold anything. */
const SELECTOR = /^[a-zA-Z_:][a-zA-Z0-9_:]*\s*\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\}$/;
const LABEL = /^[a-zA-Z_]\w*$/;
/** Prometheus looks up the names of a list one by one if there are at most 256; beyond that it tries every series. */
const MOST_TASKS = 250;
/** Prometheus refuses more points in a series. */
const MOST_POINTS = 11_000;

/**
 * The requests that answer a query, each for some of its tasks. For a name or selector, they ask for the samples as
 * scraped: stepping through them would repeat the last one for five minutes. An expression is evaluated at each step up
 * to the end. Throws a sentence if the metric is neither.
 */
export function prometheusRequests(query: HealthQuery, labels: PrometheusLabels): PrometheusRequest[] {
  const { unit, tasks, labels: others = {} } = query.selector;
  const equal = Object.entries(others).map(([name, value]) => matcher(name, '=', value));
  const groups =
    tasks === undefined
      ? [matcher(labels.unit, '=', unit)]
      : chunkTasks(tasks).map((some) => matcher(labels.task, '=~', some.map(escapeRegExp).join('|')));
  return groups.map((group) => requestFor(query, [group, ...equal].join(',')));
}

function requestFor({ metric, start, end, step }: HealthQuery, matchers: string): PrometheusRequest {
  const expression = buildMetricExpression(metric.trim(), matchers);
  if (METRIC_NAME.test(metric.trim()) || SELECTOR.test(expression)) {
    const range = `[${Math.ceil(end - start)}ms]`;
    return { endpoint: 'query', params: { query: `${expression}${range}`, time: toSeconds(end) } };
  }
  const stride = Math.max(step, 1, Math.ceil((end - start) / MOST_POINTS));
  // Ends at the end of the window, and begins after its start, which belongs to the window before.
  const first = end - stride * (Math.ceil((end - start) / stride) - 1);
  const params = { query: expression, start: toSeconds(first), end: toSeconds(end), step: toSeconds(stride) };
  return { endpoint: 'query_range', params };
}

function buildMetricExpression(metric: string, matchers: string): string {
  if (METRIC_NAME.test(metric))
    return metric.includes('.') ? `{__name__=${promqlString(metric)},${matchers}}` : `${metric}{${matchers}}`;
  if (metric.includes(PLACE)) return metric.split(PLACE).join(matchers);
  throw new Error(
    `the metric ${metric} is an expression without ${PLACE}, so it would mix updated tasks with others; write it like rate(errors_total{${PLACE}}[1m])`,
  );
}

function chunkTasks(tasks: readonly string[]): string[][] {
  const count = Math.ceil(tasks.length / MOST_TASKS);
  return Array.from({ length: count }, (_, nth) => tasks.slice(nth * MOST_TASKS, (nth + 1) * MOST_TASKS));
}

function matcher(name: string, operator: '=' | '=~', value: string): string {
  if (!LABEL.test(name)) throw new Error(`${name} is not a label name of Prometheus`);
  return `${name}${operator}${promqlString(value)}`;
}

/** An identifier as a regular expression that matches only itself; Prometheus anchors expressions at both ends. */
const escapeRegExp = (identifier: string): string => identifier.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');

const promqlString = (value: string): string =>
  `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;

const toSeconds = (ms: number): string => (ms / 1000).toFixed(3);
