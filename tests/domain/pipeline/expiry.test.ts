import { listExpiredReleases, describeExpired, expiresAtMs, nextExpiry } from '../../../domain/pipeline/expiry';
import { nextWake } from '../../../domain/pipeline/openings';
import { startable, thinQueue } from '../../../domain/pipeline/queue';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { pipelineStatus } from '../../../domain/pipeline/view';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import { emergency, rollback } from '../../builders/admissionWorld';
import { artifact, manual, NOW, pipelineOf } from '../../builders/pipelineWorld';

const HOUR = 3_600_000;
const ONE_RUNS = { maxActive: 1, expireAfter: '2h' };

/** Release 1 runs, and so many wait that came an hour after each other. */
function waiting(triggers: readonly ReturnType<typeof manual>[], more: Partial<PipelineSource> = {}): PipelineState {
  const one = markReleaseRunning(
    queueRelease(pipelineOf(['deploy'], { releases: ONE_RUNS, ...more }), [artifact('kv:1')], manual(), NOW),
    1,
  );
  return triggers.reduce(
    (state, trigger, index) => queueRelease(state, [artifact(`kv:${index + 2}`)], trigger, NOW + index * HOUR),
    one,
  );
}
const left = (state: PipelineState, nowMs: number) => thinQueue(state, nowMs).active.map(({ number }) => number);

test('a release that has waited for its time and not begun is cancelled, and says why', () => {
  const state = waiting([manual(), manual()]);
  expect(left(state, NOW + 2 * HOUR - 1)).toEqual([1, 2, 3]);
  expect(left(state, NOW + 2 * HOUR)).toEqual([1, 3]);
  expect(left(state, NOW + 3 * HOUR)).toEqual([1]);
  const [row] = thinQueue(state, NOW + 2 * HOUR).history;
  expect(row).toMatchObject({ number: 2, state: 'cancelled', cause: 'expired', neverStarted: true });
});

test('it wakes the pipeline at that time, and shows until when it waits', () => {
  const state = waiting([manual(), manual()]);
  expect([nextExpiry(state), nextWake(state, NOW)]).toEqual([NOW + 2 * HOUR, NOW + 2 * HOUR]);
  const [wait] = pipelineStatus(state, NOW).waits ?? [];
  expect(wait?.why).toBe('1 release runs already (releases.maxActive); it expires at 2026-11-23T19:00:00.000Z');
});

test('a release that expires does not start at that very moment', () => {
  const state = { ...waiting([manual()]), active: waiting([manual()]).active.slice(1) };
  expect(startable(thinQueue(state, NOW + 2 * HOUR), NOW + 2 * HOUR)).toEqual([]);
});

test.each<[string, PipelineState]>([
  ['a rollback', waiting([rollback])],
  ['an emergency', waiting([emergency])],
  ['where nothing is said', waiting([manual()], { releases: { maxActive: 1 } })],
])('nothing expires of %s', (_title, state) => {
  expect(left(state, NOW + 1_000 * HOUR)).toEqual([1, 2]);
  expect(nextExpiry(state)).toBeUndefined();
});

test('nor does what has begun', () => {
  const state = markReleaseRunning(waiting([manual()]), 2);
  expect(state.active.map((release) => expiresAtMs(state, release))).toEqual([undefined, undefined]);
});

test.each<[string, Partial<PipelineState>, Partial<PipelineSource>]>([
  ['in a freeze', { frozen: { actor: 'user:bob', at: '', reason: 'r' } }, {}],
  ['in order', {}, { releases: { ...ONE_RUNS, supersede: 'never' } }],
])('it expires also %s', (_title, state, more) => {
  expect(left({ ...waiting([manual()], more), ...state }, NOW + 2 * HOUR)).toEqual([1]);
});

test('one notice is enough for all that expire at once', () => {
  const words = (count: number) => {
    const state = waiting(Array.from({ length: count }, () => manual()));
    return describeExpired(state, listExpiredReleases(state, NOW + 100 * HOUR));
  };
  expect(words(1)).toBe('it has waited in the queue for 2h');
  expect(words(3)).toBe('it has waited in the queue for 2h, as have kvstore/2, kvstore/3');
  expect(words(14)).toMatch(/as have kvstore\/5, .*kvstore\/14 and 3 more$/);
});
