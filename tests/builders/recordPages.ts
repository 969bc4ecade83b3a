import { AGENDA_DAYS, type PipelineAgenda } from '../../domain/agenda';
import { planAgenda } from '../../domain/calendar/agenda';
import type { AuditRecord } from '../../domain/audit/record';
import { DAY_MS } from '../../domain/milliseconds';
import { mapTexts } from '../../domain/plainText';
import { describeAccount } from '../../domain/sessions/account';
import type { Session } from '../../domain/sessions/session';
import { statsReport } from '../../domain/stats/report';
import { formatTime } from '../../domain/text';
import type { WhereRelease, WhereView } from '../../domain/where/view';
import type { Bug } from '../../features/bugs/domain/bug';
import { DEFAULT_FRESHNESS } from '../../features/freshness/domain/policy';
import { freshnessReport } from '../../features/freshness/domain/report';
import { renderBugPage, renderBugsPage } from '../../features/bugs/pages/bugs';
import { renderFreshnessPage, type FreshnessModel } from '../../features/freshness/pages/freshness';
import { renderAuditPage } from '../../pages/audit';
import { renderCalendarPage } from '../../pages/calendar';
import { renderConfigPage, renderConfigRepositoryPage } from '../../pages/config';
import { renderGatePage, renderGatesPage } from '../../pages/gates';
import { renderSettingsPage } from '../../pages/settings';
import { renderStatsPage } from '../../pages/stats';
import { renderConfigValuePage } from '../../pages/value';
import { renderWherePage } from '../../pages/where';
import type {
  AuditModel,
  CalendarModel,
  ConfigRepositoryModel,
  ConfigValueModel,
  GateModel,
  SettingsModel,
} from '../../pages/models';
import { newBug } from './bugs';
import { NOW } from './cliSamples';
import { FRAME, listed } from './pageWorld';
import { talliesOf } from './statsTallies';

/** Models of the pages that list records, plans and settings. */

export const SHA = '4f0c9b1d2e3a4b5c6d7e8f901234567890abcdef';
const at = (time: string): string => `2026-11-20T${time}.000Z`;

const WHERE_RELEASE: WhereRelease = {
  ...{ id: 'kvstore/13', pipeline: 'kvstore', number: 13, state: 'running', stage: 'deploying' },
  contains: { artifact: 'source@13', revision: SHA, by: 'revision' },
  ...{ startedAt: at('14:01:20'), endedAt: null, share: 0.375, by: null, knownBad: [], undone: null },
  deploys: [{ action: 'deploy', state: 'baking', outcome: null, phase: { n: 2, of: 3, name: 'half' }, share: 0.375 }],
  wait: { why: 'phase half bakes', until: at('14:04:52') },
  ...{ everywhereAt: at('15:30:00'), next: 'conveyor status kvstore/13/deploy' },
};

export const whereFound = (over: Partial<WhereView> = {}): WhereView => ({
  ...{ kind: 'where', asked: SHA.slice(0, 12), revision: SHA, candidates: [], total: 2, underWay: 1, succeeded: 1 },
  releases: [
    WHERE_RELEASE,
    {
      ...WHERE_RELEASE,
      ...{ id: 'shop/4', pipeline: 'shop', number: 4, state: 'succeeded', stage: 'everywhere', wait: null },
      ...{ contains: { artifact: 'kv@13', revision: SHA, by: 'ancestor' }, share: 1, everywhereAt: null, deploys: [] },
      ...{ endedAt: at('13:00:00'), next: 'conveyor status shop/4', problem: 'no worker polls for conveyor' },
    },
  ],
  searched: {
    retentionMs: 30 * DAY_MS,
    older: { count: 12, read: 10 },
    archive: { problem: null },
    repositories: [{ name: 'flags', problem: 'it does not answer' }],
  },
  ...over,
});

export const stats = (categories: readonly string[] = ['storage']) =>
  statsReport(
    // The tallies of categories side by side.
    categories.map(talliesOf).reduce((a, b) => ({
      ...(Object.fromEntries(
        Object.entries(a).map(([key, value]) => [
          key,
          Array.isArray(value)
            ? [...(value as unknown[]), ...(b[key as keyof typeof b] as unknown as unknown[])]
            : value,
        ]),
      ) as unknown as typeof a),
    })),
    { sinceMs: NOW - 21 * DAY_MS, untilMs: NOW, readUntilMs: NOW - 60_000, by: 'category' } as never,
  );

export const auditRecord = (n: number, over: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ seq: n, at: at('13:40:00'), server: 'server-1', prev: 'a'.repeat(64), hash: 'b'.repeat(64) },
  ...{
    actor: 'user:alice',
    door: 'api',
    operation: 'hold',
    target: 'kvstore',
    reason: 'the load balancer is replaced',
  },
  ...{ permitted: 'owners of kvstore', outcome: 'accepted', result: 'held', before: null, after: null },
  ...{ changes: [{ path: 'labels.team', from: '"a"', to: '"b"' }], omitted: 2 },
  ...over,
});

export const auditModel = (over: Partial<AuditModel> = {}): AuditModel => ({
  filters: { pipeline: '', actor: '', outcome: '', since: '' },
  records: [
    auditRecord(3, { outcome: 'refused', result: 'not-permitted: user:alice is not an owner', target: 'kvstore/13' }),
    auditRecord(2),
    auditRecord(1, { actor: null, door: 'server', operation: 'configure', outcome: 'unknown', target: '' }),
  ],
  ...{ next: '12,7', isLater: false },
  ...over,
});

export const foundBug = (): Bug =>
  newBug({
    search: {
      ...{ at: at('12:00:10'), problem: null, asked: 40, affected: 30, exposed: 2 },
      releases: [
        { release: 'kvstore/13', owners: ['group:storage'], artifact: 'kv@13', path: '//kv:server > //lib:rpc' },
      ],
      deployed: [{ release: 'shop/4', owners: ['user:bob'], artifact: 'shop@4', path: '//shop > //lib:rpc' }],
      ...{ unread: { count: 1, why: 'not JSON' }, namedOnly: 3 },
    },
  });

export const freshness = (count = 3) =>
  freshnessReport(
    Array.from({ length: count }, (_, n) =>
      listed(`service-${n}`, n % 4 === 3 ? {} : { deployedAt: formatTime(NOW - n * 30 * DAY_MS) }),
    ),
    DEFAULT_FRESHNESS,
    NOW,
  );

const SPEC: Parameters<typeof planAgenda>[0]['spec'] = {
  schedule: { mode: 'calendar', gates: 'deploys', calendar: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
  blackouts: [{ from: '2026-11-26', to: '2026-11-29', reason: 'the busiest days of the year' }],
  actions: {
    deploy: {
      type: 'deploy',
      window: { days: ['mon', 'tue', 'wed', 'thu'], from: '09:00', to: '17:00', timezone: 'UTC', onClose: 'pause' },
    },
    build: { type: 'build' },
  } as never,
};

export const agenda = (id = 'kvstore', over: Partial<Parameters<typeof planAgenda>[0]> = {}): PipelineAgenda =>
  planAgenda(
    { pipeline: { ...listed(id), state: 'active' }, spec: SPEC, spreadMs: 0, nowMs: NOW, ...over },
    { fromMs: Date.parse('2026-11-20T00:00:00Z'), toMs: Date.parse('2026-11-20T00:00:00Z') + AGENDA_DAYS * DAY_MS },
  );

export const calendarModel = (over: Partial<CalendarModel> = {}): CalendarModel => ({
  filters: { q: '', owner: '', label: '' },
  ...{ from: '2026-11-20T00:00:00.000Z', to: '2026-12-04T00:00:00.000Z' },
  agendas: [
    agenda(),
    agenda('frozen', {
      pipeline: {
        ...listed('frozen'),
        ...{ state: 'frozen', frozenUntil: '2026-11-22T06:00:00.000Z' },
        stopped: { actor: 'user:alice', at: at('13:40:00'), reason: 'the network is being replaced' },
      },
    }),
    { id: 'silent', spans: [], moments: [], isCut: false, problem: 'its file did not arrive in time' },
  ],
  ...{ next: 'bmV4dA', total: 30_000, isLater: false },
  kept: { at: at('13:57:00'), problem: 'no worker polls for conveyor' },
  ...over,
});

export const repositoryModel = (over: Partial<ConfigRepositoryModel> = {}): ConfigRepositoryModel => ({
  ...{ repository: 'flags', branch: 'main', limit: 20, q: '', releasesProblem: null },
  changes: [
    {
      ...{
        change: 12,
        commit: SHA,
        author: 'user:alice',
        at: at('13:00:00'),
        message: 'Halve the limit',
        landed: null,
      },
      ...{ where: 'releasing', release: 'flags/12' },
    },
    {
      ...{ change: 11, commit: SHA, author: 'user:bob', at: at('11:00:00'), message: 'Add the limit', landed: SHA },
      where: 'landed',
    },
  ],
  log: [{ commit: SHA, author: 'user:bob', at: at('11:00:00'), subject: 'Add the limit', change: 11 }],
  ...{ sources: ['feed/limits.json', 'feed/shared.ts', 'gates/checkout.json'], totalSources: 3 },
  ...over,
});

export const valueModel = (over: Partial<ConfigValueModel> = {}): ConfigValueModel => ({
  ...{ repository: 'flags', path: 'feed/limits', change: null, originsProblem: null },
  value: { commit: SHA, value: '{\n  "soft": 100\n}\n' },
  origins: {
    ...{ files: ['feed/limits.config.ts', 'feed/shared.ts'], contributesTo: [] },
    subscribers: {
      'feed/limits': {
        ...{ total: 20, committed: 17, overridden: 1, refused: 1, stale: 1, unverified: 0 },
        named: [
          {
            ...{ host: 'web-3', state: 'refused', version: 'v1', revision: `12@${SHA}`, commit: SHA },
            ...{ since: at('13:10:00'), refused: 'too low', loading: null },
          },
        ],
        exposed: [{ deploy: 'flags/12/deploy', revision: `12@${SHA}` }],
        signatures: { state: 'untrusted', faults: [{ what: 'the value', why: 'no signature' }], more: 1 },
      },
    },
  },
  host: {
    ...{ path: 'feed/limits', host: 'web-9', subscription: null, value: null, unknown: 'the store does not answer' },
    ...{ signatures: null, branch: { commit: SHA, value: '{ "soft": 100 }' } },
  },
  ...over,
});

export const GATE_TEXT = JSON.stringify({
  rules: [
    { name: 'developers', if: [{ restraint: 'id', in: ['alice', 'bob'] }], pass: 1 },
    {
      if: [
        { restraint: 'employee', not: true },
        { restraint: 'app-version', min: '3.2' },
      ],
      pass: 0.125,
    },
    { name: 'everybody', if: [], pass: 0.000001 },
  ],
});

export const gateModel = (over: Partial<GateModel> = {}): GateModel => {
  const { repository, origins, originsProblem } = valueModel();
  return { repository, origins, originsProblem, name: 'checkout', value: { commit: SHA, value: GATE_TEXT }, ...over };
};

export const SESSION: Session = {
  ...{ id: 's1', principal: 'user:alice', groups: ['sre'], proof: { kind: 'oidc', entry: 'e', refreshToken: null } },
  ...{ signedInAtMs: NOW - 3_600_000, confirmedAtMs: NOW - 60_000, untilMs: NOW + 3_600_000, after: null },
};

export const POLICY = {
  ...{ admins: ['group:sre'], pipelines: [{ names: ['kv*'], creators: ['user:bob'] }], services: [], uses: [] },
  ...{ bugs: ['user:alice'], scripts: [], protection: [] },
};

export const settingsModel = (over: Partial<SettingsModel> = {}): SettingsModel => ({
  account: describeAccount({ policy: POLICY as never, groups: { storage: ['user:alice'] } }, SESSION),
  token: { door: 'oidc', expiresAt: formatTime(NOW + 3_600_000) },
  reads: 'authenticated',
  settings: [
    {
      name: 'access',
      rows: [
        ['reads', 'authenticated'],
        ['tokens of', 'service:ci'],
      ],
    },
  ],
  why: null,
  ...over,
});

export const WHERE = { asked: '4f0c9b1d2e3a', found: whereFound() };
export const FRESHNESS: FreshnessModel = {
  ...{ report: freshness(100), total: 30_000, filters: { owner: '', state: '' }, from: 0 },
  kept: { at: at('13:58:00'), problem: null },
};
export const STATS = { filters: { since: '21d', by: 'category', category: '' }, report: stats() };
export const bugs = (count: number) => ({
  bugs: Array.from({ length: count }, () => foundBug()),
  ...{ total: count, state: '', from: 0 },
});
const SIGNED_IN = { ...FRAME, viewer: 'user:alice', csrf: 'token' };

export const MODELS = {
  where: WHERE,
  calendar: calendarModel(),
  stats: STATS,
  bugs: bugs(3),
  bug: foundBug(),
  freshness: FRESHNESS,
  audit: auditModel(),
  config: { repositories: [{ name: 'flags', branch: 'main' }] },
  repository: repositoryModel(),
  value: valueModel(),
  gates: {
    gates: [{ repository: 'flags', name: 'checkout', source: 'gates/checkout.json' }],
    unread: [{ repository: 'models', problem: 'it does not answer' }],
    hasRepository: true,
  },
  gate: gateModel(),
  settings: settingsModel(),
};
export type Models = typeof MODELS;

export const RENDERERS: { readonly [N in keyof Models]: (model: Models[N]) => string } = {
  where: (model) => renderWherePage(model, FRAME),
  calendar: (model) => renderCalendarPage(model, FRAME),
  stats: (model) => renderStatsPage(model, FRAME),
  bugs: (model) => renderBugsPage(model, FRAME),
  bug: (model) => renderBugPage(model, FRAME),
  freshness: (model) => renderFreshnessPage(model, FRAME),
  audit: (model) => renderAuditPage(model, FRAME),
  config: (model) => renderConfigPage(model, FRAME),
  repository: (model) => renderConfigRepositoryPage(model, FRAME),
  value: (model) => renderConfigValuePage(model, FRAME),
  gates: (model) => renderGatesPage(model, FRAME),
  gate: (model) => renderGatePage(model, FRAME),
  settings: (model) => renderSettingsPage(model, SIGNED_IN),
};
export const NAMES = Object.keys(MODELS) as (keyof Models)[];
export const render = <N extends keyof Models>(name: N, model: Models[N] = MODELS[name]): string =>
  RENDERERS[name](model);

/** Words on which a page decides, and times. */
const KEPT = /^[a-zA-Z-]{1,16}$|^\d{4}-\d\d-\d\dT|^[0-9a-f]{40}$/;

/** A page with this text behind each of its texts. */
export const renderSpoiled = (name: keyof Models, text: string): string =>
  RENDERERS[name](
    mapTexts<Models[typeof name]>(MODELS[name], (one) => (KEPT.test(one) ? one : `${one}${text}`)) as never,
  );

/** Text from right to left, wide characters, and a word without a place to break it. */
export const ODD_TEXT = ` שלום עולם ${'數據庫遷移'.repeat(8)} ${'unbreakable'.repeat(30)} مرحبا`;
