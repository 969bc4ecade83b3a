import type { ActionView, DeploySummary, HistoryRow, ReleaseStatus, ReleaseSummary } from '../../../domain/views';
import { toWhereRelease, type PipelineFacts, type WhereFacts } from '../../../domain/where/release';
import { deploy, release } from '../../builders/cliSamples';

const { actions: _actions, commands: _commands, timeline: _timeline, webUi: _webUi, ...SUMMARY } = release();
const ID = 'kvstore/13';
const contains = { artifact: 'executable@kv:13', by: 'revision', revision: '4f0c1d2e9b' } as const;
const ARTIFACT = { name: 'executable', kind: 'executable', version: 'kv:13', metadata: {} };

const summary = (more: Partial<ReleaseSummary> = {}): ReleaseSummary => ({
  ...{ ...SUMMARY, id: ID, pipeline: 'kvstore', number: 13, state: 'running', cause: null, endedAt: null },
  ...{ artifacts: [ARTIFACT], ...more },
});
const ended = (state: ReleaseSummary['state'], more: Partial<ReleaseSummary> = {}): ReleaseSummary =>
  summary({ state, endedAt: '2026-11-20T14:10:00.000Z', ...more });
const action = (name: string, type: string, more: Partial<ActionView> = {}): ActionView => ({
  ...{ name, type, state: 'waiting', attempt: 1, blockedBy: null, until: null, startedAt: null, endedAt: null },
  ...{ deploy: null, needs: [], progress: null, message: null, pickBy: null, ...more },
});
const status = (...actions: readonly ActionView[]): ReleaseStatus => ({ ...release(), ...summary(), actions });
const deploySummary = (more: Partial<DeploySummary> = {}): DeploySummary => ({
  ...{ id: `${ID}/deploy`, kind: 'deploy', state: 'updating', outcome: null, classification: null, version: 'kv:13' },
  ...{ pushType: 'twine', attempt: 1, paused: null, startedAt: '2026-11-20T14:01:30.000Z', endedAt: null, ...more },
});
const row = (number: number, more: Partial<HistoryRow> = {}): HistoryRow => ({
  ...{ ...ended('succeeded'), id: `kvstore/${number}`, number, durationMs: 1, deploys: [] },
  ...more,
});
const brought = (number: number): HistoryRow =>
  row(number, {
    deploys: [{ action: 'deploy', outcome: 'succeeded', classification: 'success', version: `kv:${number}` }],
  });

function pipeline(
  lastGood: PipelineFacts['status']['lastGood'],
  more: Partial<PipelineFacts['status']> = {},
  history: readonly HistoryRow[] = [],
): PipelineFacts {
  return {
    status: {
      ...{ id: 'kvstore', kind: 'pipeline', description: '', owners: [], labels: {}, state: 'active', active: [] },
      ...{ lastRelease: 14, held: null, knownBad: [], releases: [], commands: [], lastGood, ...more },
    },
    history: [brought(13), brought(14), ...history],
    isDeploying: false,
  };
}

const see = (facts: Partial<WhereFacts>) =>
  toWhereRelease({ release: summary(), contains, deploys: [], deployStatuses: [], everywhereAt: null, ...facts });

test.each<[title: string, facts: Partial<WhereFacts>, seen: object]>([
  [
    'builds',
    { status: status(action('build', 'build', { state: 'running' }), action('deploy', 'deploy')) },
    { stage: 'building', share: 0, next: `conveyor watch ${ID}`, wait: null },
  ],
  ['is tested', { status: status(action('test', 'integr-test', { state: 'running' })) }, { stage: 'testing' }],
  [
    'waits for a person',
    {
      status: status(
        action('go', 'manual-pick', { state: 'running', pickBy: ['user:alice'] }),
        action('deploy', 'deploy'),
      ),
    },
    {
      ...{ stage: 'waiting', next: `conveyor pick ${ID}/go --approve` },
      wait: { why: 'go: waiting for a person to let it continue', until: null },
    },
  ],
  [
    'waits for its turn',
    {
      status: status(
        action('deploy', 'deploy', {
          state: 'blocked',
          blockedBy: 'release 12 deploys',
          until: '2026-11-20T15:00:00.000Z',
        }),
      ),
    },
    { stage: 'waiting', share: 0, wait: { why: 'deploy: release 12 deploys', until: '2026-11-20T15:00:00.000Z' } },
  ],
  [
    'deploys',
    {
      status: status(action('deploy', 'deploy', { state: 'running', deploy: `${ID}/deploy` })),
      deploys: [deploySummary({ state: 'baking' })],
      deployStatuses: [
        deploy({
          summary: 'phase first bakes until 2026-11-20T14:02:52.000Z',
          planned: {
            tasks: 12,
            phases: [
              { share: 0.25, bakeMs: 60_000 },
              { share: 1, bakeMs: 0 },
            ],
          },
        }),
      ],
      everywhereAt: '2026-11-20T14:04:00.000Z',
    },
    {
      ...{ stage: 'deploying', share: 0.25, everywhereAt: '2026-11-20T14:04:00.000Z' },
      deploys: [
        { action: 'deploy', state: 'baking', outcome: null, phase: { n: 1, of: 2, name: 'first' }, share: 0.25 },
      ],
      wait: { why: 'phase first bakes', until: '2026-11-20T14:02:52.000Z' },
      next: 'conveyor pause kvstore/13/deploy --reason "…"',
    },
  ],
  [
    'is paused by a person',
    {
      deploys: [
        deploySummary({
          paused: { by: 'operator', actor: 'user:bob', at: '2026-11-20T14:02:00.000Z', reason: 'lunch' },
        }),
      ],
    },
    {
      stage: 'paused',
      share: null,
      wait: { why: 'paused by user:bob: lunch', until: null },
      next: `conveyor status ${ID}/deploy`,
    },
  ],
  ['reverts', { deploys: [deploySummary({ state: 'reverting' })] }, { stage: 'reverting', share: null }],
  [
    'runs, as far as its list says, if its workflow is silent',
    { problem: 'its workflow does not answer' },
    { stage: 'running', problem: 'its workflow does not answer' },
  ],
  [
    'is held by its pipeline',
    {
      pipeline: pipeline(
        {},
        { held: { actor: 'user:bob', at: '2026-11-20T14:00:00.000Z', reason: 'demo' }, releases: [summary()] },
      ),
    },
    {
      wait: { why: 'the pipeline is held by user:bob: demo', until: null },
      next: 'conveyor unhold kvstore --reason "…"',
    },
  ],
  [
    'is in production',
    { release: ended('succeeded'), pipeline: pipeline({ deploy: { release: 13, version: 'kv:13' } }) },
    { stage: 'everywhere', share: 1, by: null, next: `conveyor status ${ID}` },
  ],
  [
    'was replaced by a later release',
    { release: ended('succeeded'), pipeline: pipeline({ deploy: { release: 14, version: 'kv:14' } }) },
    { stage: 'replaced', share: 0, by: 'kvstore/14', next: 'conveyor status kvstore/14' },
  ],
  [
    'was replaced by another pipeline',
    {
      release: ended('succeeded'),
      pipeline: pipeline({ deploy: { release: 13, version: 'kv:13', replaced: { by: 'kv-b/2', version: 'kvb:2' } } }),
    },
    { stage: 'replaced', share: 0, by: 'kv-b/2' },
  ],
  [
    'was rolled back',
    {
      release: ended('succeeded'),
      pipeline: pipeline({}, {}, [row(15, { trigger: { kind: 'rollback', actor: 'user:bob', key: null, of: 13 } })]),
    },
    { stage: 'undone', share: 0, by: 'kvstore/15' },
  ],
  [
    'succeeded, if its pipeline does not say what runs',
    { release: ended('succeeded') },
    { stage: 'succeeded', share: 0 },
  ],
  [
    'was reverted, and is known-bad',
    {
      release: ended('failed'),
      deploys: [deploySummary({ state: 'ended', outcome: 'reverted' })],
      pipeline: pipeline(
        {},
        { knownBad: [{ artifact: 'executable@kv:13', at: '2026-11-20T14:09:00.000Z', reason: 'errors' }] },
      ),
    },
    { stage: 'reverted', share: 0, knownBad: ['executable@kv:13'], next: `conveyor status ${ID}/deploy` },
  ],
  [
    'was superseded before it deployed',
    { release: ended('cancelled', { cause: 'superseded', causedBy: 14 }) },
    { stage: 'superseded', share: 0, by: 'kvstore/14', next: 'conveyor status kvstore/14' },
  ],
  [
    'was cancelled in the middle of its deploy',
    {
      release: ended('cancelled', { cause: 'operator' }),
      deploys: [deploySummary({ state: 'ended', outcome: 'cancelled' })],
    },
    { stage: 'cancelled', share: null },
  ],
  ['failed', { release: ended('failed') }, { stage: 'failed', share: 0 }],
])('a release that %s is shown so', (_title, facts, seen) => {
  expect(see(facts)).toMatchObject(seen);
});

test('the share of several deploys is weighted by their tasks, and not known before all have begun', () => {
  const status2 = (second: Partial<ActionView>) =>
    status(
      action('eu', 'deploy', { state: 'succeeded', deploy: `${ID}/eu` }),
      action('us', 'deploy', { state: 'running', ...second }),
    );
  const eu = deploy({ id: `${ID}/eu`, state: 'ended', outcome: 'succeeded', planned: { tasks: 30, phases: [] } });
  const us = deploy({
    id: `${ID}/us`,
    planned: {
      tasks: 10,
      phases: [
        { share: 0.2, bakeMs: 0 },
        { share: 1, bakeMs: 0 },
      ],
    },
  });
  const deploys = [eu, us].map(({ id, state, outcome }) => deploySummary({ id, state, outcome }));
  expect(see({ status: status2({ deploy: `${ID}/us` }), deploys, deployStatuses: [eu, us] }).share).toBeCloseTo(
    32 / 40,
    9,
  );
  expect(
    see({ status: status2({ state: 'blocked' }), deploys: deploys.slice(0, 1), deployStatuses: [eu] }).share,
  ).toBeNull();
});
