import fc from 'fast-check';
import { NO_COMMANDS, take } from '../../../domain/deploy/control';
import { countUnits } from '../../../domain/deploy/counts';
import { accrue, NO_TIME } from '../../../domain/deploy/spans';
import { change, MAX_TIMELINE, newDeploy, note, withHealth, type DeployRecord } from '../../../domain/deploy/state';
import { pauseDeploy, endPause } from '../../../domain/deploy/pauseRecord';
import { deployStatus, nextCommands, summarise } from '../../../domain/deploy/view';
import type { DeployState, Pause, PhaseView, Spans } from '../../../domain/views';
import { healthRow } from './healthRow';

const NOW = Date.parse('2026-11-23T17:00:00Z');
const STAGES: DeployState[] = [
  'planning',
  'waiting-lock',
  'waiting-window',
  'preprocessing',
  'updating',
  'baking',
  'postprocessing',
  'reverting',
];
const pause = (by: Pause['by'], reason = 'lunch'): Pause => ({
  by,
  actor: by === 'operator' ? 'user:alice' : null,
  at: '',
  reason,
});
const inStage = (stage: DeployState, by: Pause['by'] | null = null): DeployRecord => ({
  ...newDeploy(NOW),
  stage,
  control: { ...NO_COMMANDS, paused: by && pause(by) },
});
const total = (spans: Spans): number => Object.values(spans).reduce((sum, ms) => sum + ms, 0);

describe('a second is put on the account of', () => {
  const check = (stage: DeployState, by: Pause['by'] | null, account: keyof Spans) =>
    expect(accrue(inStage(stage, by), NOW + 1000)).toEqual({ ...NO_TIME, [account]: 1000 });

  test.each<[DeployState, Pause['by'] | null, keyof Spans]>([
    ['planning', null, 'overheadMs'],
    ['waiting-lock', null, 'lockWaitMs'],
    ['waiting-window', null, 'windowWaitMs'],
    ['preprocessing', null, 'preMs'],
    ['updating', null, 'updateMs'],
    ['baking', null, 'bakeMs'],
    ['postprocessing', null, 'postMs'],
    ['reverting', null, 'revertMs'],
    ['baking', 'operator', 'pausedMs'],
    ['updating', 'health', 'pausedMs'],
    ['updating', 'timeout', 'pausedMs'],
    ['updating', 'dependency', 'dependencyWaitMs'],
    ['waiting-lock', 'operator', 'pausedMs'],
    ['reverting', 'operator', 'revertMs'],
    ['reverting', 'dependency', 'revertMs'],
  ])('%s, paused by %s: %s', (stage, by, account) => check(stage, by, account));
});

test('nothing is added after the end, nor by a clock that goes back', () => {
  expect(accrue(inStage('ended'), NOW + 1000)).toEqual(NO_TIME);
  expect(accrue(inStage('baking'), NOW - 1000)).toEqual(NO_TIME);
});

const aStep = fc.record({
  afterMs: fc.integer({ min: -50, max: 5000 }),
  stage: fc.constantFrom(...STAGES),
  turn: fc.constantFrom('stage', 'pause', 'dependency', 'resume', 'unpause', 'note' as const),
});

test('in any order of events, the spans add up to the time that passed', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 40 }), (steps) => {
      let record = newDeploy(NOW);
      let now = NOW;
      let latest = NOW;
      for (const { afterMs, stage, turn } of steps) {
        now += afterMs;
        latest = Math.max(latest, now);
        if (turn === 'stage') record = change(record, now, { stage });
        if (turn === 'pause') record = change(record, now, { control: take(record.control, 'pause', {}, now) });
        if (turn === 'resume') record = change(record, now, { control: take(record.control, 'resume', {}, now) });
        if (turn === 'dependency') record = pauseDeploy(record, now, 'dependency', 'silent');
        if (turn === 'unpause') record = endPause(record, now, 'on');
        if (turn === 'note') record = note(record, now, 'noted', 'noted');
        expect(total(accrue(record, latest))).toBe(latest - NOW);
      }
      const ended = change(record, latest, { stage: 'ended' });
      expect(total(ended.spans)).toBe(latest - NOW);
      expect(total(accrue(ended, latest + 60_000))).toBe(latest - NOW);
    }),
  );
});

const PHASE: PhaseView = {
  index: 0,
  name: 'first',
  scope: 'region:x',
  amount: '3',
  state: 'running',
  units: [{ id: 'kvstore-x', targeted: 3, updated: 3, live: 2 }],
  startedAt: null,
  updatedAt: null,
  bakedAt: null,
  bakeUntil: null,
  skipped: null,
};
const inPhase = (stage: DeployState, phase: Partial<PhaseView> = {}, by: Pause['by'] | null = null): DeployRecord => ({
  ...inStage(stage, by),
  cursor: 0,
  phases: [
    { ...PHASE, ...phase },
    { ...PHASE, index: 1, name: 'completion' },
  ],
});

describe('the effect that people see', () => {
  const paused = (reason: string): DeployRecord => ({
    ...inPhase('baking'),
    control: { ...NO_COMMANDS, paused: pause('operator', reason) },
  });
  test.each<[string, DeployRecord, string]>([
    ['planning', inStage('planning'), 'planning the deploy of kv:2'],
    ['waiting', { ...inStage('waiting-lock'), service: 'kvstore' }, 'waiting for its turn to deploy kvstore'],
    ['updating', inPhase('updating'), 'updating 2 of 3 tasks to kv:2 in phase first (1 of 2)'],
    ['about to update', inPhase('updating', { units: [] }), 'updating tasks to kv:2 in phase first (1 of 2)'],
    [
      'baking',
      inPhase('baking', { bakeUntil: '2026-11-23T17:10:00.000Z' }),
      'baking phase first (1 of 2) until 2026-11-23T17:10:00.000Z',
    ],
    ['paused by a person', paused('lunch'), 'paused by user:alice while baking phase first (1 of 2): lunch'],
    ['paused without a reason', paused(''), 'paused by user:alice while baking phase first (1 of 2)'],
    [
      'paused by health',
      inPhase('updating', {}, 'health'),
      'paused (health) while updating 2 of 3 tasks to kv:2 in phase first (1 of 2): lunch',
    ],
    [
      'reverting',
      {
        ...inStage('reverting'),
        revert: { by: 'health', reason: 'errors is 0.2', startedAt: '', endedAt: null, units: [] },
      },
      'reverting: errors is 0.2',
    ],
  ])('%s', (_, record, sentence) => expect(summarise(record, 'kv:2')).toBe(sentence));

  test('a resume that waits for its verdict says so', () => {
    const record = inPhase('baking', {}, 'operator');
    const resuming = { ...record, control: take(record.control, 'resume', {}, NOW) };
    expect(summarise(resuming, 'kv:2')).toMatch(/: lunch; resumed, waiting for a healthy verdict$/);
  });
});

describe('the obstacles of a deploy', () => {
  const waits = (record: DeployRecord) => {
    const input = { pipeline: 'kvstore', release: 2, action: 'deploy', attempt: 1, version: 'kv:2' };
    const { blockedBy, until } = deployStatus(record, { ...input, spec: { pushType: 'twine', healthChecks: [] } }, NOW);
    return { blockedBy, until };
  };

  test('is in the JSON, too: a window, until when, or a lock; and nothing where it waits for nothing', () => {
    const opens = '2026-11-23T18:00:00.000Z';
    expect(waits({ ...inStage('waiting-window'), windowUntil: opens, windowWhy: 'holidays' })).toEqual({
      blockedBy: `waiting for its window to open at ${opens} (blackout: holidays)`,
      until: opens,
    });
    expect(waits({ ...inStage('waiting-lock'), service: 'kvstore' })).toEqual({
      blockedBy: 'waiting for its turn to deploy kvstore',
      until: null,
    });
    expect(waits(inPhase('baking'))).toEqual({ blockedBy: null, until: null });
  });
});

describe('the next commands to type', () => {
  const verbsOf = (record: DeployRecord) => nextCommands(record, 'kvstore/2/deploy').map((line) => line.split(' ')[1]);
  test.each<[string, DeployRecord, string[]]>([
    ['updating', inPhase('updating'), ['watch', 'pause', 'revert']],
    ['baking', inPhase('baking'), ['watch', 'pause', 'skip-bake', 'revert']],
    ['paused', inPhase('baking', {}, 'operator'), ['resume', 'revert', 'cancel']],
    ['paused by health', inPhase('baking', {}, 'health'), ['resume', 'skip-health-check', 'revert', 'cancel']],
    ['out of time', inPhase('updating', {}, 'timeout'), ['resume', 'skip-phase', 'revert', 'cancel']],
    ['reverting', inStage('reverting'), ['watch', 'pause']],
    ['paused in its revert', inStage('reverting', 'operator'), ['watch', 'resume']],
    ['stuck in its revert', { ...inStage('reverting', 'timeout'), revertStuck: true }, ['status', 'cancel']],
    ['ended', inStage('ended'), ['history']],
  ])('%s', (_, record, verbs) => expect(verbsOf(record)).toEqual(verbs));
});

describe('the status of a deploy', () => {
  const status = (record: DeployRecord) =>
    deployStatus(
      record,
      {
        pipeline: 'kvstore',
        release: 2,
        action: 'deploy',
        attempt: 1,
        version: 'kv:2',
        spec: { pushType: 'twine', healthChecks: [] },
      },
      NOW + 5000,
    );

  test('counts the time up to now', () => {
    expect(status(inPhase('baking'))).toMatchObject({
      id: 'kvstore/2/deploy',
      state: 'baking',
      startedAt: '2026-11-23T17:00:00.000Z',
      endedAt: null,
      outcome: null,
      spans: { bakeMs: 5000 },
    });
  });

  test('shows the worst checks first, and no more than people read', () => {
    const many = Array.from({ length: 200 }, (_, index) => healthRow(`c${index}`, 'healthy'));
    const rows = [
      healthRow('a', 'healthy'),
      healthRow('b', 'errored'),
      healthRow('c', 'unhealthy'),
      healthRow('d', 'inconclusive'),
      ...many,
    ];
    const { health } = status(withHealth(newDeploy(NOW), 'unhealthy', rows));
    expect(health.slice(0, 4).map(({ check }) => check)).toEqual(['c', 'b', 'd', 'a']);
    expect(health).toHaveLength(100);
  });

  test('keeps the last steps only', () => {
    let record = newDeploy(NOW);
    for (let n = 0; n < MAX_TIMELINE + 50; n += 1) record = note(record, NOW, 'noted', `${n}`);
    expect(status(record).timeline).toHaveLength(MAX_TIMELINE);
    expect(record.timeline.at(-1)?.text).toBe(`${MAX_TIMELINE + 49}`);
  });

  test('shows four counts of a unit', () =>
    expect(
      countUnits([{ id: 'x', state: 'done', targeted: 3, updated: 2, live: 1, failed: 1, unreachable: 0, gone: 0 }])
        .units,
    ).toEqual([{ id: 'x', targeted: 3, updated: 2, live: 1 }]));
});
