import { Hono } from 'hono';
import { judgeTargets } from '../../sdk/health';
import { sourcesQuery, type SourceRef } from '../../sdk/health/sources';
import type { ConfigState } from '../../settings/liveRegistry';
import { healthServiceProtocol } from '../../sdk/protocol/healthService';
import type { Fetch } from '../../sdk/request';
import { serveProtocol } from '../../sdk/server';
import { METRICS_TYPE } from '../metricsText';
import { runBacktest, type PastAccess } from './backtest';
import { HealthMetrics } from './metrics';

export interface HealthServiceOptions {
  /** The present sources; a new list only after a change. */
  readonly sources: () => readonly SourceRef[];
  /** The state of the configuration file; missing if there is none. */
  readonly configState?: () => ConfigState;
  /** ms of a clock; only differences matter. */
  readonly now: () => number;
  /** If given, `evaluate` and `backtest` require it as a bearer token. */
  readonly token?: string;
  readonly past: PastAccess;
  /** Reaches data sources that speak the protocol; the network by default. */
  readonly fetch?: Fetch;
}

/** Half a million tasks, named in each of their groups. */
const MAX_JUDGE_BODY_BYTES = 64 * 1_048_576;
/** Gives a source's own timeout message time to arrive before the engine's. */
const SOURCE_GRACE_MS = 500;

/**
 * The Health Check Service (docs/reference/protocols.md#health-check-service): `POST /evaluate`, `POST /backtest`,
 * `/openapi.json`, `/metrics`, `/healthz`. It is stateless: every request names the checks and tasks to judge, and data
 * sources and Temporal have the rest.
 */
export function createHealthService({ sources, now, token, past, fetch, configState }: HealthServiceOptions): Hono {
  const startedAtMs = now();
  const metrics = new HealthMetrics(() => sources().map(({ name }) => name));
  const asking = createSourceAccess(sources, fetch);
  const service = serveProtocol(
    healthServiceProtocol,
    'Conveyor Health Check Service',
    {
      evaluate: async ({ source, ...request }, { context }) => {
        const begunAtMs = now();
        const { queryFor, deadlineMs } = asking();
        const query = metrics.countQueries(queryFor(context, source), source);
        const answer = await judgeTargets({ ...request, deadlineMs, query });
        metrics.recordEvaluation(answer, (now() - begunAtMs) / 1000);
        return answer;
      },
      backtest: (request) => runBacktest(past, request),
    },
    { maxBodyBytes: MAX_JUDGE_BODY_BYTES, ...(token === undefined ? {} : { token }) },
  );
  const app = new Hono();
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/metrics', (c) => c.text(metrics.text(now() - startedAtMs, configState?.()), 200, METRICS_TYPE));
  app.mount('/', service.fetch);
  return app;
}

/** Access to the data sources, rebuilt when they change. */
function createSourceAccess(sources: HealthServiceOptions['sources'], fetch: Fetch | undefined) {
  const made = (list: readonly SourceRef[]) => ({
    list,
    queryFor: sourcesQuery(list, fetch),
    deadlineMs: Math.max(0, ...list.map(({ timeoutMs }) => timeoutMs)) + SOURCE_GRACE_MS,
  });
  let asking = made(sources());
  return () => (asking = asking.list === sources() ? asking : made(sources()));
}
