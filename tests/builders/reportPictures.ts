import { DAY_MS } from '../../domain/milliseconds';
import { statsReport } from '../../domain/stats/report';
import { renderChanges, renderCompiled, renderDiff, renderLog } from '../../render/config';
import type { View } from '../../render/paint';
import { renderPermission } from '../../render/permission';
import { renderPlan, type PlanReport } from '../../render/plan';
import { statsText } from '../../render/stats';
import { NOW } from './cliSamples';
import { talliesOf } from './statsTallies';

/** Pictures of reports and of configuration, in which everything that can be long is long. */

const REASON = '決済の遅延 in eu-west: the ledger answers after 2.4 s instead of 0.3 s, as the on-call of storage saw';
const at = (time: string): string => `2026-11-20T${time}.000Z`;

const plan: PlanReport = {
  ...{ pipeline: 'payments-ledger', action: 'deploy-europe', pattern: 'ramp by regions, then all at once' },
  soak: { for: 7_200_000, forMs: 7_200_000, action: 'deploy-staging-of-payments' } as never,
  expireAfterMs: 2 * DAY_MS,
  windows: [
    {
      days: ['mon', 'tue', 'wed', 'thu'],
      ...{ from: '09:00', to: '17:00', timezone: 'America/Argentina/Buenos_Aires', onClose: 'pause', maxDeploys: 2 },
    } as never,
  ],
  blackouts: [{ from: '2026-11-20', to: '2026-11-30', timezone: 'UTC', reason: REASON } as never],
  phases: ['first-host-of-europe', 'completion'].map((name, index) => ({
    ...{ index, name, scope: 'region:eu-west-with-a-long-name', amount: '1%', effectivePercent: 1.2345 },
    units: ['north', 'west', 'south', 'east', 'mid'].map((id) => ({ id: `payments-ledger-eu-${id}`, tasks: 1200 })),
    ...{ startsAt: at('15:00:00'), updatedAt: at('15:25:00'), bakedAt: '2026-11-23T15:25:00.000Z' },
  })),
  checks: [
    {
      name: 'latency-of-postings',
      rule: 'the mean of at least 20 samples over the last 10m is above 0.3 in 3 of 4 looks',
    },
  ],
  finishesAt: '2026-11-24T16:35:00.000Z',
  warnings: [{ code: 'no-whole-region', message: `no phase covers a whole region before the last one: ${REASON}` }],
  experience: {
    ...{ category: 'storage-services-of-payments', since: '2025-12-31T00:00:00.000Z' },
    times: { count: 4000, p50Ms: 600_000, p99Ms: 7_200_000 },
    ...{ stoppedGood: { count: 1, of: 2 }, missedBad: { count: 0, of: 2 }, late: { count: 3, of: 3 } },
  } as never,
};

const stats = statsReport(talliesOf('storage-services-of-payments'), {
  ...{ sinceMs: NOW - 365 * DAY_MS, untilMs: NOW, readUntilMs: NOW },
});

const problem = {
  code: 'config-value-refused',
  message: `payments/limits of payments/limits.config.ts is refused by softBelowHard of payments/limits.validate.ts: ${REASON}`,
  hint: 'fix the value in payments/limits.config.ts, or have the owner of the rule change it',
};

const commit = { commit: '8d1e6a0f3b52c4d7', author: 'user:alice-of-payments', at: at('14:00:00') };
const changes = [
  { ...commit, change: 12, message: REASON, landed: null, where: 'proposed' },
  { ...commit, change: 11, message: REASON, landed: null, where: 'paused', release: 'payments-limits/113' },
  { ...commit, change: 10, message: 'Limit feeds', landed: '297c6a0f3b52c4d7', where: 'landed' },
  {
    ...commit,
    change: 9,
    message: REASON,
    landed: null,
    where: 'given-up',
    release: 'payments-limits/9',
    why: 'failed',
  },
] as const;

const why = `pipelines of user:mallory may not deploy to twine/payments-ledger-eu-west: ${REASON}`;
const answer = { allowed: true, by: 'platform.services.0.owners', through: 'group:storage-on-call', why };
const rules = '/srv/conveyor/conveyor.config.yaml';

export const REPORTS: Readonly<Record<string, (view: View) => string>> = {
  plan: (view) => renderPlan(plan, view),
  stats: (view) => statsText(stats, view),
  'config compile': (view) =>
    renderCompiled(
      { values: [{ path: 'payments/limits', file: 'payments/limits.config.ts', text: '{}\n' }], problems: [problem] },
      view,
    ).join('\n'),
  'config status': (view) => renderChanges(changes, view).join('\n'),
  'config log': (view) => renderLog([{ ...commit, subject: REASON, change: 12 }], view).join('\n'),
  'config diff': (view) =>
    renderDiff(
      {
        ...{ files: ['payments/limits.config.ts'], deleted: ['payments/a-source-that-nobody-needs.config.ts'] },
        values: [{ path: 'payments/limits', before: '{\n  "soft": 10\n}', after: `{\n  "note": "${REASON}"\n}` }],
        problems: [problem],
      },
      view,
    ).join('\n'),
  'can, allowed': (view) => renderPermission({ ...answer, rules }, view),
  'can, refused': (view) => renderPermission({ ...answer, allowed: false, rules }, view),
};
