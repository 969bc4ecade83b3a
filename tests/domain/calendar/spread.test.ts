import fc from 'fast-check';
import { nextSpreadTick } from '../../../domain/calendar/spread';
import { nextTick } from '../../../domain/calendar/ticks';
import { DAY_MS, MINUTE_MS } from '../../../domain/milliseconds';

const NINE = { calendar: '0 9 * * *', timezone: 'UTC' };
const at = (hour: number, minute = 0): number => Date.UTC(2026, 10, 26, hour, minute);
const next = (of: string, spreadMs: number, afterMs = at(0)) => nextSpreadTick({ ...NINE, of }, spreadMs, afterMs);
const NAMES = Array.from({ length: 3_000 }, (_, nth) => `pipeline/model-${nth + 1}`);

describe('pipelines whose calendar says the same', () => {
  test('begin when it says, without a spread', () => {
    for (const name of NAMES) expect(next(name, 0)).toBe(at(9));
  });

  test('begin within the spread, about as many in each minute of it', () => {
    const perMinute = Array.from({ length: 10 }, () => 0);
    for (const name of NAMES) perMinute[Math.floor(((next(name, 10 * MINUTE_MS) ?? 0) - at(9)) / MINUTE_MS)]! += 1;
    for (const count of perMinute) expect(Math.abs(count - 300)).toBeLessThan(60);
  });

  test('begin a day after they did, also one that is asked for just before its own time', () => {
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), fc.integer({ min: 0, max: 240 }), (name, minutes) => {
        const first = next(name, minutes * MINUTE_MS) ?? 0;
        expect(next(name, minutes * MINUTE_MS, first - 1)).toBe(first);
        expect(next(name, minutes * MINUTE_MS, first)).toBe(first + DAY_MS);
      }),
    );
  });

  test('never begin where it never fires', () => {
    const never = { calendar: '0 9 30 2 *', timezone: 'UTC' };
    expect(nextTick(never.calendar, never.timezone, at(0))).toBeNull();
    expect(nextSpreadTick({ ...never, of: 'pipeline/kvstore' }, MINUTE_MS, at(0))).toBeNull();
  });
});
