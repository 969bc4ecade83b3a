import type {
  ActionView,
  ChildrenView,
  DeployStatus,
  PhaseView,
  PipelineStatus,
  ReleaseStatus,
} from '../../domain/views';

/** Statuses in the client's form, at 14:02:10 UTC of one November day. */
export const NOW = Date.parse('2026-11-20T14:02:10Z');

const at = (time: string): string => `2026-11-20T${time}.000Z`;

export function phase(over: Partial<PhaseView> = {}): PhaseView {
  return {
    index: 0,
    name: 'first',
    scope: 'region:x',
    amount: '3',
    state: 'waiting',
    units: [],
    startedAt: null,
    updatedAt: null,
    bakedAt: null,
    bakeUntil: null,
    skipped: null,
    ...over,
  };
}

export function deploy(over: Partial<DeployStatus> = {}): DeployStatus {
  return {
    id: 'kvstore/13/deploy',
    kind: 'deploy',
    state: 'baking',
    outcome: null,
    classification: null,
    version: 'kv:13',
    pushType: 'twine',
    attempt: 1,
    paused: null,
    startedAt: at('14:01:30'),
    endedAt: null,
    summary: 'phase first bakes',
    phases: [
      phase({
        state: 'running',
        units: [{ id: 'kvstore-x', targeted: 3, updated: 3, live: 3 }],
        startedAt: at('14:01:32'),
        updatedAt: at('14:01:50'),
        bakeUntil: at('14:02:52'),
      }),
      phase({ index: 1, name: 'completion', scope: '*', amount: '100%' }),
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
      },
    ],
    commands: [],
    timeline: [
      { at: at('14:01:32'), kind: 'phase-started', text: 'first: 3 tasks of kvstore-x' },
      { at: at('14:01:50'), kind: 'updates-done', text: 'first: 3 tasks live' },
    ],
    spans: {
      lockWaitMs: 0,
      windowWaitMs: 0,
      pausedMs: 0,
      dependencyWaitMs: 0,
      preMs: 0,
      updateMs: 18_000,
      bakeMs: 20_000,
      postMs: 0,
      revertMs: 0,
      overheadMs: 2000,
    },
    revert: null,
    next: ['conveyor pause kvstore/13/deploy --reason "…"'],
    webUi: 'http://localhost:8233/w',
    ...over,
  };
}

/** As `deploy`, after the check failed and everything was reverted. */
export function revertedDeploy(): DeployStatus {
  return deploy({
    state: 'ended',
    outcome: 'reverted',
    classification: 'good-failure',
    endedAt: at('14:02:08'),
    summary: 'errors of kvstore-x is unhealthy',
    phases: [
      phase({
        state: 'reverted',
        units: [{ id: 'kvstore-x', targeted: 3, updated: 0, live: 0 }],
        startedAt: at('14:01:32'),
        updatedAt: at('14:01:50'),
      }),
      phase({ index: 1, name: 'completion', scope: '*', amount: '100%' }),
    ],
    health: [
      {
        unit: 'kvstore-x',
        check: 'errors',
        verdict: 'unhealthy',
        observed: 0.2134,
        reference: null,
        threshold: 0.05,
        samples: 9,
        reason: 'the mean of 3 tasks is above the limit',
      },
    ],
    timeline: [{ at: at('14:02:01'), kind: 'reverting', text: 'errors of kvstore-x is unhealthy' }],
    revert: {
      by: 'health',
      reason: 'errors of kvstore-x is unhealthy',
      startedAt: at('14:02:01'),
      endedAt: at('14:02:08'),
      units: [{ id: 'kvstore-x', targeted: 3, updated: 3, live: 3, toVersion: 'kv:12' }],
    },
    next: [],
  });
}

export function action(over: Partial<ActionView> = {}): ActionView {
  return {
    name: 'build',
    type: 'build',
    state: 'succeeded',
    attempt: 1,
    blockedBy: null,
    until: null,
    startedAt: at('14:01:20'),
    endedAt: at('14:01:29'),
    deploy: null,
    needs: [],
    progress: null,
    pickBy: null,
    message: null,
    ...over,
  };
}

export function release(over: Partial<ReleaseStatus> = {}): ReleaseStatus {
  return {
    id: 'kvstore/13',
    kind: 'release',
    pipeline: 'kvstore',
    number: 13,
    state: 'running',
    cause: null,
    trigger: { kind: 'manual', actor: 'user:alice', key: null },
    startedAt: at('14:01:20'),
    endedAt: null,
    artifacts: [{ name: 'source', kind: 'source', version: '13', metadata: {} }],
    actions: [
      action(),
      action({
        name: 'deploy',
        type: 'deploy',
        state: 'running',
        startedAt: at('14:01:30'),
        endedAt: null,
        deploy: 'kvstore/13/deploy',
        needs: ['build'],
      }),
      action({ name: 'publish', type: 'pkg', state: 'waiting', startedAt: null, endedAt: null, needs: ['deploy'] }),
    ],
    commands: [],
    timeline: [{ at: at('14:01:20'), kind: 'started', text: 'by user:alice' }],
    webUi: 'http://localhost:8233/r',
    ...over,
  };
}

export function children(over: Partial<ChildrenView> = {}): ChildrenView {
  return {
    state: 'running',
    total: 300,
    waiting: 240,
    running: 50,
    succeeded: 8,
    failed: 1,
    cancelled: 1,
    notStarted: 0,
    failures: [
      { id: 'model-7/3', state: 'failed', reason: 'its deploy was reverted' },
      { id: 'model-9', state: 'refused', reason: 'it takes no artifact executable' },
    ],
    reason: null,
    commands: [],
    ...over,
  };
}

export function pipeline(over: Partial<PipelineStatus> = {}): PipelineStatus {
  return {
    id: 'kvstore',
    kind: 'pipeline',
    description: 'Sharded key-value store',
    owners: ['group:storage'],
    labels: {},
    state: 'active',
    active: [13],
    lastRelease: 13,
    held: null,
    frozen: null,
    schedule: { mode: 'continuous', gates: 'deploys', next: null },
    groups: [{ name: 'deploy', scope: 'pipeline', holder: null, waiting: [] }],
    waits: [],
    inputs: [],
    knownBad: [],
    lastGood: { deploy: { release: 12, version: 'kv:12' } },
    releases: [release()],
    commands: [],
    webUi: 'http://localhost:8233/p',
    ...over,
  };
}
