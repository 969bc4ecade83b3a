import fc from 'fast-check';
import type { Artifact } from '../../../domain/artifact';
import {
  advanceStage,
  cancelFanOut,
  isFanOutOver,
  listMissingArtifacts,
  endWithoutChildren,
  withChildren,
  SELECTING,
  shardLost,
  shardReported,
  shardStarted,
  withStopSent,
  startableShards,
  toStop,
  whyNotCancel,
  type ChildrenSpec,
  type FanOutInput,
  type FanOutState,
} from '../../../domain/children/fanOut';
import { pickChildArtifacts, hasChildren } from '../../../domain/children/handOn';
import { childrenDetails, childrenView, shardView } from '../../../domain/children/view';
import type { ShardReport } from '../../../domain/children/window';
import { pipelineSchema } from '../../../domain/spec/pipeline';

const names = (count: number, prefix = 'model'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
const spec = (more: Partial<ChildrenSpec> = {}): ChildrenSpec => ({
  pipelines: { label: { parent: 'inference' } },
  artifacts: ['executable'],
  jitter: 0,
  maxConcurrent: 50,
  ...more,
});
const FIRST: Partial<ChildrenSpec> = { first: { label: { importance: 'low' }, atLeast: 2 } };
const NONE: ShardReport = {
  waiting: 0,
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  notStarted: 0,
  failures: [],
};

/** Starts what may start, as the workflow does. */
const begin = (state: FanOutState, children: ChildrenSpec): FanOutState =>
  startableShards(state, children).reduce((next, { index }) => shardStarted(next, index), state);
const over = (state: FanOutState, index: number, report: Partial<ShardReport>): FanOutState =>
  advanceStage(shardReported(state, index, { ...NONE, ...report }, true), 9_000);

describe('the children of a release', () => {
  const children = spec(FIRST);
  const fresh = begin(withChildren(SELECTING, { first: names(2, 'low'), rest: names(7) }, children, 1_000), children);

  test('that go first start before all others', () => {
    expect(childrenView(fresh)).toMatchObject({ state: 'first', total: 9, waiting: 9 });
    expect(fresh.shards.map(({ stage, state }) => [stage, state])).toEqual([
      ['first', 'running'],
      ['rest', 'waiting'],
    ]);
  });

  test('start once every one of the first has succeeded, and their jitter counts from then', () => {
    const next = begin(over(fresh, 0, { succeeded: 2 }), children);
    expect(childrenView(next)).toMatchObject({ state: 'running', succeeded: 2, waiting: 7 });
    expect(next.shards[1]?.state).toBe('running');
    expect(next.stageStartedAtMs).toBe(9_000);
    expect(childrenView(over(next, 1, { succeeded: 7 }))).toMatchObject({
      state: 'succeeded',
      succeeded: 9,
      reason: null,
    });
  });

  test.each<[string, Partial<ShardReport>]>([
    ['failed', { failed: 1, succeeded: 1 }],
    ['was cancelled', { cancelled: 1, succeeded: 1 }],
  ])('never start when one of the first %s', (_, report) => {
    const next = over(fresh, 0, report);
    expect(startableShards(next, children)).toEqual([]);
    expect(isFanOutOver(next)).toBe(true);
    expect(childrenView(next)).toMatchObject({
      state: 'failed',
      notStarted: 7,
      reason: '1 of the 2 that go first did not succeed, so the others were not started',
    });
  });

  test('react to a failure among the first at once, and wait for those that run', () => {
    const wide = spec({ ...FIRST, maxConcurrent: 100 });
    const many = begin(withChildren(SELECTING, { first: names(100, 'low'), rest: names(7) }, wide, 0), wide);
    const failing = advanceStage(shardReported(many, 0, { ...NONE, running: 49, failed: 1 }, false), 0);
    expect(toStop(failing).map(({ index }) => index)).toEqual([0, 1]);
    expect(toStop(withStopSent(failing, 0)).map(({ index }) => index)).toEqual([1]);
    expect(isFanOutOver(failing)).toBe(false);
    expect(childrenView(failing)).toMatchObject({ state: 'first', notStarted: 7, failed: 1 });
  });

  test('are not started at all when fewer than wanted are among the first', () => {
    const next = withChildren(SELECTING, { first: names(1, 'low'), rest: names(7) }, children, 0);
    expect(startableShards(next, children)).toEqual([]);
    expect(childrenView(next)).toMatchObject({
      state: 'failed',
      total: 8,
      notStarted: 8,
      reason:
        'the first 2 must succeed before the others start, but only 1 of the children are among them; none was started',
    });
  });

  test('may all be among the first', () => {
    const next = begin(withChildren(SELECTING, { first: names(2, 'low'), rest: [] }, children, 0), children);
    expect(childrenView(over(next, 0, { succeeded: 2 }))).toMatchObject({ state: 'succeeded', total: 2 });
  });

  test('may be none, which is no failure', () => {
    expect(childrenView(withChildren(SELECTING, { first: [], rest: [] }, spec(), 0))).toMatchObject({
      state: 'succeeded',
      total: 0,
      reason: 'no pipeline is a child of it',
    });
  });

  test('have failed when one of them did not succeed', () => {
    const plain = spec();
    const next = begin(withChildren(SELECTING, { first: [], rest: names(7) }, plain, 0), plain);
    expect(childrenView(over(next, 0, { succeeded: 6, cancelled: 1 }))).toMatchObject({
      state: 'failed',
      reason: '1 of 7 did not succeed',
    });
  });
});

describe('cancelling', () => {
  const children = spec();
  const running = begin(withChildren(SELECTING, { first: [], rest: names(7) }, children, 0), children);
  const command = { actor: 'user:alice', reason: 'wrong model' };

  test('stops those not yet started; those that run are still reported', () => {
    const told = cancelFanOut(running, command);
    expect(toStop(told)).toHaveLength(1);
    expect(childrenView(told)).toMatchObject({ state: 'running', reason: 'cancelled by user:alice: wrong model' });
    const end = childrenView(over(told, 0, { succeeded: 2, notStarted: 5 }));
    expect(end).toMatchObject({ state: 'cancelled', succeeded: 2, notStarted: 5 });
  });

  test('comes too late when every child was started', () =>
    expect(childrenView(over(cancelFanOut(running, command), 0, { succeeded: 7 }))).toMatchObject({
      state: 'succeeded',
    }));

  test('is heeded while the children are still being found out', () => {
    const told = cancelFanOut(SELECTING, command);
    expect(isFanOutOver(told)).toBe(false);
    const known = withChildren(told, { first: names(1), rest: names(6) }, spec(FIRST), 0);
    expect(startableShards(known, children)).toEqual([]);
    expect(childrenView(known)).toMatchObject({
      state: 'cancelled',
      notStarted: 7,
      reason: 'cancelled by user:alice: wrong model',
    });
  });

  test('twice is refused', () => {
    expect(whyNotCancel(running)).toBeUndefined();
    expect(whyNotCancel(cancelFanOut(running, command))).toMatch('cancelled by user:alice: wrong model');
  });
});

describe('a shard', () => {
  const children = spec();
  const running = begin(withChildren(SELECTING, { first: [], rest: names(7) }, children, 0), children);

  test('a terminated shard ends the fan-out, with its unknown children counted as failed', () => {
    const told = shardReported(running, 0, { ...NONE, waiting: 3, running: 2, succeeded: 2 }, false);
    const view = childrenView(shardLost(told, 0, 'release/inference/3/children/0'));
    expect(view).toMatchObject({ state: 'failed', succeeded: 2, failed: 5, running: 0, waiting: 0 });
    expect(view.failures[0]?.reason).toBe(
      'this shard ended without a report: the fate of 5 of its children is unknown',
    );
  });

  test('that has ended is not counted again', () => {
    const ended = over(running, 0, { succeeded: 7 });
    expect(shardReported(ended, 0, { ...NONE, running: 3 }, false)).toBe(ended);
    expect(shardLost(ended, 0, 'x')).toBe(ended);
  });

  test('keeps its names to itself once it is started', () => expect(running.shards[0]?.names).toEqual([]));

  test('shows its own part', () =>
    expect(shardView({ ...NONE, waiting: 1, succeeded: 2 })).toMatchObject({ state: 'running', total: 3 }));
});

test('for any reports of shards, the numbers add up, no more run at once than allowed, and it ends', () => {
  fc.assert(
    fc.property(
      fc.nat(1_200),
      fc.nat(1_200),
      fc.integer({ min: 1, max: 120 }),
      fc.array(fc.nat(3), { minLength: 40, maxLength: 40 }),
      fc.option(fc.nat(6)),
      (first, rest, maxConcurrent, ends, cancelAfter) => {
        const children = spec({ ...(first > 0 ? { first: { label: {}, atLeast: 1 } } : {}), maxConcurrent });
        let state = withChildren(SELECTING, { first: names(first, 'low'), rest: names(rest) }, children, 0);
        for (let round = 0; !isFanOutOver(state); round += 1) {
          if (round === cancelAfter && state.stop === null) state = cancelFanOut(state, { actor: 'user:alice' });
          state = begin(advanceStage(state, round), children);
          const running = state.shards.filter((shard) => shard.state === 'running');
          expect(running.reduce((sum, { share }) => sum + share, 0)).toBeLessThanOrEqual(maxConcurrent);
          const [shard] = running;
          if (shard === undefined) continue;
          if (shard.stage === 'rest')
            for (const { report } of state.shards.filter(({ stage }) => stage === 'first'))
              expect(report).toMatchObject({ failed: 0, cancelled: 0, notStarted: 0 });
          const failed = Math.min(shard.size, ends[round % ends.length] === 0 ? 1 : 0);
          state = shardReported(state, shard.index, { ...NONE, failed, succeeded: shard.size - failed }, true);
        }
        const { total, waiting, running, succeeded, failed, notStarted } = childrenView(state);
        expect([waiting, running]).toEqual([0, 0]);
        expect(total).toBe(first + rest);
        expect(succeeded + failed + notStarted).toBe(total);
      },
    ),
    { numRuns: 60 },
  );
});

describe('inputs that a release passes on', () => {
  const artifact = (version: string, name = 'executable'): Artifact => ({
    name,
    kind: 'executable',
    version,
    metadata: {},
  });
  const parent = pipelineSchema.parse({
    pipeline: 'inference',
    owners: ['user:alice'],
    actions: {},
    children: { pipelines: ['model-1'], artifacts: ['executable', 'config'] },
  });
  const input: FanOutInput = {
    pipeline: 'inference',
    number: 3,
    children: spec(),
    artifacts: [],
    policy: { owners: [], groups: {} },
    settings: {} as never,
  };
  const action = (endedAt: string, ...outputs: Artifact[]) => ({ endedAt, outputs }) as never;

  test('is what was made last of each artifact, else what it was given', () => {
    const actions = {
      again: action('2026-11-20T12:00:00.000Z', artifact('2')),
      build: action('2026-11-20T10:00:00.000Z', artifact('1'), artifact('log', 'log')),
    };
    const given = { spec: parent, artifacts: [artifact('0'), artifact('c1', 'config')] };
    expect(pickChildArtifacts(given, { actions }).map(({ version }) => version)).toEqual(['2', 'c1']);
  });

  test('is missed if the release has not made it, and then no child starts', () => {
    expect(listMissingArtifacts(input)).toEqual(['executable']);
    expect(listMissingArtifacts({ ...input, artifacts: [artifact('1')] })).toEqual([]);
    expect(childrenView(endWithoutChildren(SELECTING, 'it made none'))).toMatchObject({
      state: 'succeeded',
      reason: 'it made none',
    });
  });

  test.each([
    ['manual', true],
    ['webhook', true],
    ['parent', true],
    ['rollback', false],
    ['emergency', false],
  ] as const)('goes to its children after a release by %s: %s', (kind, expected) =>
    expect(hasChildren({ spec: parent, trigger: { kind, actor: 'user:alice', key: null } })).toBe(expected),
  );
});

test('the Web UI shows the numbers that are not nothing, why it stops, and what to type next', () => {
  const view = {
    ...shardView({
      ...NONE,
      running: 3,
      failed: 1,
      failures: [{ id: 'model-1/4', state: 'failed' as const, reason: 'its release failed' }],
    }),
  };
  expect(
    childrenDetails('release/inference/3/children', { ...view, reason: 'cancelled by user:alice' }, [
      'conveyor status inference/3',
    ]),
  ).toBe(
    [
      '## release/inference/3/children',
      '',
      '**running**: 4 children; cancelled by user:alice',
      '',
      '```',
      'running  3',
      'failed   1',
      '```',
      '',
      'Did not succeed',
      '',
      '- model-1/4: its release failed',
      '',
      'Next:',
      '```',
      'conveyor status inference/3',
      '```',
    ].join('\n'),
  );
});
