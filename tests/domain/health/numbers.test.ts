import fc from 'fast-check';
import { leastP, mannWhitney } from '../../../domain/health/mannWhitney';
import { normalBelow, normalQuantile } from '../../../domain/health/normal';
import { quantile, quantileOfSorted, quantiles, sortNumbers } from '../../../domain/health/series';
import numbers from '../../fixtures/health/numbers.json';

describe('numbers are those of R (tests/fixtures/health/numbers.R)', () => {
  test.each(numbers.ranks)('rank test: $title', ({ x, y, confidence, p, estimate, low, high }) => {
    const test = mannWhitney(x, y, confidence);
    expect(Math.abs(test.p / p - 1)).toBeLessThan(1e-12);
    // R looks for the shift of large samples to four digits.
    expect(test.shift.estimate).toBeCloseTo(estimate, 3);
    expect(test.shift.low).toBeCloseTo(low, 3);
    expect(test.shift.high).toBeCloseTo(high, 3);
  });

  test.each(numbers.quantiles)('quantile $q of $values', ({ values, q, is }) => {
    expect(quantile(values, q)).toBeCloseTo(is, 12);
  });

  test.each(numbers.normals)('normal distribution at $z', ({ z, below }) => {
    expect(Math.abs(normalBelow(z) / below - 1)).toBeLessThan(1e-10);
    if (Math.abs(z) < 6) expect(normalQuantile(normalBelow(z))).toBeCloseTo(z, 9);
  });
});

test('samples without spread differ by exactly what they differ by', () => {
  expect(mannWhitney([5, 5, 5], [5, 5, 5, 5], 0.98)).toEqual({
    p: 1,
    shift: { estimate: 0, low: 0, high: 0 },
    effect: 0,
  });
  expect(mannWhitney([7, 7], [5, 5], 0.98)).toEqual({ p: 0, shift: { estimate: 2, low: 2, high: 2 }, effect: 1 });
});

test.each([2 ** 31, 1e308, -1e308])('one value of %d among sixty decides nothing', (outlier) => {
  const alike = (at: number) => Array.from({ length: 60 }, (_, nth) => 2 + ((nth * 7 + at) % 10) / 100);
  const { shift } = mannWhitney([outlier, ...alike(0)], [-outlier, ...alike(3)], 0.98);
  expect(Math.abs(shift.estimate)).toBeLessThan(0.02);
  expect(shift.low).toBeLessThanOrEqual(0);
  expect(shift.high).toBeGreaterThanOrEqual(0);
});

test('samples as far apart as numbers are come to an end', () => {
  const { p, shift, effect } = mannWhitney(
    new Array<number>(60).fill(1e308),
    [...new Array<number>(60).fill(-1e308), 0],
    0.98,
  );
  expect([p < 1e-6, shift.low, shift.estimate, effect]).toEqual([true, Number.MAX_VALUE, Number.MAX_VALUE, 1]);
});

test.each([
  [3, 3, 2 / 20],
  [4, 5, 2 / 126],
  [1, 1, 1],
  [200, 200, 0],
])('samples of %i and %i values can at best have a p of %d', (a, b, p) => {
  expect(leastP(a, b)).toBeCloseTo(p, 12);
});

test('a million values take no longer than their sorting', () => {
  const many = (from: number) => Array.from({ length: 500_000 }, (_, nth) => from + ((nth * 7919) % 1000) / 1000);
  const { shift, p } = mannWhitney(many(0.2), many(0), 0.98);
  expect(shift.estimate).toBeCloseTo(0.2, 2);
  expect(p).toBeLessThan(1e-6);
});

describe('for all samples', () => {
  const sample = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 1, maxLength: 80 });

  test('the order changes nothing, and exchanging the sides exchanges the sign', () => {
    fc.assert(
      fc.property(sample, sample, (x, y) => {
        const test = mannWhitney(x, y, 0.98);
        expect(mannWhitney([...x].reverse(), [...y].reverse(), 0.98)).toEqual(test);
        const other = mannWhitney(y, x, 0.98);
        expect(other.p).toBeCloseTo(test.p, 9);
        expect(other.effect).toBeCloseTo(-test.effect, 9);
        expect(other.shift.estimate).toBeCloseTo(-test.shift.estimate, 6);
      }),
    );
  });

  test('the estimate lies within its bounds, and p within 0 and 1', () => {
    fc.assert(
      fc.property(sample, sample, (x, y) => {
        const { p, shift, effect } = mannWhitney(x, y, 0.98);
        expect(p >= 0 && p <= 1 && Math.abs(effect) <= 1).toBe(true);
        expect(shift.low).toBeLessThanOrEqual(shift.estimate + 1e-6);
        expect(shift.high).toBeGreaterThanOrEqual(shift.estimate - 1e-6);
      }),
    );
  });
});

describe('quantiles of many values are those of all of them sorted', () => {
  const same = (values: readonly number[], qs: readonly number[]) =>
    expect(quantiles(values, qs)).toEqual(qs.map((q) => quantileOfSorted(sortNumbers(values), q)));
  const QS = [0, 0.25, 1, 25, 50, 75, 99, 99.75, 100];
  const times = (count: number, value: (nth: number) => number) =>
    Array.from({ length: count }, (_, nth) => value(nth));

  test.each([
    ['equal', times(2000, () => 7)],
    ['two of them', times(2000, (nth) => nth % 2)],
    ['one far away', times(2000, (nth) => (nth === 900 ? 1e300 : Math.sin(nth)))],
    ['zeros of either sign', times(2000, (nth) => (nth % 3 === 0 ? -0 : nth % 3 === 1 ? 0 : 1))],
    ['as far apart as numbers are', times(2000, (nth) => (nth % 2 === 0 ? -1 : 1) * 1.7e308)],
    ['as near as numbers are', times(2000, (nth) => (nth % 5) * 5e-324)],
    ['not all numbers', times(2000, (nth) => [NaN, Infinity, -Infinity, nth][nth % 4] ?? 0)],
    ['in order', times(2000, (nth) => nth)],
    ['in the opposite order', times(2000, (nth) => -nth)],
  ])('%s', (_title, values) => same(values, QS));

  test('and of all others', () => {
    const value = fc.oneof(fc.double(), fc.double({ min: 0, max: 1 }), fc.integer({ min: -3, max: 3 }));
    const length = { minLength: 1000, maxLength: 3000, size: 'max' } as const;
    fc.assert(fc.property(fc.array(value, length), fc.array(fc.double({ min: 0, max: 100, noNaN: true })), same), {
      numRuns: 30,
    });
  });
});
