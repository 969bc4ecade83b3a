import { STATE_LIMITS } from '../../../domain/limits';
import { lastRanOn, recordRelease } from '../../../domain/pipeline/recordOutcome';
import { startable, thinQueue, listUnscheduledReleases, whyQueued } from '../../../domain/pipeline/queue';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { pipelineStatus } from '../../../domain/pipeline/view';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import { emergency, rollback } from '../../builders/admissionWorld';
import { artifact, manual, NOW, pipelineOf, resultOf } from '../../builders/pipelineWorld';

const MAX_QUEUED = STATE_LIMITS.queued.max;
const HOUR = 3_600_000;
const calendar = { mode: 'calendar', calendar: '0 10 * * 1', timezone: 'UTC' } as const;

/** A pipeline with so many releases in the line. */
const line = (queued: number, more: Partial<PipelineSource> = {}, triggers = [manual()]): PipelineState => {
  let state = pipelineOf(['deploy'], more);
  for (let n = 1; n <= queued; n += 1)
    state = queueRelease(state, [artifact(`kv:${n}`)], triggers[n - 1] ?? manual(), NOW + n);
  return state;
};
const numbers = (releases: readonly { readonly number: number }[]) => releases.map(({ number }) => number);
const startsOf = (state: PipelineState, nowMs = NOW) => numbers(startable(state, nowMs));
const frozen = { actor: 'user:bob', at: '2026-11-23T17:00:00Z', reason: 'holidays' };
const opening = (state: PipelineState, at: readonly (number | null)[]): PipelineState => ({
  ...state,
  active: state.active.map((release, index) => ({ ...release, opensAtMs: at[index] ?? null })),
});

describe('releases start', () => {
  const three = { releases: { maxActive: 3 } };
  test.each<[string, PipelineState, number[]]>([
    ['in order, as many as may be active', line(5, three), [1, 2, 3]],
    ['as others end', markReleaseRunning(markReleaseRunning(line(5, three), 1), 2), [3]],
    ['none when as many run as may', markReleaseRunning(line(2, { releases: { maxActive: 1 } }), 1), []],
    [
      'rollbacks first, with no room either',
      markReleaseRunning(line(3, { releases: { maxActive: 1 } }, [manual(), manual(), rollback]), 1),
      [3],
    ],
    [
      'emergencies first, with no room either',
      markReleaseRunning(line(3, { releases: { maxActive: 1 } }, [manual(), manual(), emergency]), 1),
      [3],
    ],
    [
      'beside urgent ones, which take no room',
      markReleaseRunning(line(2, { releases: { maxActive: 1 } }, [rollback]), 1),
      [2],
    ],
    ['not while frozen', { ...line(2), frozen }, []],
    ['not while frozen, but for rollbacks', { ...line(3, {}, [emergency, rollback]), frozen }, [2]],
    ['also while held', { ...line(1), held: frozen }, [1]],
  ])('%s', (_, state, expected) => expect(startsOf(state)).toEqual(expected));
});

describe('gates: releases', () => {
  const gated = (queued: number, more: Partial<PipelineSource> = {}, triggers = [manual()]) =>
    line(queued, { schedule: { ...calendar, gates: 'releases' }, ...more }, triggers);
  test('none starts before its opening was looked up, nor before it opens', () => {
    expect(startsOf(gated(1))).toEqual([]);
    expect(numbers(listUnscheduledReleases(gated(1)))).toEqual([1]);
    expect(startsOf(opening(gated(1), [NOW + HOUR]))).toEqual([]);
    expect(startsOf(opening(gated(1), [NOW + HOUR]), NOW + HOUR)).toEqual([1]);
    expect(startsOf(opening(gated(1), [null]), NOW + HOUR)).toEqual([]);
  });
  test('rollbacks and emergencies start at once', () => {
    expect(startsOf(gated(2, {}, [rollback, emergency]))).toEqual([1, 2]);
    expect(listUnscheduledReleases(gated(2, {}, [rollback, emergency]))).toEqual([]);
  });
  test('with gates: deploys the calendar gates no start', () =>
    expect(startsOf(line(1, { schedule: calendar }))).toEqual([1]));
  test('only the newest waits for an opening, with the time of the oldest', () => {
    const state = thinQueue(opening(gated(3), [NOW + HOUR, NOW + HOUR, NOW + 99 * HOUR]), NOW);
    expect(state.active).toMatchObject([{ number: 3, opensAtMs: NOW + HOUR }]);
    expect(state.history).toMatchObject([
      { number: 1, state: 'cancelled', cause: 'superseded' },
      { number: 2, state: 'cancelled', cause: 'superseded' },
    ]);
  });
  test('with supersede: never all of them are left', () => {
    const state = gated(3, { releases: { supersede: 'never' } });
    expect(thinQueue(state, NOW)).toBe(state);
  });
  test('urgent ones are neither dropped nor in the way', () => {
    const state = thinQueue(gated(3, {}, [rollback, manual(), emergency]), NOW);
    expect(numbers(state.active)).toEqual([1, 2, 3]);
  });
});

describe('a line that has grown too long', () => {
  test('loses the oldest, and never those that run', () => {
    const long = markReleaseRunning(line(MAX_QUEUED + 3), 1);
    const state = thinQueue(long, NOW);
    expect(numbers(state.active).slice(0, 2)).toEqual([1, 4]);
    expect(state.active).toHaveLength(MAX_QUEUED + 1);
    expect(numbers(state.history)).toEqual([2, 3]);
  });
  test('a queue of the permitted size is left alone', () => {
    const full = line(MAX_QUEUED);
    expect(thinQueue(full, NOW)).toBe(full);
  });
});

describe('why a release has not started', () => {
  const why = (state: PipelineState, nowMs = NOW) => whyQueued(state, state.active.at(-1)!, nowMs);
  const gated = line(1, { schedule: { ...calendar, gates: 'releases' }, releases: { maxActive: 1 } });
  test.each<[string, PipelineState, object]>([
    ['a freeze', { ...line(1), frozen }, { why: 'the pipeline is frozen by user:bob: holidays' }],
    ['the calendar', opening(gated, [NOW + HOUR]), { why: 'waiting for the calendar', untilMs: NOW + HOUR }],
    ['a calendar that never opens', opening(gated, [null]), { why: 'the calendar never opens' }],
    [
      'room, though the calendar let it through',
      opening(gated, [NOW - HOUR]),
      { why: '1 release runs already (releases.maxActive)' },
    ],
    ['room', line(9), { why: '5 releases run already (releases.maxActive)' }],
  ])('%s', (_, state, expected) => expect(why(state)).toEqual(expected));
});

test('a release that starts at once is not among those that wait', () => {
  const two = line(2, { releases: { maxActive: 1 } });
  const waiting = (state: PipelineState) => (pipelineStatus(state, NOW).waits ?? []).map(({ release }) => release);
  expect(waiting(two)).toEqual([2]);
  expect(waiting(markReleaseRunning(two, 1))).toEqual([2]);
});

test('the inputs of a release are compared with those of the last one that started', () => {
  const gated = line(3, { schedule: { ...calendar, gates: 'releases' } });
  const state = thinQueue(recordRelease(markReleaseRunning(gated, 1), resultOf(1, [], [artifact('kv:1')]), NOW), NOW);
  expect(state.history).toMatchObject([{ number: 1 }, { number: 2, state: 'cancelled', neverStarted: true }]);
  expect(lastRanOn(state)).toEqual([artifact('kv:1')]);
});
