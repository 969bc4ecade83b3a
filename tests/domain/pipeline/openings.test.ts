import { admit } from '../../../domain/pipeline/admission';
import { takePipeline } from '../../../domain/pipeline/control';
import { nextOpening, clearOpenings, recordOpening, listUnscheduled } from '../../../domain/pipeline/openings';
import { markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { queueRelease } from '../../../domain/pipeline/state';
import {
  begunBy,
  deployOf,
  emergency,
  pipelineWith,
  rollback,
  toldOf,
  waitingOf,
  withAsked,
} from '../../builders/admissionWorld';
import { artifact, manual, NOW } from '../../builders/pipelineWorld';

const HOUR = 3_600_000;
const schedule = { mode: 'calendar', calendar: '0 10 * * 1', timezone: 'America/Los_Angeles' } as const;
const weekly = (releases: number, more = {}) => pipelineWith(releases, { schedule, ...more });
const opens = (state: PipelineState, release: number, atMs: number | null) =>
  recordOpening(state, { release, action: 'deploy' }, atMs);
const turnOf = (state: PipelineState, release: number) =>
  state.ready.find((ready) => ready.release === release)?.opensAtMs;

describe('actions that the calendar gates', () => {
  const asked = withAsked(weekly(1), deployOf(1));
  test('a deploy waits while its opening is looked up, from when it was ready', () => {
    expect(listUnscheduled(asked)).toEqual([{ release: 1, action: 'deploy', afterMs: NOW }]);
    expect(waitingOf(asked)).toEqual(['1 deploy: the calendar is being looked up']);
  });
  test('… then until it opens', () => {
    const state = opens(asked, 1, NOW + HOUR);
    expect(listUnscheduled(state)).toEqual([]);
    expect(admit(state, NOW).waiting).toMatchObject([
      { why: 'waiting for the calendar (0 10 * * 1)', untilMs: NOW + HOUR },
    ]);
    expect(nextOpening(state, NOW)).toBe(NOW + HOUR);
    expect(toldOf(state, NOW + HOUR - 1)).toEqual([]);
    expect(toldOf(state, NOW + HOUR)).toEqual(['1 deploy granted']);
    expect(nextOpening(state, NOW + HOUR)).toBeUndefined();
  });
  test('a calendar that never opens is said to be one', () => {
    expect(waitingOf(opens(asked, 1, null))).toEqual(['1 deploy: the calendar never opens']);
    expect(nextOpening(opens(asked, 1, null), NOW)).toBeUndefined();
  });
  test.each<[string, PipelineState]>([
    ['a rollback', withAsked(begunBy(weekly(0), rollback), deployOf(1, { rollback: true }))],
    ['an emergency', withAsked(begunBy(weekly(0), emergency), deployOf(1, { emergency: true }))],
    ['a deploy of a pipeline that is continuous', withAsked(pipelineWith(1), deployOf(1))],
  ])('%s waits for no calendar', (_, state) => {
    expect(listUnscheduled(state)).toEqual([]);
    expect(toldOf(state)).toEqual(['1 deploy granted']);
  });
  test('the second deploy of a release belongs to the same rollout', () => {
    const first = opens(
      withAsked(pipelineWith(1, { schedule }, ['east', 'west']), deployOf(1, { action: 'east' })),
      1,
      0,
    );
    const begun = admit(recordOpening(first, { release: 1, action: 'east' }, NOW), NOW).state;
    expect(toldOf(withAsked(begun, deployOf(1, { action: 'west' })))).toEqual(['1 west granted']);
  });
});

describe('a time that was missed', () => {
  const held = (state: PipelineState) => takePipeline(state, 'hold', {}, NOW);
  const unheld = (state: PipelineState) => takePipeline(state, 'unhold', {}, NOW);
  const missed = held(opens(withAsked(weekly(3), deployOf(1)), 1, NOW - HOUR));

  test('is made up when what was in the way is gone', () => {
    expect(toldOf(missed)).toEqual([]);
    expect(toldOf(unheld(missed))).toEqual(['1 deploy granted']);
  });
  test('is made up by the newer deploy that takes its place', () => {
    const state = admit(opens(withAsked(missed, deployOf(2)), 2, NOW + 100 * HOUR), NOW).state;
    expect(turnOf(state, 2)).toBe(NOW - HOUR);
    expect(toldOf(unheld(state))).toEqual(['2 deploy granted']);
  });
  test('is made up by the newest, when several came at once', () => {
    const two = withAsked(missed, deployOf(2), deployOf(3));
    const state = admit(opens(opens(two, 2, NOW + 100 * HOUR), 3, NOW + 100 * HOUR), NOW).state;
    expect(turnOf(state, 3)).toBe(NOW - HOUR);
    expect(toldOf(unheld(state))).toEqual(['3 deploy granted']);
  });
  test('is not lost when the pipeline is applied again meanwhile', () => {
    const [again] = listUnscheduled(clearOpenings(missed));
    expect(again).toEqual({ release: 1, action: 'deploy', afterMs: NOW });
    const newer = { ...deployOf(2), readyAtMs: NOW + HOUR, opensAtMs: NOW + 100 * HOUR };
    const state = admit({ ...missed, ready: [...missed.ready, newer] }, NOW).state;
    expect(listUnscheduled(clearOpenings(state))).toEqual([{ release: 2, action: 'deploy', afterMs: NOW }]);
  });
  test('is made up once: an artifact that is ready afterwards waits for the next opening', () => {
    const state = withAsked(admit(unheld(missed), NOW).state, deployOf(2));
    expect(toldOf(state)).toEqual([]);
    expect(listUnscheduled(state)).toEqual([{ release: 2, action: 'deploy', afterMs: NOW }]);
  });
});

describe('gates: releases', () => {
  const gated = weekly(0, { schedule: { ...schedule, gates: 'releases' } });
  const one = queueRelease(gated, [artifact('kv:1')], manual(), NOW);
  test('the start of a release is looked up, and nothing is for its deploys', () => {
    expect(listUnscheduled(one)).toEqual([{ release: 1, action: null, afterMs: NOW }]);
    const state = recordOpening(one, { release: 1, action: null }, NOW + HOUR);
    expect(nextOpening(state, NOW)).toBe(NOW + HOUR);
    expect(listUnscheduled(withAsked(markReleaseRunning(state, 1), deployOf(1)))).toEqual([]);
    expect(toldOf(withAsked(markReleaseRunning(state, 1), deployOf(1)))).toEqual(['1 deploy granted']);
  });
  test('a release that runs waits for no opening any more', () =>
    expect(
      nextOpening(markReleaseRunning(recordOpening(one, { release: 1, action: null }, NOW + HOUR), 1), NOW),
    ).toBeUndefined());
});
