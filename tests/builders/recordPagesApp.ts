import type { PipelineSummary } from '../../domain/views';
import { DEFAULT_FRESHNESS } from '../../features/freshness/domain/policy';
import { freshnessReport } from '../../features/freshness/domain/report';
import { NOW } from './cliSamples';
import { listed, pageWorld } from './pageWorld';
import { auditRecord, foundBug, POLICY, whereFound } from './recordPages';
import { appOf, TOKEN } from './serverWorld';
import { talliesOf } from './statsTallies';

/** A server with that many pipelines, whose Temporal and archive answer at once. */
export function recordPagesApp(count: number) {
  const pipelines = Array.from({ length: count }, (_, n): PipelineSummary => listed(`service-${n}`));
  let nowMs = NOW;
  const world = pageWorld();
  const client = {
    ...world.client,
    where: () => Promise.resolve(whereFound()),
    listBugs: () => Promise.resolve(Array.from({ length: 100 }, foundBug)),
    freshness: () => Promise.resolve(freshnessReport(pipelines, DEFAULT_FRESHNESS, nowMs)),
    listPipelines: ({ limit }: { readonly limit: number }) => Promise.resolve(pipelines.slice(0, limit)),
    spec: () => Promise.resolve(SPEC as never),
  };
  const app = appOf(undefined, {
    ...world,
    ...{ client, now: () => nowMs, policy: { ...POLICY, admins: ['service:ci'] } as never },
    pipelinePage: ({ limit }) =>
      Promise.resolve({ pipelines: pipelines.slice(0, limit), next: 'bmV4dA', total: count }),
    archive: {
      mark: () => Promise.resolve(null),
      tallies: () => Promise.resolve(talliesOf('storage')),
      findReleases: () => Promise.resolve([]),
    },
    audit: {
      read: () => Promise.resolve({ records: Array.from({ length: 100 }, (_, n) => auditRecord(n)), next: null }),
    } as never,
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  return { app, headers, pass: (ms: number): void => void (nowMs += ms) };
}

const SPEC = {
  schedule: { mode: 'calendar', gates: 'deploys', calendar: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
  blackouts: [{ from: '12-24', to: '12-31', reason: 'the holidays' }],
  actions: {
    deploy: {
      type: 'deploy',
      window: { days: ['mon', 'tue', 'wed', 'thu'], from: '09:00', to: '17:00', timezone: 'UTC', onClose: 'pause' },
    },
  },
};
