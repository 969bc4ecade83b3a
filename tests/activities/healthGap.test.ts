import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { watchHealth, type HealthReport, type HealthSeen, type HealthWatch } from '../../activities/healthWatch';
import { healthCheckSchema } from '../../domain/spec/health';

const MINUTE = 60_000;
const WATCH: HealthWatch = {
  targets: { selection: { snapshot: { units: [] }, parts: [] }, updatedBy: ['u'] },
  checks: [],
  skips: [],
  onUnhealthy: 'revert',
  baseline: { start: 0, end: 1 },
  lastUpdateAt: 0,
  until: null,
  stopAt: [],
  intervalMs: MINUTE,
  heartbeatTimeoutMs: 60_000,
  fold: null,
};

/** The results of evaluations at these minutes, each by another attempt or, after `anew`, by another watch of the deploy. */
async function verdicts(held: object, verdict: 'healthy' | 'unhealthy', minutes: readonly number[], anew = false) {
  const check = healthCheckSchema.parse({ name: 'errors', metric: 'm', threshold: { above: 0.5 }, ...held });
  const numbers = { observed: 1, reference: null, threshold: 0.5, samples: 3, tasks: 1, reason: 'it is 1' };
  let [seen, fold]: [HealthSeen | undefined, HealthWatch['fold']] = [undefined, null];
  const all: string[] = [];
  for (const [nth, minute] of minutes.entries()) {
    const now = 1_000 * MINUTE + minute * MINUTE;
    const environment = new MockActivityEnvironment({ attempt: nth + 1, heartbeatDetails: anew ? undefined : seen });
    environment.on('heartbeat', (details: HealthSeen) => (seen = details));
    const clock = { now: () => Promise.resolve(now), sleep: () => Promise.reject(new Error('a look never sleeps')) };
    const evidence = { name: 'errors', verdict, ...numbers, window: { start: now - 1, end: now } };
    const sources = {
      evaluate: async () => ({ units: [{ id: 'x', checks: [evidence] }], deploy: { checks: [] } }),
      unitsIn: async () => [],
    };
    const watch = { ...WATCH, checks: [check], ...(anew ? { fold, until: now } : {}) };
    const run = environment.run(() => watchHealth(clock, sources, watch)) as Promise<HealthReport>;
    const report = await run.catch((error: unknown) => {
      if (!(error instanceof ApplicationFailure) || seen === undefined) throw error;
      return seen;
    });
    fold = report.fold;
    all.push(report.verdict);
  }
  return all;
}

test.each([
  ['for: 5m', { for: '5m' }, 'unhealthy', [0, 1, 2, 3, 4, 5], 'unhealthy'],
  ['for: 5m, after three hours without an evaluation', { for: '5m' }, 'unhealthy', [0, 180], 'inconclusive'],
  ['for: 5m, five minutes after the gap', { for: '5m' }, 'unhealthy', [0, 180, 181, 182, 183, 184, 185], 'unhealthy'],
  ['for: 5m, where a look took a while longer', { for: '5m' }, 'unhealthy', [0, 2, 4, 5], 'unhealthy'],
  ['evaluations: 2', { for: { evaluations: 2 } }, 'unhealthy', [0, 1], 'unhealthy'],
  ['evaluations: 2, across a gap', { for: { evaluations: 2 } }, 'unhealthy', [0, 180], 'inconclusive'],
  ['passes: 2', { passes: 2 }, 'healthy', [0, 1], 'healthy'],
  ['passes: 2, across a gap', { passes: 2 }, 'healthy', [0, 180], 'inconclusive'],
  [
    '2 of the last 3 evaluations, across a gap',
    { for: { failures: 2, within: 3 } },
    'unhealthy',
    [0, 180],
    'unhealthy',
  ],
] as const)('a run of evaluations ends where there were none for long: %s', async (_, held, verdict, minutes, last) => {
  expect((await verdicts(held, verdict, minutes)).at(-1)).toBe(last);
  expect((await verdicts(held, verdict, minutes, true)).at(-1)).toBe(last);
});
