import { conveyorError } from '../../domain/errors';
import type { PipelinePage, PipelineSummary, ReleaseStatus } from '../../domain/views';
import type { DeployStatus, PipelineStatus, UnitCounts } from '../../domain/views';
import { PAGE_WIDTH, type Frame } from '../../pages/frame';
import type { FrontClient, ServerDeps } from '../../server/deps';
import { action, children, deploy, NOW, phase, pipeline, release, revertedDeploy } from './cliSamples';
import { FakePipelines } from './serverWorld';

/** Models of pages in all states that people meet, and a client that answers with them. */

export const FRAME: Frame = {
  view: { width: PAGE_WIDTH, color: false, now: NOW, timeZone: 'UTC' },
  ...{ viewer: null, csrf: null, signsIn: true },
  path: '/',
};

const at = (time: string): string => `2026-11-20T${time}.000Z`;

/** A release that ended well some time ago. */
export function succeeded(number: number): ReleaseStatus {
  const hour = String(2 + (number % 11)).padStart(2, '0');
  return release({
    ...{
      id: `kvstore/${number}`,
      number,
      state: 'succeeded',
      startedAt: at(`${hour}:10:00`),
      endedAt: at(`${hour}:31:20`),
    },
    artifacts: [
      { name: 'source', kind: 'source', version: String(number), metadata: {} },
      { name: 'executable', kind: 'executable', version: `kv:${number}`, metadata: {} },
    ],
    actions: [
      action({ startedAt: at(`${hour}:10:00`), endedAt: at(`${hour}:13:40`) }),
      action({
        name: 'load-test',
        type: 'perf-test',
        needs: ['build'],
        startedAt: at(`${hour}:13:40`),
        endedAt: at(`${hour}:19:00`),
      }),
      action({
        name: 'deploy',
        type: 'deploy',
        needs: ['build', 'load-test'],
        deploy: `kvstore/${number}/deploy`,
        startedAt: at(`${hour}:21:00`),
        endedAt: at(`${hour}:31:20`),
      }),
    ],
  });
}

/** The release under way: built, tested, its deploy bakes, and an approval and a report are still to come. */
export const baking = (): ReleaseStatus =>
  release({
    artifacts: [
      {
        ...{ name: 'source', kind: 'source', version: '13', metadata: { branch: 'main', author: 'alice' } },
        builtFrom: { repository: 'acme/kvstore', revision: '4f0c9b1d2e3a4b5c6d7e8f901234567890abcdef' },
      },
      {
        ...{ name: 'executable', kind: 'executable', version: 'kv:13', metadata: {}, producedBy: 'build' },
        ...{
          digest: 'sha256:0f343b0931126a20f133d67c2b018a3b5f1c1d2e3f405162738495a6b7c8d9e0',
          uri: 'https://registry.example.com/kv:13',
        },
      },
    ],
    actions: [
      action({ message: '212 targets, 31 of them rebuilt', url: 'https://builds.example.com/4711' }),
      action({
        name: 'unit-test',
        type: 'integr-test',
        needs: ['build'],
        attempt: 2,
        attempts: 3,
        startedAt: at('14:01:24'),
        endedAt: at('14:01:30'),
      }),
      action({
        name: 'load-test',
        type: 'perf-test',
        needs: ['build'],
        startedAt: at('14:01:24'),
        endedAt: at('14:01:28'),
      }),
      action({
        name: 'deploy',
        type: 'deploy',
        state: 'running',
        startedAt: at('14:01:30'),
        endedAt: null,
        deploy: 'kvstore/13/deploy',
        needs: ['unit-test', 'load-test'],
      }),
      action({
        name: 'approve',
        type: 'manual-pick',
        accepts: { pick: 'the decision is recorded, and the release follows it' },
        state: 'blocked',
        startedAt: null,
        endedAt: null,
        needs: ['unit-test'],
        pickBy: ['group:sre'],
        until: at('18:00:00'),
      }),
      action({
        name: 'deploy-eu',
        type: 'deploy',
        state: 'waiting',
        startedAt: null,
        endedAt: null,
        needs: ['deploy', 'approve'],
      }),
      action({
        name: 'report',
        type: 'custom-script',
        state: 'waiting',
        startedAt: null,
        endedAt: null,
        needs: ['deploy-eu'],
      }),
    ],
    accepts: {
      pause: 'no further action starts, and running deploys pause',
      cancel: 'running actions are cancelled and nothing else starts',
      revert: 'its running deploys are reverted, a rollback undoes those that succeeded, and nothing else starts',
    },
    timeline: [
      { at: at('14:01:20'), kind: 'started', text: 'by user:alice' },
      { at: at('14:01:29'), kind: 'action-succeeded', text: 'build' },
      { at: at('14:01:30'), kind: 'action-started', text: 'deploy' },
    ],
  });

export const running = (): DeployStatus =>
  deploy({
    accepts: {
      pause: 'no further updates start; health checks continue and can still revert it, unless --no-revert was given',
      cancel: 'it stops; tasks already updated stay on the new version',
      revert: 'every task that it updated returns to its previous version',
      'skip-phase': 'the remaining updates of phase half are cancelled; the next phase covers them',
      'skip-bake': 'phase half continues without baking',
      'skip-health-check': 'the verdict of the check is shown, but does not count',
    },
    summary: 'phase half bakes until 2026-11-20T14:04:52.000Z: errors and latency are within their limits',
    phases: [
      phase({
        state: 'succeeded',
        name: 'canary',
        amount: '1',
        units: [{ id: 'kvstore-x', targeted: 1, updated: 1, live: 1 }],
        startedAt: at('14:01:32'),
        updatedAt: at('14:01:36'),
        bakedAt: at('14:01:44'),
      }),
      phase({
        index: 1,
        state: 'running',
        name: 'half',
        amount: '50%',
        units: [
          { id: 'kvstore-x', targeted: 3, updated: 3, live: 3 },
          { id: 'kvstore-y', targeted: 3, updated: 3, live: 2 },
        ],
        startedAt: at('14:01:44'),
        updatedAt: at('14:01:50'),
        bakeUntil: at('14:04:52'),
      }),
      phase({ index: 2, name: 'completion', scope: '*', amount: '100%' }),
    ],
    health: [
      {
        unit: 'kvstore-x',
        check: 'errors',
        verdict: 'healthy',
        observed: 0.0123,
        reference: null,
        threshold: 0.05,
        samples: 18,
        reason: 'the mean of 3 tasks is under the limit',
        recent: [0.011, 0.014, 0.02, 0.031, 0.024, 0.012],
      },
      {
        unit: 'kvstore-y',
        check: 'latency',
        verdict: 'inconclusive',
        observed: 41.2,
        reference: 38,
        threshold: 50,
        samples: 4,
        reason: 'only 4 of 10 samples are there',
        recent: [38, 44, 47, 41.2],
      },
    ],
    commands: [
      {
        at: at('14:01:40'),
        verb: 'pause',
        actor: 'user:bob',
        reason: 'lunch',
        accepted: false,
        rejection: 'user:bob is not an owner',
      },
    ],
  });

export const busyPipeline = (): PipelineStatus =>
  pipeline({
    labels: { team: 'storage', tier: '1' },
    inputs: [{ name: 'source', kind: 'source', version: '14', metadata: {} }],
    accepts: {
      unhold: 'deploys start again',
      freeze: 'nothing starts, and running deploys pause before their next phase; reverts continue',
      'allow-artifact': 'it may be deployed again',
      undeploy: 'its units are removed once no other pipeline uses its offers',
    },
    schedule: { mode: 'calendar', gates: 'deploys', next: at('18:00:00'), timezone: 'Europe/Berlin' },
    held: { actor: 'user:alice', at: at('13:40:00'), reason: 'the load balancer is being replaced' },
    state: 'held',
    groups: [{ name: 'deploy', scope: 'pipeline', holder: 13, waiting: [14] }],
    waits: [{ release: 14, action: 'deploy', why: 'release 13 deploys', until: null }],
    knownBad: [
      {
        artifact: 'executable@kv:11',
        at: at('09:00:00'),
        reason: 'kvstore/11 was reverted: errors is 0.2006, above the limit of 0.05',
      },
    ],
    behind: [
      {
        action: 'deploy',
        units: ['kvstore-z'],
        version: 'kv:12',
        release: 12,
        bring: 'conveyor release kvstore --artifact executable=kv:12',
      },
    ],
    finders: [
      {
        id: 'commits',
        kind: 'finder',
        state: 'answers',
        answeredAt: at('14:02:05'),
        since: null,
        reason: null,
        nextAt: at('14:02:15'),
        refused: [],
      },
      {
        id: 'latest-build',
        kind: 'finder',
        state: 'failing',
        answeredAt: at('13:02:05'),
        since: at('13:10:00'),
        reason: 'it answered 503',
        nextAt: at('14:03:00'),
        refused: [],
      },
    ],
    offers: [
      {
        ...{ name: 'endpoint', version: '2.1.0', state: 'broken', seq: 4, since: at('10:00:00'), release: 12 },
        users: [{ user: 'shop/deploy', behind: false, risk: 'wishes for ^1' }],
      },
    ],
    brokenUses: [
      {
        action: 'deploy',
        release: 12,
        from: 'network',
        offer: 'vpc',
        why: 'deploy of release 12 uses vpc of network, which wishes for ^3',
      },
    ],
    releases: [
      ...[6, 7, 8, 9, 10, 12].map(succeeded),
      { ...succeeded(11), state: 'failed', undone: { by: 'kvstore/12', at: at('09:10:00') } },
      release(),
    ],
    commands: [
      {
        at: at('13:40:00'),
        verb: 'hold',
        actor: 'user:alice',
        reason: 'the load balancer is being replaced',
        accepted: true,
      },
    ],
  });

export const listed = (id: string, over: Partial<PipelineSummary> = {}): PipelineSummary => ({
  ...{ id, kind: 'pipeline', description: `The service ${id}`, owners: ['group:storage'], labels: { team: 'storage' } },
  ...{ state: 'active', active: [], lastRelease: 12, deployedAt: at('09:00:00') },
  outcomes: [
    'succeeded',
    'succeeded',
    'failed',
    'succeeded',
    'reverted',
    'succeeded',
    'cancelled',
    'succeeded',
    'succeeded',
  ],
  ...over,
});

/** As many phases and units as a deploy may have. */
export function hugeDeploy(): DeployStatus {
  const units: UnitCounts[] = Array.from({ length: 50 }, (_, n) => ({
    id: `job-${n}`,
    targeted: 20,
    updated: n,
    live: Math.min(20, n),
  }));
  return deploy({
    ...{ id: 'huge/1/deploy', summary: 'phase 20 updates' },
    phases: Array.from({ length: 43 }, (_, index) =>
      phase({
        ...{ index, name: `phase-${index}`, scope: 'region:eu-west', amount: `${index + 1}%` },
        ...(index > 20 ? {} : { state: index === 20 ? 'running' : 'succeeded', startedAt: at('14:01:44') }),
        ...(index === 20 ? { units, totals: { units: 10_000, targeted: 200_000, updated: 90_000, live: 81_234 } } : {}),
      }),
    ),
    health: Array.from({ length: 200 }, (_, n) => ({
      ...{ unit: `job-${n}`, check: 'errors', verdict: n < 3 ? ('unhealthy' as const) : ('healthy' as const) },
      ...{ observed: 0.1, reference: null, threshold: 0.05, samples: 10, reason: `errors of job-${n} is 0.1` },
    })),
    timeline: Array.from({ length: 400 }, (_, n) => ({
      at: at('14:01:50'),
      kind: 'updates-done',
      text: `phase ${n % 20}: ${n} tasks live`,
    })),
  });
}

/** As many actions as a pipeline may have. */
export const wideRelease = (): ReleaseStatus =>
  release({
    ...{ id: 'wide/1', pipeline: 'wide', number: 1 },
    actions: Array.from({ length: 64 }, (_, n) =>
      action({
        ...{
          name: `action-${n}`,
          type: n % 3 === 0 ? 'build' : 'integr-test',
          state: n < 30 ? 'succeeded' : 'waiting',
        },
        ...(n < 30 ? {} : { startedAt: null, endedAt: null }),
        needs: n === 0 ? [] : n < 9 ? ['action-0'] : [`action-${n - 8}`, `action-${Math.max(0, n - 11)}`],
      }),
    ),
  });

/** A long reason, text from right to left, wide characters, and a word without a place to break it. */
const LONG_REASON = `${'The error budget of this quarter is spent, and the team wants to look first. '.repeat(65)}End.`;
const MIXED = `שלום עולם ${'數據庫遷移'.repeat(8)} ${'unbreakable'.repeat(30)} مرحبا`;

export const oddRelease = (): ReleaseStatus =>
  release({
    ...{ id: 'odd/2', pipeline: 'odd', number: 2, state: 'failed', endedAt: at('14:02:00') },
    trigger: { kind: 'emergency', actor: 'user:δοκιμή', key: null, reason: LONG_REASON },
    actions: [
      action({ name: 'build', message: MIXED, state: 'failed' }),
      action({
        name: 'deploy',
        type: 'deploy',
        needs: ['build'],
        state: 'skipped',
        startedAt: null,
        endedAt: null,
        blockedBy: LONG_REASON,
      }),
    ],
    artifacts: [{ name: 'source', kind: 'source', version: MIXED, metadata: { note: LONG_REASON } }],
    timeline: [{ at: at('14:01:20'), kind: 'failed', text: `${MIXED} ${LONG_REASON}` }],
    children: children({ state: 'failed', reason: LONG_REASON }),
  });

const STATUSES = (): readonly (PipelineStatus | ReleaseStatus | DeployStatus)[] => [
  busyPipeline(),
  baking(),
  running(),
  ...[6, 7, 8, 9, 10, 12].map(succeeded),
  { ...succeeded(11), state: 'failed' as const },
  { ...revertedDeploy(), id: 'kvstore/11/deploy' },
  ...[pipeline({ id: 'fresh', active: [], lastRelease: null, lastGood: {}, releases: [] })],
  ...[pipeline({ id: 'wide', releases: [wideRelease()] }), wideRelease()],
  ...[pipeline({ id: 'odd', description: MIXED, releases: [oddRelease()] }), oddRelease()],
  ...[release({ id: 'huge/1', pipeline: 'huge', number: 1 }), hugeDeploy()],
  ...[{ ...release({ id: 'kvstore/14', number: 14, state: 'queued' }), actions: [] }],
];

export const PAGE_OF_PIPELINES: PipelinePage = {
  pipelines: [
    listed('kvstore', {
      active: [13, 14],
      state: 'held',
      stopped: { actor: 'user:alice', at: at('13:40:00'), reason: 'the load balancer is being replaced' },
    }),
    listed('fresh', { outcomes: [], lastRelease: null, description: '' }),
    listed('odd', {
      description: MIXED,
      labels: { note: MIXED },
      problem: 'no worker polls for conveyor; conveyor worker starts one',
    }),
    ...Array.from({ length: 17 }, (_, n) => listed(`service-${n}`, { active: n % 4 === 0 ? [n] : [] })),
  ],
  next: 'bmV4dA',
  total: 30_000,
};

/** The dependencies of a server whose pipelines are these. */
export function pageWorld(over: Partial<FrontClient> = {}): Partial<ServerDeps> & { readonly client: FrontClient } {
  const statuses = new Map(STATUSES().map((status) => [status.id, status]));
  const states: Readonly<Record<string, readonly ReleaseStatus[]>> = {
    running: [baking(), wideRelease()],
    queued: [release({ id: 'kvstore/14', number: 14, state: 'queued', actions: [] })],
    failed: [oddRelease()],
  };
  const client: FrontClient = {
    ...new FakePipelines().client,
    status: (id) => {
      const found = statuses.get(id);
      const code = id.includes('/') ? (id.split('/').length > 2 ? 'unknown-deploy' : 'unknown-release') : undefined;
      if (found !== undefined) return Promise.resolve(found);
      return Promise.reject(
        code === undefined ? conveyorError('unknown-pipeline', { pipeline: id }) : conveyorError(code, { id }),
      );
    },
    listReleases: ({ state = '' }) => Promise.resolve([...(states[state] ?? [])]),
    listPipelines: ({ state }) =>
      Promise.resolve(PAGE_OF_PIPELINES.pipelines.filter((one) => state === undefined || one.state === state)),
    spec: () => Promise.reject(conveyorError('no-worker', { id: 'kvstore' })),
    ...over,
  };
  return { client, pipelinePage: () => Promise.resolve(PAGE_OF_PIPELINES), now: () => NOW };
}
