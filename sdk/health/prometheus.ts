import { rootCause } from '../../domain/rootCause';
import { redactUrl, withShownUrls } from '../../domain/redactUrl';
import { formatDuration } from '../../domain/text';
import { parseJson } from '../client';
import { MIB } from '../protocol/common';
import { MAX_SERIES_BYTES } from '../protocol/dataSource';
import { NoAnswer, sendRequest } from '../request';
import { errorIn, seriesFromAnswer } from './prometheusAnswer';
import { prometheusRequests, type PrometheusRequest } from './promql';
import { concurrencyGate } from '../concurrency';
import type { Query } from './sides';

/** Options of `prometheusQuery`; only `url` is required. */
export interface PrometheusOptions {
  /** Its URL, with the path before `/api/v1` if there is one: `http://prometheus:9090`. */
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token?: string;
  /** The label that holds the identifier of a task. Default `task`. */
  readonly taskLabel?: string;
  /** The label that holds the unit; only for `compare: { version }`, since identifiers name tasks of one unit. Default `unit`. */
  readonly unitLabel?: string;
  /** Longest wait for one answer. Default 10 s. */
  readonly timeoutMs?: number;
  /** The tolerance for the clocks of Prometheus and of the caller. Default 30 s. */
  readonly maxSkewMs?: number;
}

const PROMETHEUS_TIMEOUT_MS = 10_000;
const DEFAULT_SKEW_MS = 30_000;
/** Prometheus works on 20 queries at once; more would queue and time out there. */
const REQUESTS_AT_ONCE = 8;

/**
 * A data source that reads from Prometheus, or from a server that speaks its API (docs/reference/health.md). `metric` is the name of a metric, or an
 * expression with `$selector` in the place of the matchers of the tasks. Rejects with one sentence that names the fault and its place, so that the
 * check is `errored`: on any incomplete answer, and if the clocks disagree.
 */
export function prometheusQuery(options: PrometheusOptions): Query {
  const { taskLabel = 'task', unitLabel = 'unit' } = options;
  const server = serverAt(options);
  const gated = concurrencyGate(REQUESTS_AT_ONCE);
  return async (query, { signal }) => {
    const requests = prometheusRequests(query, { task: taskLabel, unit: unitLabel });
    const answers = await Promise.all(
      requests.map((request) =>
        gated(() =>
          server.ask(request, query.end, signal).then((body) => seriesFromAnswer(body, query, taskLabel)),
        ).catch((error: Error) => {
          const asked = excerptOneLine(request.params['query'] ?? '');
          throw new Error(`Prometheus at ${server.place} ${error.message} (asked: ${asked})`);
        }),
      ),
    );
    return { series: answers.flat() };
  };
}

interface Server {
  /** The URL for messages, without possible secrets. */
  readonly place: string;
  ask(request: PrometheusRequest, end: number, signal: AbortSignal): Promise<unknown>;
}

function serverAt({
  url,
  token,
  timeoutMs = PROMETHEUS_TIMEOUT_MS,
  maxSkewMs = DEFAULT_SKEW_MS,
}: PrometheusOptions): Server {
  const { origin, pathname, username, password } = new URL(url);
  // Otherwise every failure would show it.
  if (username || password) throw new Error('the URL of Prometheus must not hold a password; give a token instead');
  const place = `${origin}${pathname}`.replace(/\/+$/, '');
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const ask = async ({ endpoint, params }: PrometheusRequest, end: number, signal: AbortSignal): Promise<unknown> => {
    const body = new URLSearchParams({ ...params, timeout: `${Math.ceil(timeoutMs)}ms` });
    const init = { method: 'POST', body, headers };
    const sending = { timeoutMs, signal, maxBytes: MAX_SERIES_BYTES };
    const answer = await sendRequest(`${place}/api/v1/${endpoint}`, init, sending).catch((error: unknown) => {
      const isLate = error instanceof NoAnswer && error.isLate;
      if (isLate) throw new Error(`did not answer within ${formatDuration(timeoutMs)}`, { cause: error });
      throw new Error(`cannot be reached: ${withShownUrls(rootCause(error))}`, { cause: error });
    });
    const { status, text } = answer;
    if (text === undefined) throw new UnusableAnswer(`answered with more than ${MAX_SERIES_BYTES / MIB} MiB`);
    return readAnswer(status, answer.headers, text, { end, maxSkewMs });
  };
  return { place: redactUrl(url), ask };
}

/** An answer that cannot be used; its message continues "Prometheus at …". */
class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

function readAnswer(
  status: number,
  headers: Headers,
  text: string,
  { end, maxSkewMs }: { readonly end: number; readonly maxSkewMs: number },
): unknown {
  if (status >= 300 && status < 400)
    throw new UnusableAnswer(
      `redirects to ${withShownUrls(headers.get('location') ?? 'elsewhere')}; give that address instead`,
    );
  const body = parseJson(text);
  if (status !== 200) throw new UnusableAnswer(`answered ${status}: ${errorIn(body) ?? excerptOneLine(text)}`);
  if (body === undefined) throw new UnusableAnswer(`answered with something that is not JSON: ${excerptOneLine(text)}`);
  assertSameTime(Date.parse(headers.get('date') ?? ''), end, maxSkewMs);
  return body;
}

/**
 * Samples carry the time of Prometheus. If its clock differs from ours, a window holds samples from before the update,
 * or the last sample over and over.
 */
function assertSameTime(theirs: number, end: number, maxSkewMs: number): void {
  if (Number.isNaN(theirs)) return;
  const ahead = theirs - Date.now();
  if (Math.abs(ahead) > maxSkewMs)
    throw new UnusableAnswer(
      `has a clock that is ${formatDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`,
    );
  if (end - theirs > maxSkewMs)
    throw new UnusableAnswer(
      `was asked for what is ${formatDuration(end - theirs)} in the future; the clock of who asks is ahead`,
    );
}

const excerptOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200) || 'nothing';
