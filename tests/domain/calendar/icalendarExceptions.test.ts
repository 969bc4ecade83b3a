import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCalendar } from '../../../domain/calendar/icalendar';

const AT = Date.parse('2026-11-23T17:00:00Z');
const FIXTURES = join(__dirname, '../../fixtures/calendars');
const calendar = (...events: string[][]): string =>
  ['BEGIN:VCALENDAR', ...events.flatMap((lines) => ['BEGIN:VEVENT', 'UID:1@x', ...lines, 'END:VEVENT'])]
    .concat('END:VCALENDAR', '')
    .join('\r\n');
const readFile = (name: string) => readCalendar(readFileSync(join(FIXTURES, name), 'utf8'), AT, 'Europe/Berlin');
/** `from – to`, a line for each. */
const lines = ({ blackouts }: ReturnType<typeof readCalendar>): string[] =>
  blackouts.map(({ from, to }) => `${from} – ${to}`);
const days = (...events: string[][]) => {
  const read = readCalendar(calendar(...events), AT, 'Europe/Berlin');
  return { days: read.blackouts.map(({ from }) => from), doubts: read.doubts, faults: read.faults };
};
const clear = { doubts: [], faults: [] };
const WEEKLY = ['DTSTART;VALUE=DATE:20261203', 'RRULE:FREQ=WEEKLY;COUNT=3', 'SUMMARY:Inventory'];
const TIMED = ['DTSTART;TZID=Europe/Berlin:20261203T090000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=3', 'SUMMARY:x'];

describe('no day of a freeze is lost', () => {
  test.each<[string, string, string[]]>([
    [
      'that is moved with all later ones',
      'moved-with-all-later.ics',
      ['2026-12-07', '2026-12-14', '2026-12-22', '2026-12-29', '2027-01-05', '2027-01-12'].map((d) => `${d} – ${d}`),
    ],
    [
      'of a whole-day series, where a moved day is named by a time',
      'whole-day-moved-by-time.ics',
      ['2026-12-03 – 2026-12-03', '2026-12-11 – 2026-12-11', '2026-12-17 – 2026-12-17'],
    ],
    ['that has a further day and no rule', 'further-day.ics', ['2026-12-24 – 2026-12-24', '2026-12-31 – 2026-12-31']],
    [
      'whose rule ends at an instant in UTC',
      'until-in-utc.ics',
      ['21', '22', '23', '24'].map((day) => `2026-12-${day}T07:00Z – 2026-12-${day}T19:00Z`),
    ],
    ['that is written without VALUE=DATE', 'date-without-value.ics', ['2026-12-25 – 2026-12-25']],
  ])('%s', (_, file, expected) => {
    expect(readFile(file)).toMatchObject(clear);
    expect(lines(readFile(file))).toEqual(expected);
  });

  test('in a file of many kinds of exceptions, whose one event that is not understood is named', () => {
    const read = readFile('exceptions.ics');
    const named = (reason: string) => lines({ ...read, blackouts: read.blackouts.filter((b) => b.reason === reason) });
    // A day has 25 hours where summer time ends.
    expect(named('Stocktaking day')).toEqual(['2027-10-30T22:00Z – 2027-10-31T23:00Z']);
    expect(named('one day, its further day taken back')).toEqual(['2027-08-03T19:00Z – 2027-08-03T21:00Z']);
    expect(named('two rules')).toHaveLength(22);
    expect(named('weekly day with a timed exdate')).toHaveLength(4);
    expect(named('timed with a date exdate')).toHaveLength(4);
    expect(named('last workday').map((line) => line.slice(0, 10))).toEqual([
      ...['2027-01-29', '2027-02-26', '2027-03-31', '2027-04-30'],
    ]);
    expect(named('each 31st').map((line) => line.slice(0, 10))).toEqual([
      ...['2027-01-31', '2027-03-31', '2027-05-31', '2027-07-31'],
    ]);
    expect(named('month end')).toHaveLength(4);
    // The last is at the first of two half past two, before its end at the second three o'clock of summer time.
    expect(named('until in the fold')).toEqual([
      '2027-10-30T00:30Z – 2027-10-30T00:35Z',
      '2027-10-31T00:30Z – 2027-10-31T00:35Z',
    ]);
    expect(read.faults.map(({ message }) => message)).toEqual([
      'event Outlook zone without VTIMEZONE (uid 11@x): W. Europe Standard Time is not a timezone that means one place',
    ]);
  });

  test.each<[string, string[], string[]]>([
    ['UTC, where it is the day before', ['RRULE:FREQ=DAILY;UNTIL=20261230T230000Z'], ['2026-12-30', '2026-12-31']],
    ['UTC, where it is the same day', ['RRULE:FREQ=DAILY;UNTIL=20261231T000000Z'], ['2026-12-30', '2026-12-31']],
    ['a day', ['RRULE:FREQ=DAILY;UNTIL=20261231'], ['2026-12-30', '2026-12-31']],
  ])('an event of whole days until an instant in %s', (_, rule, expected) => {
    expect(days(['DTSTART;VALUE=DATE:20261230', ...rule])).toEqual({ ...clear, days: expected });
  });

  test('with times until a day, that day among them', () => {
    const until = ['DTSTART;TZID=America/New_York:20261230T200000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;UNTIL=20261231'];
    expect(days(until).days).toEqual(['2026-12-31T01:00Z', '2027-01-01T01:00Z']);
  });

  test('that the rule does not name but the event begins with', () => {
    expect(days(['DTSTART;VALUE=DATE:20261202', 'RRULE:FREQ=WEEKLY;BYDAY=TH;COUNT=2']).days).toEqual([
      ...['2026-12-02', '2026-12-03', '2026-12-10'],
    ]);
  });

  test('that has an end of its own, as a PERIOD', () => {
    const periods = 'RDATE;VALUE=PERIOD:20261210T080000Z/20261210T200000Z,20261211T080000Z/PT30M';
    const read = readCalendar(calendar(['DTSTART:20261203T080000Z', 'DURATION:PT1H', periods]), AT, undefined);
    expect(lines(read)).toEqual([
      '2026-12-03T08:00Z – 2026-12-03T09:00Z',
      '2026-12-10T08:00Z – 2026-12-10T20:00Z',
      '2026-12-11T08:00Z – 2026-12-11T08:30Z',
    ]);
  });

  test('that lasts from midnight to midnight, also where the clocks change', () => {
    const weekly = ['DTSTART;TZID=Europe/Berlin:20261018T000000', 'DTEND;TZID=Europe/Berlin:20261019T000000'];
    const read = readCalendar(calendar([...weekly, 'RRULE:FREQ=WEEKLY;COUNT=2']), AT, undefined);
    expect(lines(read)[1]).toBe('2026-10-24T22:00Z – 2026-10-25T23:00Z');
  });

  test.each<[string, string[], string]>([
    ['in another zone', ['RECURRENCE-ID;TZID=America/New_York:20261210T030000'], '2026-12-11T08:00Z'],
    ['in UTC', ['RECURRENCE-ID:20261210T080000Z'], '2026-12-11T08:00Z'],
    ['as a day', ['RECURRENCE-ID;VALUE=DATE:20261210'], '2026-12-11T08:00Z'],
    ['without a zone', ['RECURRENCE-ID:20261210T090000'], '2026-12-11T08:00Z'],
  ])('that is moved and named %s', (_, id, expected) => {
    const moved = [...id, 'DTSTART;TZID=Europe/Berlin:20261211T090000', 'DURATION:PT1H'];
    expect(days(TIMED, moved)).toEqual({ ...clear, days: ['2026-12-03T08:00Z', expected, '2026-12-17T08:00Z'] });
  });

  test('that is moved from far beyond the three years', () => {
    const daily = ['DTSTART;VALUE=DATE:20281230', 'RRULE:FREQ=DAILY'];
    const moved = ['RECURRENCE-ID;VALUE=DATE:20300101', 'DTSTART;VALUE=DATE:20270101'];
    expect(days(daily, moved).days).toEqual(['2027-01-01', '2028-12-30', '2028-12-31']);
  });

  test('nor is one left out that belongs to those that are all cancelled from a day on', () => {
    const gone = [
      'RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261210',
      'DTSTART;VALUE=DATE:20261210',
      'STATUS:CANCELLED',
    ];
    expect(days(WEEKLY, gone)).toEqual({ ...clear, days: ['2026-12-03'] });
  });
});

describe('a whole day that is left out by a time is', () => {
  test.each([
    'EXDATE:20261210T000000Z',
    'EXDATE:20261209T230000Z',
    'EXDATE;TZID=W. Europe Standard Time:20261210T000000',
    'EXDATE:20261210',
  ])('%s', (out) => {
    expect(days([...WEEKLY, out])).toEqual({ ...clear, days: ['2026-12-03', '2026-12-17'] });
  });
});

describe('an exception without effect is reported, and leaves more blackout', () => {
  test.each<[string, string[][], string]>([
    [
      'a day left out that is no day of it',
      [[...WEEKLY, 'EXDATE;VALUE=DATE:20261211']],
      'event Inventory (uid 1@x): its EXDATE 2026-12-11 is no day of it: no day is left out',
    ],
    [
      'a time of day at which no whole day begins',
      [[...WEEKLY, 'EXDATE:20261210T093000Z']],
      'event Inventory (uid 1@x): its EXDATE 2026-12-10T09:30 is no day of it: no day is left out',
    ],
    [
      'rules of days left out',
      [[...WEEKLY, 'EXRULE:FREQ=DAILY']],
      'event Inventory (uid 1@x): its EXRULE is not understood: no day is left out',
    ],
    [
      'a moved day that is no day of it',
      [WEEKLY, ['RECURRENCE-ID;VALUE=DATE:20261212', 'DTSTART;VALUE=DATE:20261203', 'SUMMARY:Moved']],
      'event Inventory (uid 1@x): Moved takes the place of 2026-12-12, which is no day of it',
    ],
  ])('%s', (_, events, doubt) => {
    const read = days(...events);
    expect(read).toMatchObject({ doubts: [doubt], faults: [] });
    expect([...new Set(read.days)]).toEqual(['2026-12-03', '2026-12-10', '2026-12-17']);
  });

  test('entries that are no events', () => {
    const todo = calendar(WEEKLY).replace('END:VCALENDAR', 'BEGIN:VTODO\r\nUID:2\r\nEND:VTODO\r\nEND:VCALENDAR');
    expect(readCalendar(todo, AT, 'UTC').doubts).toEqual(['1 of its entries is no event (VTODO), and no blackout']);
  });
});

describe('an exception that would leave less blackout is refused by name', () => {
  test.each<[string[][], string]>([
    [[[...WEEKLY.slice(0, 1), 'RRULE:RSCALE=HEBREW;FREQ=YEARLY']], 'its rule has RSCALE, which is not understood'],
    [[[...WEEKLY.slice(0, 1), 'RRULE:FREQ=YEARLY;BYWEEKNO=20']], 'its rule has BYWEEKNO without BYDAY'],
    [[[...WEEKLY.slice(0, 1), 'RRULE:COUNT=3']], 'its rule (RRULE) has no FREQ'],
    [[[...WEEKLY.slice(0, 1), 'RRULE:FREQ=DAILY;UNTIL=2026']], '2026-- does not come'],
    [[[...WEEKLY.slice(0, 1), 'RDATE:20261210T080000Z']], 'a further day of it (RDATE) is written as a time'],
    [
      [WEEKLY, ['RECURRENCE-ID;RANGE=THISANDPRIOR;VALUE=DATE:20261210', 'DTSTART;VALUE=DATE:20261211']],
      'RANGE=THISANDPRIOR is not understood',
    ],
    [
      [WEEKLY, ['RECURRENCE-ID;VALUE=DATE:20261210', 'DTSTART;VALUE=DATE:20261211', 'RRULE:FREQ=DAILY']],
      'an event that takes the place of a day of it recurs itself',
    ],
    [
      [
        TIMED,
        [
          'RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20261210T090000',
          'DTSTART;TZID=America/New_York:20261210T030000',
          'DURATION:PT1H',
        ],
      ],
      'all later days of it are moved to another timezone',
    ],
  ])('%#', (events, expected) => {
    expect(days(...events).faults).toEqual([{ message: expect.stringContaining(expected), hint: expect.any(String) }]);
  });
});

interface Recorded {
  readonly events: readonly string[][];
  /** `start end`, of whole days the day after. */
  readonly spans: readonly string[];
}

/** As tests/fixtures/calendars/record.py asked it. */
describe.each(['recurrences', 'bounded'])('random events come when a second implementation says so: %s', (name) => {
  const recorded = JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8')) as Recorded[];
  const full = (at: string): string => at.replace(/T(\d\d:\d\d)Z/, 'T$1:00Z');
  const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

  test.each(recorded.map(({ events, spans }) => ({ events, spans })))('$events', ({ events, spans }) => {
    const body = events.flatMap((event) => ['BEGIN:VEVENT', ...event, 'END:VEVENT']);
    const text = ['BEGIN:VCALENDAR', ...body, 'END:VCALENDAR', ''].join('\r\n');
    const read = readCalendar(text, AT, 'UTC');
    const own = read.blackouts.map(({ from, to, timezone }) =>
      timezone === undefined ? `${full(from)} ${full(to)}` : `${from} ${dayAfter(to)}`,
    );
    expect({ faults: read.faults, spans: own.sort() }).toEqual({ faults: [], spans });
  });
});
