import fc from 'fast-check';
import { spanAt, type Blackout } from '../../../domain/calendar/blackout';
import { blackoutsWithin, getOpeningState } from '../../../domain/calendar/opening';
import { windowAt, type Window } from '../../../domain/calendar/window';

const BERLIN = 'Europe/Berlin';
const WEEKDAYS: Window['days'] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const OFFICE: Window = { days: WEEKDAYS, from: '09:00', to: '17:00', timezone: BERLIN };

/** `12-24..12-26`, or `fri 12:00..18:00`; in Berlin. */
function blackout(text: string, reason = 'Christmas'): Blackout {
  const [ends = '', days] = text.split(' ').reverse();
  const [from = '', to = ''] = ends.split('..');
  return { from, to, timezone: BERLIN, reason, ...(days ? { days: days.split(',') as Window['days'] } : {}) };
}

const utc = (atMs: number) => new Date(atMs).toISOString().slice(0, 16);

function span(text: string, now: string): string {
  const found = spanAt(blackout(text), Date.parse(`${now}Z`));
  return found === undefined ? 'over' : `${utc(found.fromMs)} to ${utc(found.toMs)}`;
}

describe('a blackout begins and ends as clocks in its zone show it', () => {
  test.each([
    [
      'days are whole days, the last one too',
      '2026-12-24..2026-12-26',
      '2026-11-01T00:00',
      '2026-12-23T23:00 to 2026-12-26T23:00',
    ],
    ['a single day', '2026-12-24..2026-12-24', '2026-11-01T00:00', '2026-12-23T23:00 to 2026-12-24T23:00'],
    [
      'times end when they say',
      '2026-12-24T12:00..2026-12-27T06:00',
      '2026-11-01T00:00',
      '2026-12-24T11:00 to 2026-12-27T05:00',
    ],
    [
      'in summer it is another hour',
      '2026-07-01..2026-07-01',
      '2026-01-01T00:00',
      '2026-06-30T22:00 to 2026-07-01T22:00',
    ],
    [
      'an instant needs no zone',
      '2026-12-24T12:00Z..2026-12-24T12:00-08:00',
      '2026-01-01T00:00',
      '2026-12-24T12:00 to 2026-12-24T20:00',
    ],
    [
      'an end may be a time and the other a day',
      '2026-12-24T18:00..2026-12-24',
      '2026-01-01T00:00',
      '2026-12-24T17:00 to 2026-12-24T23:00',
    ],
    ['it is over for good', '2026-12-24..2026-12-26', '2026-12-26T23:00', 'over'],
    ['each year', '12-24..12-26', '2026-12-26T23:00', '2027-12-23T23:00 to 2027-12-26T23:00'],
    ['each year, over its end', '12-24..01-02', '2027-01-02T12:00', '2026-12-23T23:00 to 2027-01-02T23:00'],
    [
      'each year, in the middle of the year',
      '12-24..01-02',
      '2027-01-02T23:00',
      '2027-12-23T23:00 to 2028-01-02T23:00',
    ],
    ['each week', 'fri 12:00..18:00', '2026-11-23T00:00', '2026-11-27T11:00 to 2026-11-27T17:00'],
    [
      'each week, from one day to the next',
      'fri 22:00..06:00',
      '2026-11-23T00:00',
      '2026-11-27T21:00 to 2026-11-28T05:00',
    ],
    [
      'a start in the gap of spring is its end',
      '2026-03-29T02:30..2026-03-29T05:00',
      '2026-01-01T00:00',
      '2026-03-29T01:00 to 2026-03-29T03:00',
    ],
    [
      'an end that comes twice in autumn is the last',
      '2026-10-25T00:00..2026-10-25T02:30',
      '2026-01-01T00:00',
      '2026-10-24T22:00 to 2026-10-25T01:30',
    ],
  ])('%s', (_title, text, now, expected) => expect(span(text, now)).toBe(expected));
});

/** `open until …` or `closed until …`, and for which blackout. */
function said(windows: Window[], blackouts: Blackout[], now: string): string {
  const state = getOpeningState({ windows, blackouts }, Date.parse(`${now}Z`));
  if (state.open) return `open until ${utc(state.closesAtMs)}`;
  return `closed until ${utc(state.opensAtMs)}${state.why === undefined ? '' : `: ${state.why}`}`;
}

describe('in a blackout everything is as outside of the window', () => {
  const holidays = [blackout('2026-12-24..2026-12-25')];
  test.each<[string, Window[], Blackout[], string, string]>([
    [
      'it closes when a blackout begins',
      [OFFICE],
      [blackout('2026-12-24T12:00..2026-12-25')],
      '2026-12-24T09:00',
      'open until 2026-12-24T11:00',
    ],
    [
      'it opens in the window after it',
      [OFFICE],
      holidays,
      '2026-12-24T09:00',
      'closed until 2026-12-28T08:00: Christmas',
    ],
    [
      'the night before says already why it stays closed',
      [OFFICE],
      holidays,
      '2026-12-23T20:00',
      'closed until 2026-12-28T08:00: Christmas',
    ],
    [
      'a night that no blackout makes longer does not',
      [OFFICE],
      holidays,
      '2026-12-22T20:00',
      'closed until 2026-12-23T08:00',
    ],
    [
      'it opens within a window when the blackout ends there',
      [OFFICE],
      [blackout('2026-12-24T00:00..2026-12-24T12:00')],
      '2026-12-24T09:00',
      'closed until 2026-12-24T11:00: Christmas',
    ],
    [
      'several in a row are one',
      [OFFICE],
      [blackout('2026-12-28..2026-12-31', 'stocktaking'), ...holidays],
      '2026-12-24T09:00',
      'closed until 2027-01-01T08:00: Christmas',
    ],
    ['without a window it is open at any other time', [], holidays, '2026-12-20T00:00', 'open until 2026-12-23T23:00'],
    [
      'without a window it opens when the blackout ends',
      [],
      holidays,
      '2026-12-24T00:00',
      'closed until 2026-12-25T23:00: Christmas',
    ],
    [
      'each week',
      [OFFICE],
      [blackout('fri 12:00..24:00', 'weekend')],
      '2026-11-27T12:00',
      'closed until 2026-11-30T08:00: weekend',
    ],
  ])('%s', (_title, windows, blackouts, now, expected) => expect(said(windows, blackouts, now)).toBe(expected));

  test('a search for a window that never opens ends, and reports it as closed', () => {
    const always = blackout('sun,mon,tue,wed,thu,fri,sat 00:00..24:00');
    expect(getOpeningState({ windows: [OFFICE], blackouts: [always] }, Date.UTC(2026, 10, 23))).toMatchObject({
      open: false,
    });
  });

  const aMinute = fc.integer({ min: Date.UTC(2026, 9, 1) / 60_000, max: Date.UTC(2026, 10, 30) / 60_000 });
  const aDated = fc.tuple(aMinute, fc.integer({ min: 1, max: 10_000 })).map(([from, minutes]): Blackout => ({
    ...{ from: `${utc(from * 60_000)}Z`, to: `${utc((from + minutes) * 60_000)}Z` },
    reason: 'some reason',
  }));

  test('it is open exactly while the window is and no blackout is, up to the change that it names', () => {
    fc.assert(
      fc.property(fc.array(aDated, { maxLength: 4 }), aMinute, (blackouts, minute) => {
        const isOpen = (atMs: number) =>
          windowAt(OFFICE, atMs).open &&
          !blackouts.some(({ from, to }) => Date.parse(from) <= atMs && atMs < Date.parse(to));
        const nowMs = minute * 60_000;
        const state = getOpeningState({ windows: [OFFICE], blackouts }, nowMs);
        const changesAtMs = state.open ? state.closesAtMs : state.opensAtMs;
        expect(state.open).toBe(isOpen(nowMs));
        expect([isOpen(changesAtMs - 1), isOpen(changesAtMs)]).toEqual([state.open, !state.open]);
        for (let atMs = nowMs; atMs < Math.min(changesAtMs, nowMs + 3 * 86_400_000); atMs += 97 * 60_000)
          expect(isOpen(atMs)).toBe(state.open);
      }),
      { numRuns: 25 },
    );
  });
});

test('those that a plan meets are the ones that begin before its end', () => {
  const [christmas, easter] = [blackout('12-24..12-26'), blackout('2027-03-26..2027-03-29')];
  const between = (from: string, to: string) => blackoutsWithin([christmas, easter], Date.parse(from), Date.parse(to));
  expect(between('2026-12-20', '2026-12-22')).toEqual([]);
  expect(between('2026-12-20', '2026-12-25')).toEqual([christmas]);
  expect(between('2026-12-25', '2027-04-01')).toEqual([christmas, easter]);
  expect(between('2027-04-01', '2027-04-02')).toEqual([]);
});
