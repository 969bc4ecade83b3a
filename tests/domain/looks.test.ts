import { untilNextLook } from '../../domain/looks';

const NAMES = Array.from({ length: 1_000 }, (_, n) => `team-${n}/deploy/7 1`);

test.each([
  ['at its start', 0, 5_000],
  ['after ten seconds', 10_000, 5_000],
  ['after two minutes', 120_000, 6_000],
  ['after an hour', 3_600_000, 30_000],
  ['if clocks disagree', -5_000, 5_000],
])(
  'a wait is asked about again within five seconds or 5%% of its length, at most the interval, and not before half of that: %s',
  (_, waitedMs, longest) => {
    const all = NAMES.map((name) => untilNextLook(waitedMs, 30_000, name));
    expect(Math.max(...all)).toBeLessThanOrEqual(longest);
    expect(Math.max(...all)).toBeGreaterThan(0.99 * longest);
    expect(Math.min(...all)).toBeGreaterThanOrEqual(longest / 2);
    expect(Math.min(...all)).toBeLessThan(0.51 * longest);
  },
);

test('an interval below five seconds is not exceeded', () =>
  expect(Math.max(...NAMES.map((name) => untilNextLook(0, 200, name)))).toBeLessThanOrEqual(200));

test('the same look is always due at the same time', () =>
  expect(untilNextLook(60_000, 30_000, 'auth/deploy/7 3')).toBe(untilNextLook(60_000, 30_000, 'auth/deploy/7 3')));

test('ten thousand deploys that begin to wait in the same second soon look evenly over time', () => {
  const perSecond = new Map<number, number>();
  for (let n = 0; n < 10_000; n += 1)
    for (let [atMs, nth] = [0, 1]; atMs < 120_000; nth += 1) {
      const second = Math.floor(atMs / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
      atMs += untilNextLook(atMs, 30_000, `team-${n}/deploy/7 ${nth}`);
    }
  // Their first look is at once.
  expect(perSecond.get(0)).toBe(10_000);
  const later = Array.from({ length: 100 }, (_, nth) => perSecond.get(20 + nth) ?? 0);
  const mean = later.reduce((sum, one) => sum + one, 0) / later.length;
  expect(Math.max(...later)).toBeLessThan(1.2 * mean);
});
