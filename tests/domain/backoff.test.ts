import { backOff } from '../../domain/backoff';

test.each([
  [1, 100],
  [2, 200],
  [3, 400],
  [6, 3_200],
  [7, 5_000],
  [2_000, 5_000],
])('the wait before another try doubles up to its limit: after %d tries', (tries, ms) => {
  expect(backOff(100, tries, 5_000)).toBe(ms);
});

test('without a limit it doubles for ever', () => {
  expect(backOff(1_000, 11)).toBe(1_024_000);
});
