import { Hono } from 'hono';
import { certificateState } from '../../domain/certificates';
import type { ServerDeps } from '../deps';
import type { RequestGate } from '../gate';
import type { PageStreams } from '../pages/streams';
import type { Readiness } from '../readiness';
import type { Metrics } from '../metrics';
import { METRICS_TYPE } from '../metricsText';
import { CachedReader } from '../cachedRead';

/** More frequent scrapes get the cached result, because the second value lists all pipelines. */
const OPEN_FRESH_MS = 10_000;
const FINDERS_FRESH_MS = 10_000;
const BACKLOGS_FRESH_MS = 10_000;
const CERTIFICATES_FRESH_MS = 10_000;
const WEEKLY_FRESH_MS = 600_000;

/** The endpoint for Prometheus. @param lanes the queues of requests, by name */
export function metricsRoutes(
  deps: ServerDeps & { readonly readiness: Readiness; readonly streams: Pick<PageStreams, 'counts'> },
  metrics: Metrics,
  lanes: Readonly<Record<string, RequestGate>>,
): Hono {
  const startedAtMs = deps.now();
  const now = (): number => deps.now();
  const finders = new CachedReader(() => deps.client.listFinders(), [], FINDERS_FRESH_MS, now);
  const open = new CachedReader(async () => (await deps.openCounts?.()) ?? [], [], OPEN_FRESH_MS, now);
  const backlogs = new CachedReader(async () => (await deps.backlogs?.()) ?? [], [], BACKLOGS_FRESH_MS, now);
  const weekly = new CachedReader(async () => (await deps.client.freshness()).weekly, null, WEEKLY_FRESH_MS, now);
  const certificates = new CachedReader(() => judgeCertificates(deps), [], CERTIFICATES_FRESH_MS, now);
  return new Hono().get('/', async (c) => {
    const counts = Object.entries(lanes).map(([name, gate]) => ({ name, ...gate.counts() }));
    const about = {
      uptimeMs: now() - startedAtMs,
      streams: deps.streams.counts().streams,
      ...(deps.audit === undefined ? {} : { audit: deps.audit.state() }),
      ...(deps.configState === undefined ? {} : { config: deps.configState() }),
    };
    const ofTemporal = [finders.read(), weekly.read(), open.read(), backlogs.read(), deps.readiness.read()] as const;
    const [seen, weeklyRatio, running, waiting, ready, held] = await Promise.all([...ofTemporal, certificates.read()]);
    const facts = { ...about, weekly: weeklyRatio, open: running, backlogs: waiting, ready, certificates: held };
    return c.text(metrics.text(counts, seen, facts), 200, METRICS_TYPE);
  });
}

/** Certificates that end soon, by the rule of `doctor`. */
async function judgeCertificates({ certificates, now }: ServerDeps) {
  const looks = (await certificates?.()) ?? [];
  return looks.map((look) => ({ use: look.use, isEnding: certificateState(look, now()).kind !== 'valid' }));
}
