import fc from 'fast-check';
import {
  EMPTY_STRIP,
  nextToLand,
  enqueueChange,
  withLanded,
  whyNotLand,
  type Landing,
  type Strip,
} from '../../../configerator/domain/landing';
import { CONFIG_LIMITS } from '../../../domain/limits';

const inLine = (...changes: readonly number[]): Strip =>
  changes.reduce((strip, change) => enqueueChange(strip, { change }), EMPTY_STRIP);
const changesOf = (strip: Strip): readonly number[] => nextToLand(strip).map(({ change }) => change);
const commit = (change: number): Landing => ({ change, commit: `c${change}` });

test('changes land in the order in which they came, each once', () => {
  expect(changesOf(enqueueChange(inLine(3, 1, 2), { change: 1 }))).toEqual([3, 1, 2]);
});

test('a change that takes something back lands ahead of the queue, behind others of its kind', () => {
  const strip = enqueueChange(enqueueChange(inLine(1, 2), { change: 8, ahead: true }), { change: 9, ahead: true });
  expect(changesOf(strip)).toEqual([8, 9, 1, 2]);
});

test('a change that waits moves ahead of the queue once it is to take something back, as the commit that it was', () => {
  const commit = 'a'.repeat(40);
  const strip = enqueueChange(enqueueChange(inLine(1, 2), { change: 3, commit }), { change: 8, ahead: true });
  const moved = enqueueChange(strip, { change: 3, commit: 'b'.repeat(40), ahead: true });
  expect(changesOf(moved)).toEqual([8, 3, 1, 2]);
  expect(nextToLand(moved)[1]).toEqual({ change: 3, commit, ahead: true });
  expect(enqueueChange(moved, { change: 3 })).toBe(moved);
});

test('a full line refuses the next change, but none that waits in it', () => {
  const { max } = CONFIG_LIMITS.landing;
  const full = inLine(...Array.from({ length: max }, (_, index) => index + 1));
  expect(whyNotLand(full, { change: max + 1 })).toBe('500 changes wait to land, and no more may');
  expect(whyNotLand(full, { change: max })).toBeUndefined();
});

test.each([[undefined], [{ change: 0 }], [{ change: 1.5 }], [{ change: 'x' as unknown as number }]])(
  '%j is not a request',
  (request) => {
    expect(whyNotLand(EMPTY_STRIP, request)).toBe('a change has a number from 1');
  },
);

test('whatever comes between landings, none is forgotten and none waits after its answer', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.boolean()), { maxLength: 150 })),
      (turns) => {
        let strip = EMPTY_STRIP;
        for (const turn of turns) {
          const landing = changesOf(strip);
          for (const [change, ahead] of turn) strip = enqueueChange(strip, { change, ahead });
          const before = strip.waiting.map(({ change }) => change);
          strip = withLanded(strip, landing.map(commit));
          expect(strip.waiting.map(({ change }) => change)).toEqual(
            before.filter((change) => !landing.includes(change)),
          );
          expect(strip.landed.length).toBeLessThanOrEqual(CONFIG_LIMITS.landed.max);
        }
      },
    ),
  );
});
