import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCalendar } from '../../../domain/calendar/icalendar';
import { parsePipeline } from '../../../domain/spec/parse';
import type { PipelineSpec } from '../../../domain/spec/pipeline';
import { run } from '../../builders/cliWorld';
import { NOW } from '../../builders/cliSamples';

const AT = Date.parse('2026-11-23T17:00:00Z');
const event = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:7@x', ...lines, 'END:VEVENT'].join('\r\n');
const calendar = (...parts: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:test', ...parts, 'END:VCALENDAR', ''].join('\r\n');
/** `from – to zone: reason`, a line for each. */
const read = (text: string, timezone: string | undefined = 'Europe/Berlin'): string[] =>
  readCalendar(text, AT, timezone).blackouts.map(
    ({ from, to, timezone: zone, reason }) => `${from} – ${to}${zone === undefined ? '' : ` ${zone}`}: ${reason}`,
  );
const faults = (text: string, timezone?: string): string[] =>
  readCalendar(text, AT, timezone).faults.map(({ message }) => message);

describe('an event of a calendar is a dated blackout', () => {
  test('an event of whole days includes both ends', () => {
    const christmas = event('SUMMARY:Christmas', 'DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261227');
    const day = event('SUMMARY:Epiphany', 'DTSTART;VALUE=DATE:20270106');
    expect(read(calendar(christmas, day))).toEqual([
      '2026-12-24 – 2026-12-26 Europe/Berlin: Christmas',
      '2027-01-06 – 2027-01-06 Europe/Berlin: Epiphany',
    ]);
  });

  test.each<[string, string[], string]>([
    ['in UTC', ['DTSTART:20261224T120000Z', 'DTEND:20261224T133000Z'], '2026-12-24T12:00Z – 2026-12-24T13:30Z'],
    [
      'in a zone',
      ['DTSTART;TZID=Europe/Berlin:20260701T120000', 'DURATION:PT1H'],
      '2026-07-01T10:00Z – 2026-07-01T11:00Z',
    ],
    [
      'in the zone of the calendar',
      ['DTSTART:20261224T120000', 'DURATION:P1D'],
      '2026-12-24T11:00Z – 2026-12-25T11:00Z',
    ],
    [
      'from one zone to another',
      ['DTSTART;TZID=Europe/Berlin:20261224T120000', 'DTEND;TZID=America/New_York:20261224T120000'],
      '2026-12-24T11:00Z – 2026-12-24T17:00Z',
    ],
  ])('with times %s', (_, lines, expected) => {
    expect(read(calendar(event('SUMMARY:x', ...lines)))).toEqual([`${expected}: x`]);
  });

  test('in a zone that the file describes itself, as those of Outlook are', () => {
    const zone = [
      'BEGIN:VTIMEZONE',
      'TZID:W. Europe Standard Time',
      'BEGIN:STANDARD',
      'DTSTART:16010101T000000',
      'TZOFFSETFROM:+0100',
      'TZOFFSETTO:+0100',
      'END:STANDARD',
      'END:VTIMEZONE',
    ].join('\r\n');
    const timed = event('SUMMARY:x', 'DTSTART;TZID=W. Europe Standard Time:20261224T120000', 'DURATION:PT1H');
    expect(read(calendar(zone, timed), undefined)).toEqual(['2026-12-24T11:00Z – 2026-12-24T12:00Z: x']);
  });

  test('in the zone that the file says of itself, when the pipeline says none', () => {
    const day = event('SUMMARY:x', 'DTSTART;VALUE=DATE:20261224');
    const said = calendar('X-WR-TIMEZONE:Europe/Paris', day);
    const { blackouts } = readCalendar(said, AT, undefined);
    expect(blackouts[0]?.timezone).toBe('Europe/Paris');
  });

  test('that recurs, for this year and two more, at the same wall time, without what is left out, and with what is moved', () => {
    const rule = ['DTSTART;TZID=Europe/Berlin:20200315T120000', 'DURATION:PT1H', 'RRULE:FREQ=YEARLY'];
    expect(read(calendar(event('SUMMARY:x', ...rule)))).toEqual([
      '2026-03-15T11:00Z – 2026-03-15T12:00Z: x',
      '2027-03-15T11:00Z – 2027-03-15T12:00Z: x',
      '2028-03-15T11:00Z – 2028-03-15T12:00Z: x',
    ]);
    const days = ['DTSTART;VALUE=DATE:20200101', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20270101'];
    const moved = event('SUMMARY:moved', 'RECURRENCE-ID;VALUE=DATE:20280101', 'DTSTART;VALUE=DATE:20280103');
    expect(read(calendar(event('SUMMARY:New Year', ...days), moved))).toEqual([
      '2026-01-01 – 2026-01-01 Europe/Berlin: New Year',
      '2028-01-03 – 2028-01-03 Europe/Berlin: moved',
    ]);
    const gone = event(
      'SUMMARY:x',
      'STATUS:CANCELLED',
      'RECURRENCE-ID;VALUE=DATE:20280101',
      'DTSTART;VALUE=DATE:20280101',
    );
    expect(read(calendar(event('SUMMARY:New Year', ...days), gone))).toHaveLength(1);
  });

  test('that recurs on the 29th of February, which not every year has', () => {
    for (const rule of ['RRULE:FREQ=YEARLY', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29'])
      expect(read(calendar(event('SUMMARY:x', 'DTSTART;VALUE=DATE:20200229', rule)))).toEqual([
        '2028-02-29 – 2028-02-29 Europe/Berlin: x',
      ]);
  });

  test('but not when it is left out itself', () => {
    const out = event('SUMMARY:x', 'DTSTART;VALUE=DATE:20270101', 'EXDATE;VALUE=DATE:20270101');
    const timed = ['DTSTART;TZID=Europe/Berlin:20261224T120000', 'DURATION:PT1H'];
    const outOnce = event('SUMMARY:x', ...timed, 'EXDATE;TZID=Europe/Berlin:20261224T120000');
    const stays = event('SUMMARY:y', 'DTSTART;VALUE=DATE:20270101', 'EXDATE;VALUE=DATE:20270102');
    expect(read(calendar(out, outOnce, stays))).toEqual(['2027-01-01 – 2027-01-01 Europe/Berlin: y']);
  });

  test('but not once it is over, nor twice', () => {
    const past = event('SUMMARY:x', 'DTSTART;VALUE=DATE:20240101');
    const day = event('SUMMARY:x', 'DTSTART;VALUE=DATE:20270101');
    expect(read(calendar(past, day, day))).toEqual(['2027-01-01 – 2027-01-01 Europe/Berlin: x']);
  });
});

describe('an unreadable event is reported by name', () => {
  test.each<[string[], string]>([
    [['DTSTART:20261224T120000Z'], 'it has no end'],
    [['DTSTART:20261224T120000Z', 'DTEND:20261224T110000Z'], 'it ends when it begins, or before'],
    [['DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261223'], 'it ends before it begins'],
    [
      ['DTSTART;TZID=Middle/Earth:20261224T120000', 'DURATION:PT1H'],
      'Middle/Earth is not a timezone that means one place',
    ],
    [['DTSTART:20261224T120000', 'DURATION:PT1H'], 'its time has no timezone'],
    [['DTSTART;VALUE=DATE:20261224'], 'whole days need a timezone, and the file has none'],
    [['DTSTART:20261324T250000Z', 'DURATION:PT1H'], '2026-13-24T25:00:00Z does not come'],
    [[], 'it has no beginning (DTSTART)'],
    [['DTSTART:20261224T120000Z', 'DURATION:PT1H', 'RRULE:FREQ=HOURLY'], 'it recurs more often than each day'],
    [
      ['DTSTART:20261224T120000Z', 'DURATION:PT1H', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'],
      'its rule names a day that does not come (BYMONTHDAY=30)',
    ],
    [['DTSTART:20261224T120000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=0'], 'it never comes: its rule has COUNT=0'],
  ])('%j', (lines, expected) => {
    expect(faults(calendar(event('SUMMARY:Party', ...lines)))).toEqual([`event Party (uid 7@x): ${expected}`]);
  });

  test.each<[string, string, RegExp]>([
    ['nothing', '', /not an iCalendar file/],
    ['something else', '%PDF-1.4', /not an iCalendar file/],
    ['half of one', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT', /cannot be read: invalid ical body/],
    ['no events', calendar(), /it has no events/],
    ['several calendars', calendar() + calendar(), /several calendars/],
    ['too many events', calendar(...Array.from({ length: 2001 }, () => event())), /2001 events, more than 2000/],
  ])('%s', (_, text, expected) => expect(faults(text)).toEqual([expect.stringMatching(expected)]));
});

describe('a pipeline file names a calendar that lies beside it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-ics-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const day = (date: string, ...more: string[]) => event('SUMMARY:Holiday', `DTSTART;VALUE=DATE:${date}`, ...more);
  const pipeline = (ics: string, more = '') => {
    const path = join(folder, 'pipeline.yaml');
    const entries = `  - { ics: ${ics}, timezone: Europe/Berlin }\n${more}`;
    writeFileSync(
      path,
      `pipeline: web\nowners: [user:alice]\nblackouts:\n${entries}actions:\n  test: { type: integr-test, window: { days: [mon], from: "09:00", to: "12:00", timezone: UTC } }\n`,
    );
    return path;
  };
  const holidays = (text: string | Buffer, name = 'holidays.ics') => writeFileSync(join(folder, name), text);
  const lint = async (ics: string, more = '') => {
    const { out } = await run(['lint', pipeline(ics, more), '-o', 'json']);
    const { files } = JSON.parse(out) as { files: { problems: { code: string; message: string; line: number }[] }[] };
    return files[0]?.problems.map(({ code, message, line }) => `${line} ${code}: ${message}`);
  };
  const year = new Date(NOW).getUTCFullYear();

  test('an event that apply turns into dated blackouts, and nothing else', async () => {
    holidays(calendar(day(`${year}0501`, 'RRULE:FREQ=YEARLY')));
    let applied: PipelineSpec | undefined;
    const client = {
      apply: (spec: PipelineSpec) => {
        applied = spec;
        return Promise.resolve({ created: true, previous: null });
      },
    };
    const more = '  - { from: 12-24, to: 12-26, timezone: UTC, reason: Christmas }\n';
    expect(await run(['apply', pipeline('holidays.ics', more)], { client })).toMatchObject({ code: 0, err: '' });
    expect(applied?.blackouts).toEqual([
      ...[year, year + 1, year + 2].map((each) => ({
        ...{ from: `${each}-05-01`, to: `${each}-05-01`, timezone: 'Europe/Berlin', reason: 'Holiday' },
      })),
      { from: '12-24', to: '12-26', timezone: 'UTC', reason: 'Christmas' },
    ]);
  });

  test('in TypeScript as well', async () => {
    holidays(calendar(day(`${year}0501`, 'RRULE:FREQ=YEARLY')));
    const path = join(folder, 'pipeline.ts');
    const source = {
      pipeline: 'web',
      owners: ['user:alice'],
      actions: { test: { type: 'integr-test', blackouts: [{ ics: 'holidays.ics', timezone: 'UTC' }] } },
    };
    writeFileSync(path, `export const pipeline = ${JSON.stringify(source)};\n`);
    expect(await run(['lint', path])).toMatchObject({ code: 0 });
  });

  test('and lint says where what is wrong, also of what comes after it', async () => {
    holidays(calendar(day(`${year}0501`, 'RRULE:FREQ=YEARLY'), event('SUMMARY:Party', 'DTSTART:20261224T120000Z')));
    const more = '  - { from: 02-30, to: 03-01, timezone: UTC, reason: never }\n';
    expect(await lint('holidays.ics', more)).toEqual([
      '4 invalid-calendar: holidays.ics: event Party (uid 7@x): it has no end',
      '5 no-such-date: 02-30 does not come',
    ]);
  });

  describe('and what of it was not understood is shown wherever a person decides:', () => {
    const doubtful = () =>
      holidays(
        calendar(
          day(`${year}0501`, 'RRULE:FREQ=YEARLY', 'EXRULE:FREQ=YEARLY;BYMONTH=5'),
          event('SUMMARY:Gone', 'DTSTART;VALUE=DATE:20990101'),
        ),
      );
    const words = /holidays\.ics: .*its EXRULE is not understood: no day is left out/;

    test('by lint', async () => {
      doubtful();
      const found = await lint('holidays.ics');
      expect(found).toEqual([expect.stringMatching(new RegExp(`^4 calendar-not-understood: ${words.source}`))]);
      const { code, out } = await run(['lint', pipeline('holidays.ics')]);
      expect([code, out]).toEqual([0, expect.stringMatching(words)]);
      expect(out).toMatch(/warning/);
      expect(out).toContain('compare its blackouts (conveyor plan) with the calendar that you see');
    });

    test('by plan', async () => {
      doubtful();
      const { out, err } = await run(['plan', pipeline('holidays.ics')], { client: {} });
      expect(out + err).toMatch(words);
    });

    test('by apply', async () => {
      doubtful();
      const client = { apply: () => Promise.resolve({ created: true, previous: null }) };
      const { code, out, err } = await run(['apply', pipeline('holidays.ics')], { client });
      expect(code).toBe(0);
      expect(out + err).toMatch(words);
    });

    test('with how many more there are, of very many', async () => {
      const parts = Array.from({ length: 13 }, (_, nth) =>
        event(`SUMMARY:Part ${nth}`, `DTSTART;VALUE=DATE:${year}0501`, 'EXRULE:FREQ=DAILY').replace('7@x', `${nth}@x`),
      );
      holidays(calendar(...parts));
      const found = ((await lint('holidays.ics')) ?? []).filter((line) => line.includes('calendar-not-understood'));
      expect(found).toHaveLength(11);
      expect(found.at(-1)).toBe('4 calendar-not-understood: holidays.ics: 3 more things in it are not understood');
    });
  });

  test('which may be about to end', async () => {
    holidays(calendar(day(`${year}0102`)));
    expect(await lint('holidays.ics')).toEqual([
      expect.stringMatching(/^4 calendar-ends: holidays.ics has nothing after/),
    ]);
  });

  test.each<[string, string | Buffer, RegExp]>([
    ['is larger than a megabyte', 'x'.repeat(1_100_000), /it has 1074 kB, more than 1024 kB/],
    ['is not text', Buffer.from([0xff, 0xfe, 0x00, 0x42]), /it is not text in UTF-8/],
    ['is empty', '', /it is not an iCalendar file/],
    ['comes without end', calendar(day('19000101', 'RRULE:FREQ=DAILY')), /its events come more than 20000 times/],
    [
      'is too full',
      calendar(day(`${year}1101`, 'RRULE:FREQ=DAILY;COUNT=150')),
      /it has 150 blackouts in three years, more than 100/,
    ],
  ])(
    'and that %s',
    async (_, text, expected) => {
      holidays(text);
      expect(await lint('holidays.ics')).toEqual([expect.stringMatching(expected)]);
    },
    30_000,
  );

  test('not one that is somewhere else, or nowhere, or no file', async () => {
    mkdirSync(join(folder, 'folder'), { recursive: true });
    expect(await lint('https://example.org/holidays.ics')).toEqual([
      '4 calendar-unreadable: https://example.org/holidays.ics is an address: nothing is fetched',
    ]);
    expect(await lint('none.ics')).toEqual([
      expect.stringContaining('4 calendar-unreadable: none.ics: there is no file'),
    ]);
    expect(await lint('folder')).toEqual(['4 calendar-unreadable: folder: it is not a file']);
  });

  test('a calendar is not read if the pipeline does not come from a file', () => {
    const { spec, problems } = parsePipeline(
      'pipeline: web\nowners: [user:alice]\nblackouts: [{ ics: /etc/holidays.ics }]\nactions: { a: { type: build } }\n',
    );
    expect(spec).toBeNull();
    expect(problems[0]?.hint).toContain('calendars are read where the pipeline file lies');
  });
});
