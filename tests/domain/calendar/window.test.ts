import fc from 'fast-check';
import { windowAt, type Window } from '../../../domain/calendar/window';
import { minutesAround, PLACES, type Minutes } from './minutes';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;
const LA = 'America/Los_Angeles';
const BERLIN = 'Europe/Berlin';
const HOWE = 'Australia/Lord_Howe';

/** `09:00-18:00 mon,tue` in a zone; all days when none is named. */
function written(text: string, timezone: string): Window {
  const [times = '', days] = text.split(' ');
  const [from = '', to = ''] = times.split('-');
  return { from, to, timezone, days: days === undefined ? [...DAYS] : (days.split(',') as Window['days']) };
}

/** `open until …` or `closed until …`, in UTC. */
function said(window: string, timezone: string, now: string): string {
  const state = windowAt(written(window, timezone), Date.parse(now));
  const until = new Date(state.open ? state.closesAtMs : state.opensAtMs).toISOString().replace(':00.000Z', 'Z');
  return `${state.open ? 'open' : 'closed'} until ${until}`;
}

describe('a window is open from its start to its end, as clocks in its zone show them', () => {
  const week = `09:00-18:00 ${WEEKDAYS.join()}`;
  test.each([
    ['before it opens', week, LA, '2026-11-25T16:59:59Z', 'closed until 2026-11-25T17:00Z'],
    ['when it opens', week, LA, '2026-11-25T17:00:00Z', 'open until 2026-11-26T02:00Z'],
    ['just before it closes', week, LA, '2026-11-26T01:59:59Z', 'open until 2026-11-26T02:00Z'],
    ['when it closes', week, LA, '2026-11-26T02:00:00Z', 'closed until 2026-11-26T17:00Z'],
    ['over the weekend', week, LA, '2026-11-28T02:00:00Z', 'closed until 2026-11-30T17:00Z'],
    ['over the end of the year', '09:00-18:00 fri', 'UTC', '2026-12-29T00:00:00Z', 'closed until 2027-01-01T09:00Z'],
    ['in summer, at the same wall time', week, BERLIN, '2026-07-01T06:59:00Z', 'closed until 2026-07-01T07:00Z'],
    ['until midnight', '18:00-24:00 tue', 'UTC', '2026-12-29T20:00:00Z', 'open until 2026-12-30T00:00Z'],
    ['over midnight', '22:00-04:00 thu', 'UTC', '2026-12-31T23:00:00Z', 'open until 2027-01-01T04:00Z'],
    ['after midnight', '22:00-04:00 thu', 'UTC', '2027-01-01T03:59:00Z', 'open until 2027-01-01T04:00Z'],
    ['but not on other days', '22:00-04:00 thu', 'UTC', '2026-12-31T03:00:00Z', 'closed until 2026-12-31T22:00Z'],
    ['through neighbouring days', '00:00-24:00 sat,sun', 'UTC', '2026-12-26T05:00:00Z', 'open until 2026-12-28T00:00Z'],
    ['through the end of a week', '12:00-12:00 sat,sun', 'UTC', '2026-12-26T13:00:00Z', 'open until 2026-12-28T12:00Z'],
  ])('%s', (_title, window, timezone, now, expected) => {
    expect(said(window, timezone, now)).toBe(expected);
  });
});

describe('where clocks are put forward', () => {
  // 02:00 to 03:00 does not exist: 10:00Z in Los Angeles, 01:00Z in Berlin; in Lord Howe 02:00 to 02:30, at 15:30Z.
  test.each([
    [
      'a start inside the gap opens at its end',
      '02:30-05:00',
      LA,
      '2026-03-08T09:59:00Z',
      'closed until 2026-03-08T10:00Z',
    ],
    [
      'an end inside the gap closes at its end',
      '00:00-02:30',
      LA,
      '2026-03-08T09:59:00Z',
      'open until 2026-03-08T10:00Z',
    ],
    [
      'a window inside the gap stays closed',
      '02:10-02:50',
      BERLIN,
      '2026-03-29T00:30:00Z',
      'closed until 2026-03-30T00:10Z',
    ],
    ['the window is an hour shorter', '01:00-04:00', BERLIN, '2026-03-29T00:00:00Z', 'open until 2026-03-29T02:00Z'],
    ['a gap may be half an hour', '02:15-03:00', HOWE, '2026-10-03T15:00:00Z', 'closed until 2026-10-03T15:30Z'],
    [
      'midnight itself may not exist',
      '00:00-01:30',
      'America/Havana',
      '2026-03-08T04:59:00Z',
      'closed until 2026-03-08T05:00Z',
    ],
  ])('%s', (_title, window, timezone, now, expected) => {
    expect(said(window, timezone, now)).toBe(expected);
  });
});

describe('where clocks are put back', () => {
  // 01:00 to 02:00 comes twice: 08:00Z and 09:00Z in Los Angeles; in Lord Howe 01:30 to 02:00, at 14:30Z and 15:00Z.
  test.each([
    [
      'a start that comes twice opens at the first',
      '01:30-05:00',
      LA,
      '2026-11-01T08:29:00Z',
      'closed until 2026-11-01T08:30Z',
    ],
    [
      'an end that comes twice closes at the last',
      '00:00-01:30',
      LA,
      '2026-11-01T08:45:00Z',
      'open until 2026-11-01T09:30Z',
    ],
    ['it does not close in between', '01:10-01:20', LA, '2026-11-01T08:30:00Z', 'open until 2026-11-01T09:20Z'],
    [
      'an end where the fold begins closes before it',
      '00:00-01:00',
      LA,
      '2026-11-01T07:30:00Z',
      'open until 2026-11-01T08:00Z',
    ],
    [
      'a start where it ends opens after it',
      '02:00-05:00',
      LA,
      '2026-11-01T09:30:00Z',
      'closed until 2026-11-01T10:00Z',
    ],
    ['a fold may be half an hour', '01:00-01:45', HOWE, '2026-04-04T14:50:00Z', 'open until 2026-04-04T15:15Z'],
    [
      '24:00 may come twice',
      '18:00-24:00 sat',
      'America/Havana',
      '2026-11-01T03:30:00Z',
      'open until 2026-11-01T04:00Z',
    ],
  ])('%s', (_title, window, timezone, now, expected) => {
    expect(said(window, timezone, now)).toBe(expected);
  });
});

test('a zone that does not exist is an error, not a closed window', () => {
  expect(() => windowAt(written('09:00-18:00', 'Mars/Olympus'), 0)).toThrow('Mars/Olympus');
});

/** Minute by minute: open when clocks have shown `from` on one of the days, and will yet show a time before its `to`. */
function isOpen({ latest, earliest, wall }: Minutes, { days, from, to }: Window, at: number): boolean {
  const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const today = Math.floor(wall[at]! / 1440);
  return [today - 2, today - 1, today, today + 1].some((day) => {
    if (!days.includes(DAYS[(day + 4) % 7]!)) return false;
    const [start, end] = [minutesOf(from), minutesOf(to)];
    const closes = (end <= start ? day + 1 : day) * 1440 + end;
    return latest[at]! >= day * 1440 + start && earliest[at]! < closes;
  });
}

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 15, 30, 45, 59))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
const nearMidnight = fc.constantFrom('00:00', '00:30', '01:00', '01:30', '02:00', '02:15', '02:30', '03:00');

test('for any window and zone, it is open when a walk through the minutes says so, and changes when that does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PLACES),
      fc.subarray([...DAYS], { minLength: 1 }),
      fc.oneof(nearMidnight, time),
      fc.oneof(nearMidnight, time, fc.constant('24:00')),
      fc.oneof(fc.integer({ min: 9 * 1440, max: 12 * 1440 }), fc.integer({ min: 4 * 1440, max: 14 * 1440 })),
      (place, days, from, to, at) => {
        const minutes = minutesAround(place);
        const window = { days, from, to, timezone: place[0] };
        const open = isOpen(minutes, window, at);
        let change = at + 1;
        while (change < at + 17 * 1440 && isOpen(minutes, window, change) === open) change += 1;
        const state = windowAt(window, minutes.startMs + at * 60_000);
        expect(state.open).toBe(open);
        // One that never closes is looked ahead for some weeks only.
        if (change === at + 17 * 1440) return;
        const changesAtMs = state.open ? state.closesAtMs : state.opensAtMs;
        expect(changesAtMs).toBe(minutes.startMs + change * 60_000);
      },
    ),
    { numRuns: 300 },
  );
});
