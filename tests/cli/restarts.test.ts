import { planRestart } from '../../cli/stack/restarts';

const SECOND = 1_000;

describe('a process of the stack that died', () => {
  test('is started again, later each time, and given up the sixth time within a minute', () => {
    const deaths = [0, 1, 2, 3, 4, 5].map((second) => second * SECOND);
    const each = deaths.map((_, nth) => planRestart(deaths.slice(0, nth + 1)));
    expect(each.map(({ delayMs }) => delayMs)).toEqual([200, 400, 800, 1600, 3200, null]);
    expect(each.at(-1)).toEqual({ times: 6, delayMs: null });
  });

  test('is always started again when it dies now and then', () => {
    const deaths = Array.from({ length: 50 }, (_, nth) => nth * 15 * SECOND);
    const each = deaths.map((_, nth) => planRestart(deaths.slice(0, nth + 1)));
    expect(each.map(({ delayMs }) => delayMs)).not.toContain(null);
    expect(planRestart([0, SECOND, 61 * SECOND])).toEqual({ times: 1, delayMs: 200 });
  });
});
