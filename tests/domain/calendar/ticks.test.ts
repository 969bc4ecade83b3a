import fc from 'fast-check';
import { calendarFaults, nextTick } from '../../../domain/calendar/ticks';
import { minutesAround, PLACES } from './minutes';

const LA = 'America/Los_Angeles';
const BERLIN = 'Europe/Berlin';
const HOWE = 'Australia/Lord_Howe';

const next = (calendar: string, timezone: string, after: string, count: number): string[] => {
  const found: string[] = [];
  for (let atMs: number | null = Date.parse(after); found.length < count;) {
    atMs = nextTick(calendar, timezone, atMs);
    if (atMs === null) break;
    found.push(new Date(atMs).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
};

describe('a calendar fires at wall times of its zone', () => {
  test.each([
    ['on its days', '0 10 * * 1-4', LA, '2026-11-26T18:00:00Z', ['2026-11-30T18:00Z', '2026-12-01T18:00Z']],
    ['strictly after', '0 10 * * *', 'UTC', '2026-12-31T10:00:00Z', ['2027-01-01T10:00Z']],
    ['also a moment after', '0 10 * * *', 'UTC', '2026-12-31T09:59:59.999Z', ['2026-12-31T10:00Z']],
    [
      'from 5 every 15',
      '5/15 10 * * *',
      'UTC',
      '2026-11-23T10:30:00Z',
      ['2026-11-23T10:35Z', '2026-11-23T10:50Z', '2026-11-24T10:05Z'],
    ],
    [
      'from the second month every fourth',
      '0 0 1 2/4 *',
      'UTC',
      '2026-11-23T00:00:00Z',
      ['2027-02-01T00:00Z', '2027-06-01T00:00Z'],
    ],
    [
      'on a day of the month or of the week, also where one has a step',
      '0 0 */2 * 1',
      'UTC',
      '2026-11-06T12:00:00Z',
      [
        '2026-11-07T00:00Z',
        '2026-11-09T00:00Z',
        '2026-11-11T00:00Z',
        '2026-11-13T00:00Z',
        '2026-11-15T00:00Z',
        '2026-11-16T00:00Z',
      ],
    ],
    ['every hour', '@hourly', 'UTC', '2026-11-23T10:30:00Z', ['2026-11-23T11:00Z']],
    ['every day', '@daily', 'UTC', '2026-11-23T10:30:00Z', ['2026-11-24T00:00Z']],
    ['every Sunday', '@weekly', 'UTC', '2026-11-23T10:30:00Z', ['2026-11-29T00:00Z']],
    ['on the first', '@monthly', 'UTC', '2026-11-23T10:30:00Z', ['2026-12-01T00:00Z']],
    [
      'with names, steps and lists',
      '*/30 8,20 * jan mon',
      'UTC',
      '2026-11-01T00:00:00Z',
      ['2027-01-04T08:00Z', '2027-01-04T08:30Z', '2027-01-04T20:00Z'],
    ],
    [
      'on a day of the month or of the week',
      '0 0 1 * mon',
      'UTC',
      '2026-11-25T00:00:00Z',
      ['2026-11-30T00:00Z', '2026-12-01T00:00Z'],
    ],
    ['in leap years', '0 0 29 2 *', BERLIN, '2026-11-25T00:00:00Z', ['2028-02-28T23:00Z', '2032-02-28T23:00Z']],
    ['never', '0 0 30 2 *', 'UTC', '2026-11-25T00:00:00Z', []],
    [
      'a time in the gap: at its end',
      '30 2 * * *',
      LA,
      '2026-03-07T12:00:00Z',
      ['2026-03-08T10:00Z', '2026-03-09T09:30Z'],
    ],
    [
      'several in the gap: once',
      '*/15 2 * * *',
      LA,
      '2026-03-08T09:00:00Z',
      ['2026-03-08T10:00Z', '2026-03-09T09:00Z'],
    ],
    ['a gap of half an hour', '15 2 * * *', HOWE, '2026-10-03T00:00:00Z', ['2026-10-03T15:30Z', '2026-10-04T15:15Z']],
    [
      'a time that comes twice: at the first',
      '30 2 * * *',
      BERLIN,
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      'several that come twice: once each',
      '0,30 1 * * *',
      LA,
      '2026-11-01T08:00:00Z',
      ['2026-11-01T08:30Z', '2026-11-02T09:00Z'],
    ],
    ['asked in the second hour', '30 1 * * *', LA, '2026-11-01T09:10:00Z', ['2026-11-02T09:30Z']],
    ['a fold of half an hour', '45 1 * * *', HOWE, '2026-04-04T00:00:00Z', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
  ])('%s: %s in %s', (_title, calendar, timezone, after, expected) => {
    expect(next(calendar, timezone, after, Math.max(1, expected.length))).toEqual(expected);
  });
});

/** Calendars as values beside their text, so that they can be matched without a parser. */
const lists = fc.tuple(
  fc.uniqueArray(fc.constantFrom<number>(0, 1, 15, 30, 45, 59), { minLength: 1, maxLength: 3 }),
  fc.oneof(
    fc.constant(undefined),
    fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 3 }),
    fc.constant<number[]>([1, 2]),
  ),
  fc.oneof(fc.constant(undefined), fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 })),
);

const cases = fc.record({
  place: fc.constantFrom(...PLACES),
  lists,
  at: fc.oneof(fc.integer({ min: 9 * 1440, max: 12 * 1440 }), fc.integer({ min: 4 * 1440, max: 14 * 1440 })),
});

const textOf = ([minutes, hours, days]: typeof lists extends fc.Arbitrary<infer T> ? T : never): string =>
  `${minutes.join()} ${hours?.join() ?? '*'} * * ${days?.join() ?? '*'}`;

test('for any calendar and zone, it fires when a walk through the minutes first reaches one of its times', () => {
  fc.assert(
    fc.property(cases, ({ place, lists: given, at }) => {
      const { startMs, latest } = minutesAround(place);
      const [minutes, hours, days] = given;
      const matches = (wall: number): boolean =>
        minutes.includes(wall % 60) &&
        (hours?.includes(Math.floor(wall / 60) % 24) ?? true) &&
        (days?.includes((Math.floor(wall / 1440) + 4) % 7) ?? true);
      const fires = (index: number): boolean => {
        for (let wall = latest[index - 1]! + 1; wall <= latest[index]!; wall += 1) if (matches(wall)) return true;
        return false;
      };
      let expected = at + 1;
      while (!fires(expected)) expected += 1;
      expect(nextTick(textOf(given), place[0], startMs + at * 60_000)).toBe(startMs + expected * 60_000);
    }),
    { numRuns: 300 },
  );
});

test('ticks lie strictly after what was asked, and a later question never gets an earlier answer', () => {
  fc.assert(
    fc.property(cases, fc.integer({ min: 0, max: 3 * 86_400_000 }), ({ place, lists: given, at }, laterMs) => {
      const afterMs = minutesAround(place).startMs + at * 60_000;
      const calendar = textOf(given);
      const first = nextTick(calendar, place[0], afterMs)!;
      const second = nextTick(calendar, place[0], afterMs + laterMs)!;
      expect(first).toBeGreaterThan(afterMs);
      expect(second).toBeGreaterThan(afterMs + laterMs);
      expect(second).toBeGreaterThanOrEqual(first);
      if (second > first) expect(first).toBeLessThanOrEqual(afterMs + laterMs);
    }),
    { numRuns: 300 },
  );
});

test.each(['constructor', 'toString', '__proto__'])('%s, a word of the language, is no calendar', (word) => {
  expect(calendarFaults(word)).toEqual(['a calendar has five fields, not 1']);
});
