import type { ConveyorClient } from '../../client/api';
import { auditTable, verificationText } from '../../render/audit';
import { bugTable, bugText } from '../../features/bugs/render/bugs';
import { renderDeploy } from '../../render/deploy';
import { finderTable } from '../../render/finders';
import { freshnessText } from '../../features/freshness/render/freshness';
import { deployTable, historyTable, pipelineTable, releaseTable } from '../../render/lists';
import type { View } from '../../render/paint';
import { renderOfferList, renderPipelineOffers, renderWishChecks } from '../../render/offers';
import { renderPipeline } from '../../render/pipeline';
import { renderRelease } from '../../render/release';
import { renderSubscribers } from '../../render/subscribers';
import { renderHistorySummary, summarizeHistory } from '../../render/summary';
import { webUiLinks } from '../../cli/demo/summary';
import { auditEntry, type AuditRecord } from '../../domain/audit/record';
import type { Bug } from '../../features/bugs/domain/bug';
import type { FreshnessReport } from '../../features/freshness/domain/report';
import type { ChainVerification } from '../../settings/audit/files';
import type {
  DeployStatus,
  FinderView,
  HistoryRow,
  OfferList,
  Pause,
  PipelineOffers,
  PipelineStatus,
  ReleaseStatus,
  WishCheck,
} from '../../domain/views';
import { action, children, deploy, phase, pipeline, release, revertedDeploy } from './cliSamples';

/** Rich states, in which everything that can be long is long, and their output for people. */

const at = (time: string): string => `2026-11-20T${time}.000Z`;

/** As long as with the namespaces and ids of real installations. */
const WEB_UI =
  'https://temporal.example/namespaces/conveyor-production/workflows/release%2Fpayments-ledger%2F113/history?runId=01981f7c';

const REASON =
  '決済の遅延 in eu-west: the ledger answers after 2.4 s instead of 0.3 s, as the on-call of storage saw first';

const paused: Pause = { by: 'operator', actor: 'user:alice', at: at('14:00:00'), reason: REASON };

const LONG_ID = 'payments-ledger/113';

const longDeploy: DeployStatus = deploy({
  id: `${LONG_ID}/deploy-europe`,
  version: 'registry.example/payments/ledger:2026.11.20-rc.3',
  paused,
  webUi: WEB_UI,
  summary: 'baking phase first (1 of 2) until 2026-11-20T14:02:52.000Z',
  health: [
    {
      ...{ unit: 'ledger-eu-west', check: 'latency-of-postings', verdict: 'inconclusive', samples: 1 },
      ...{ observed: null, reference: null, threshold: 0.3 },
      reason: 'only 1 of the 20 samples that it needs came from the tasks that were updated in the last ten minutes',
    },
    {
      ...{ unit: 'ledger-eu-north', check: 'errors', verdict: 'unhealthy', samples: 9 },
      ...{ observed: 0.2134, reference: null, threshold: 0.05 },
      reason: `the mean of 3 tasks is above the limit: ${REASON}`,
    },
  ],
  timeline: [
    { at: at('14:01:32'), kind: 'phase-started', text: 'first: 1 task of ledger-eu-west' },
    { at: at('14:01:50'), kind: 'paused', text: `by user:alice: ${REASON}` },
  ],
  phases: [
    phase({
      state: 'running',
      units: [{ id: 'ledger-eu-west', targeted: 1, updated: 1, live: 1 }],
      startedAt: at('14:01:32'),
      updatedAt: at('14:01:50'),
      bakeUntil: at('14:02:52'),
    }),
    phase({ index: 1, name: 'completion', scope: '*', amount: '100%' }),
  ],
});

const longRelease: ReleaseStatus = release({
  id: LONG_ID,
  pipeline: 'payments-ledger',
  number: 113,
  webUi: WEB_UI,
  trigger: { kind: 'rollback', actor: 'user:alice', key: null, of: 112, reason: REASON },
  artifacts: [
    { name: 'executable', kind: 'executable', version: 'registry.example/payments/ledger:2026.11.20', metadata: {} },
    { name: 'migrations', kind: 'executable', version: '決済:7', metadata: {} },
  ],
  actions: [
    action({ message: `3 of 4 shards: ${REASON}`, state: 'failed', url: 'https://ci.example/builds/4711' }),
    action({
      ...{ name: 'deploy-europe', type: 'deploy', state: 'running', endedAt: null },
      deploy: longDeploy.id,
    }),
    action({
      ...{ name: 'deploy-america', type: 'deploy', state: 'blocked', startedAt: null, endedAt: null },
      ...{ blockedBy: 'waiting for its window to open at 2026-11-20T18:00:00.000Z', until: at('18:00:00') },
    }),
  ],
  children: children({ total: 1, failed: 1, failures: [{ id: 'model-7/3', state: 'failed', reason: REASON }] }),
  pausedDeploy: { ...paused, id: longDeploy.id },
});

const PROBLEM = 'no worker polls its task queue conveyor-production-of-payments (last poll: 2026-11-20T13:59:56.000Z)';

const longPipeline: PipelineStatus = pipeline({
  id: 'payments-ledger',
  description: `台帳 — ${REASON}`,
  owners: ['group:payments-and-settlement', 'user:alice', 'group:storage-on-call'],
  active: [112, 113],
  held: { actor: 'user:eve', at: at('14:00:10'), reason: REASON },
  state: 'frozen',
  frozen: { actor: 'user:eve', at: at('14:00:10'), reason: REASON, until: at('16:02:20') },
  frozenUntil: at('16:02:20'),
  waits: [{ release: 113, action: 'deploy-america', why: `waiting for ${REASON}`, until: at('18:00:00') }],
  knownBad: [{ artifact: 'executable@registry.example/payments/ledger:1', at: at('13:00:00'), reason: REASON }],
  releases: [longRelease, release({ number: 12 })],
  webUi: WEB_UI,
  webUiList: `${WEB_UI}&query=WorkflowId%20STARTS_WITH%20%22release%2Fpayments-ledger%22`,
});

const history: readonly HistoryRow[] = [
  {
    ...longRelease,
    state: 'failed',
    cause: 'superseded',
    causedBy: 114,
    endedAt: at('14:02:00'),
    durationMs: 40_000,
    deploys: [
      {
        ...{ action: 'deploy-europe', outcome: 'reverted', classification: 'good-failure' },
        version: longDeploy.version,
      },
    ],
  },
  { ...release(), startedAt: '2026-11-12T09:00:00.000Z', durationMs: null, deploys: [] },
];

const finder: FinderView = {
  ...{
    id: 'commits-of-payments',
    kind: 'finder',
    state: 'failing',
    answeredAt: at('13:50:00'),
    nextAt: at('14:03:00'),
  },
  ...{ since: at('13:51:00'), reason: `connect ECONNREFUSED: ${REASON}`, refused: [] },
};

const bug: Bug = {
  ...{ id: 'bug/7', target: 'executable@registry.example/payments/ledger', from: '2026.11.1', to: null },
  ...{ reason: REASON, reportedBy: 'user:alice', at: at('14:00:00'), closed: null },
  search: {
    ...{ at: at('14:00:01'), problem: null, asked: 12, affected: 1, exposed: 1, deployed: [] },
    releases: [{ release: LONG_ID, owners: ['group:payments'], artifact: 'executable@1', path: 'its SBOM' }] as never,
  },
};

const records: readonly AuditRecord[] = [
  {
    ...auditEntry({
      ...{ actor: 'user:alice', door: 'server', operation: 'pause', target: longDeploy.id, outcome: 'accepted' },
      ...{ reason: REASON, result: `paused ${longDeploy.id}` },
    } as never),
    ...{ seq: 1, at: at('14:00:00'), server: 'eu', prev: '', hash: '9f86' },
  },
];

const freshness: FreshnessReport = {
  at: at('14:00:00'),
  weekly: 0.5,
  tickets: {
    ...{ at: at('03:00:00'), problem: null, open: 1, late: 1, refused: 0, said: [REASON], unticketed: 1 },
  },
  pipelines: [
    {
      ...{ id: 'payments-ledger', kind: 'pipeline', state: 'stale', traffic: 'high', because: 'frozen' },
      ...{ owners: longPipeline.owners, deployedAt: '2026-11-01T14:00:00.000Z', days: 19, dueAt: at('18:00:00') },
      ticket: { name: 'PAY-4711', state: 'open' },
    },
  ],
};

const pipelineOffers: PipelineOffers = {
  ...{ id: 'payments-network', kind: 'offers' },
  offers: [
    {
      ...{ name: 'address-of-the-ledger', version: '2026.11.20-rc.3', state: 'made', seq: 4 },
      ...{ since: at('13:00:00'), release: 113, action: 'deploy-europe', to: ['payments-*', 'shop-europe'] },
      value: { address: 'ledger.payments.eu-west.example:8443', authority: 'payments-authority-2026' },
      users: [
        {
          ...{ user: 'payments-settlement/deploy-europe', behind: true },
          pins: [
            { release: 1, seq: 3, range: '^2026.11', parts: ['address', 'authority'], behind: true },
            { release: 2, seq: 4, range: null, parts: [''], behind: false },
          ],
        },
      ],
    },
    {
      ...{ name: 'dns', version: null, state: 'unmade', seq: null, since: null, release: null, action: null },
      ...{ value: null, to: ['*'], users: [] },
    },
  ],
  changes: [{ release: 114, action: 'deploy-europe', offers: ['address-of-the-ledger'] }],
};

const offerList: OfferList = {
  offers: pipelineOffers.offers.slice(0, 1).map(({ name, version, to }) => ({
    ...{ id: `${pipelineOffers.id}/${name}`, kind: 'offer', pipeline: pipelineOffers.id, name, version, to },
    ...{ state: 'withdrawing', since: at('13:00:00'), release: 113, users: 1 },
  })),
  ...{ more: 1, unasked: 1, unread: [{ id: 'shop-network', problem: PROBLEM }] },
};

const wishCheck: WishCheck = {
  ...{ pipeline: 'payments-settlement', from: 'payments-network', offer: 'address-of-the-ledger', range: '^2026.12' },
  ...{ parts: ['address'], verdict: 'does-not-fit', allowed: false },
  why: 'payments-network offers address-of-the-ledger 2026.11.20-rc.3, but the wish is for ^2026.12',
};

/** One line per row, and sentences about single rows below. */
export const LISTS: Readonly<
  Record<string, { readonly ids: readonly string[]; draw(view: View, wide?: boolean): string }>
> = {
  'list pipelines': {
    ids: ['payments-ledger', 'kvstore'],
    draw: (view, wide) => pipelineTable([{ ...longPipeline, problem: PROBLEM }, pipeline()], view, wide),
  },
  'list releases': {
    ids: [LONG_ID, 'kvstore/13'],
    draw: (view, wide) => releaseTable([{ ...longRelease, problem: PROBLEM }, release()], view, wide),
  },
  'list deploys': {
    ids: [longDeploy.id, 'kvstore/13/deploy'],
    draw: (view, wide) => deployTable([{ ...longDeploy, problem: PROBLEM }, revertedDeploy()], view, wide),
  },
  history: { ids: [LONG_ID, 'kvstore/13'], draw: (view, wide) => historyTable(history, view, wide) },
  'list finders': { ids: [finder.id], draw: (view, wide) => finderTable([finder], view, wide) },
  'offers list': {
    ids: ['payments-network/address-of-the-ledger'],
    draw: (view, wide) => renderOfferList(offerList, view, wide ?? false),
  },
  'bugs list': { ids: ['bug/7'], draw: (view, wide) => bugTable([bug], view, wide) },
  audit: { ids: ['2m 10s ago'], draw: (view, wide) => auditTable(records, view, wide ?? false) },
  freshness: { ids: ['payments-ledger'], draw: (view, wide) => freshnessText(freshness, 1, view, wide) },
};

const chain: ChainVerification = {
  ...{ chain: 'changes', records: 1, last: { seq: 1, hash: '9f86' }, hasEnds: true, broken: null },
} as ChainVerification;

const subscribers = {
  'feed/limits': { total: 1, committed: 0, overridden: 0, refused: 1, stale: 0, named: [], exposed: [] },
};

const summary = summarizeHistory('payments-ledger', history.slice(0, 1));

export const STATUSES: Readonly<Record<string, (view: View) => string>> = {
  'status of a pipeline': (view) => renderPipeline(longPipeline, view),
  'status of a release': (view) => renderRelease(longRelease, [longDeploy], view),
  'status of a deploy': (view) => renderDeploy(longDeploy, view),
  'status of a reverted deploy': (view) => renderDeploy(revertedDeploy(), view),
  'offers show': (view) => renderPipelineOffers(pipelineOffers, view),
  'offers check': (view) => renderWishChecks([wishCheck, { ...wishCheck, verdict: 'fits', why: null }], view),
  'bugs show': (view) => bugText(bug, view),
  'audit --verify': (view) => verificationText([chain], view),
  'config why': (view) => renderSubscribers(subscribers as never, view).join('\n'),
  'history --summary': (view) => renderHistorySummary(summary, view),
  'the links of the demo': (view) => webUiLinks({ releases: [longRelease], deploys: [longDeploy] }, view).join('\n'),
};

/** A client that returns them. */
export const RICH_CLIENT: Partial<ConveyorClient> = {
  status: (id) =>
    Promise.resolve(id === longPipeline.id ? longPipeline : id === LONG_ID ? longRelease : { ...longDeploy, id }),
  listPipelines: () => Promise.resolve([{ ...longPipeline, problem: PROBLEM }]),
  listReleases: () => Promise.resolve([{ ...longRelease, problem: PROBLEM }]),
  listDeploys: () => Promise.resolve([{ ...longDeploy, problem: PROBLEM }]),
  listFinders: () => Promise.resolve([finder]),
  listOffers: () => Promise.resolve(offerList),
  offers: () => Promise.resolve(pipelineOffers),
  listBugs: () => Promise.resolve([bug]),
  history: () => Promise.resolve([...history]),
  freshness: () => Promise.resolve(freshness),
};

/** Commands that show them. */
export const RICH_COMMANDS: readonly string[] = [
  ...[longPipeline, longRelease, longDeploy].map(({ id }) => `status ${id}`),
  ...['pipelines', 'releases', 'deploys', 'finders'].map((kind) => `list ${kind}`),
  ...[
    'offers list',
    `offers show ${pipelineOffers.id}`,
    'bugs list',
    'bugs show bug/7',
    'freshness',
    `history ${longPipeline.id}`,
    `history ${longPipeline.id} --summary`,
  ],
];

export const RICH = { release: longRelease, deploy: longDeploy } as const;
