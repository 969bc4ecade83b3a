import fc from 'fast-check';
import { getOpeningState } from '../../../domain/calendar/opening';
import { windowAt, type Window } from '../../../domain/calendar/window';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const BERLIN = 'Europe/Berlin';

/** `tue,thu 09:00-12:00`, in Berlin unless another zone follows. */
function written(text: string): Window {
  const [days = '', times = '', timezone = BERLIN] = text.split(' ');
  const [from = '', to = ''] = times.split('-');
  return { days: days.split(',') as Window['days'], from, to, timezone };
}

const openings = (texts: readonly string[]) => ({ windows: texts.map(written) });

/** `open until …` or `closed until …`, in UTC; Berlin is an hour ahead. 2026-11-23 is a Monday. */
function said(times: ReturnType<typeof openings>, now: string): string {
  const state = getOpeningState(times, Date.parse(`${now}Z`));
  const until = new Date(state.open ? state.closesAtMs : state.opensAtMs).toISOString().slice(0, 16);
  return `${state.open ? 'open' : 'closed'} until ${until}`;
}

describe('any open window of several will do', () => {
  test.each<[string, string[], string, string]>([
    ['one alone is as ever', ['mon 09:00-12:00'], '2026-11-23T08:30', 'open until 2026-11-23T11:00'],
    ['before the first', ['mon 09:00-12:00', 'mon 14:00-17:00'], '2026-11-23T07:00', 'closed until 2026-11-23T08:00'],
    ['between two', ['mon 09:00-12:00', 'mon 14:00-17:00'], '2026-11-23T11:00', 'closed until 2026-11-23T13:00'],
    ['in the second', ['mon 09:00-12:00', 'mon 14:00-17:00'], '2026-11-23T13:30', 'open until 2026-11-23T16:00'],
    ['after the last', ['mon 09:00-12:00', 'wed 14:00-17:00'], '2026-11-25T16:00', 'closed until 2026-11-30T08:00'],
    ['in any order', ['wed 14:00-17:00', 'mon 09:00-12:00'], '2026-11-23T12:00', 'closed until 2026-11-25T13:00'],
    ['that touch', ['mon 09:00-12:00', 'mon 12:00-17:00'], '2026-11-23T08:30', 'open until 2026-11-23T16:00'],
    ['that overlap', ['mon 09:00-13:00', 'mon 12:00-17:00'], '2026-11-23T08:30', 'open until 2026-11-23T16:00'],
    ['over midnight', ['mon 22:00-24:00', 'tue 00:00-06:00'], '2026-11-23T22:00', 'open until 2026-11-24T05:00'],
    [
      'of several zones',
      ['mon 09:00-17:00', 'mon 09:00-17:00 America/New_York'],
      '2026-11-23T10:00',
      'open until 2026-11-23T22:00',
    ],
  ])('%s', (_title, windows, now, expected) => expect(said(openings(windows), now)).toBe(expected));

  test('those that never close together are asked again in some weeks', () => {
    const state = getOpeningState(
      openings(['mon,tue,wed 00:00-24:00', 'thu,fri,sat,sun 00:00-24:00']),
      Date.UTC(2026, 10, 23),
    );
    expect(state).toMatchObject({ open: true });
    expect(state.open && state.closesAtMs).toBeGreaterThan(Date.UTC(2026, 11, 7));
  });

  const aTime = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 })).map(twoDigits);
  const aWindow: fc.Arbitrary<Window> = fc.record({
    days: fc.subarray([...DAYS], { minLength: 1 }),
    from: aTime,
    to: aTime,
    timezone: fc.constantFrom(BERLIN, 'UTC', 'America/Los_Angeles'),
  });
  const aMoment = fc.integer({ min: Date.UTC(2026, 9, 20) / 60_000, max: Date.UTC(2026, 10, 10) / 60_000 });

  test('it is open exactly while one of them is, and its next change is the next one', () => {
    fc.assert(
      fc.property(fc.array(aWindow, { minLength: 1, maxLength: 4 }), aMoment, (windows, minute) => {
        const isOpen = (atMs: number) => windows.some((window) => windowAt(window, atMs).open);
        const nowMs = minute * 60_000;
        const state = getOpeningState({ windows }, nowMs);
        expect(state.open).toBe(isOpen(nowMs));
        const changesAtMs = state.open ? state.closesAtMs : state.opensAtMs;
        expect(changesAtMs).toBeGreaterThan(nowMs);
        expect(isOpen(changesAtMs - 1)).toBe(state.open);
        if (changesAtMs < nowMs + 14 * 86_400_000) expect(isOpen(changesAtMs)).toBe(!state.open);
        for (let atMs = nowMs; atMs < Math.min(changesAtMs, nowMs + 86_400_000); atMs += 97 * 60_000)
          expect(isOpen(atMs)).toBe(state.open);
      }),
      { numRuns: 25 },
    );
  });
});

function twoDigits(numbers: readonly number[]): string {
  return numbers.map((each) => String(each).padStart(2, '0')).join(':');
}
