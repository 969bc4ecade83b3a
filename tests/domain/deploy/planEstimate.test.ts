import fc from 'fast-check';
import { windowAt, type Window } from '../../../domain/calendar/window';
import { estimate as estimateIn, type PhaseLength } from '../../../domain/deploy/estimate';
import { meanUpdateMs } from '../../../domain/deploy/pastUpdates';
import { NO_TIME } from '../../../domain/deploy/spans';
import type { PhaseView } from '../../../domain/views';

const MINUTE = 60_000;
type UpdateWindow = Window & { readonly onClose: 'pause' | 'finish-phase' | 'finish' };
const estimate = (phases: readonly PhaseLength[], startMs: number, window?: UpdateWindow) =>
  estimateIn(phases, startMs, window && { ...window, stateAt: (atMs) => windowAt(window, atMs) });
const OFFICE: UpdateWindow = {
  ...{ days: ['mon', 'tue', 'wed', 'thu'], from: '09:00', to: '18:00' },
  ...{ timezone: 'America/Los_Angeles', onClose: 'pause' },
};
const at = (wall: string): number => Date.parse(`${wall}-08:00`);
const wallOf = (ms: number): string =>
  new Date(ms)
    .toLocaleString('en-US', {
      ...{ timeZone: 'America/Los_Angeles', weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    })
    .replace(',', '');

describe('a phase of 25 minutes of updates and ten of bake', () => {
  const phase = { updateMs: 25 * MINUTE, bakeMs: 10 * MINUTE };
  const check = (begin: string, window: UpdateWindow | undefined, expected: string) => {
    const [times] = estimate([phase], at(begin), window);
    const { startsAtMs, updatedAtMs, bakedAtMs } = times!;
    expect([startsAtMs, updatedAtMs, bakedAtMs].map(wallOf).join(', ')).toBe(expected);
  };
  const FINISH: UpdateWindow = { ...OFFICE, onClose: 'finish-phase' };

  // 2026-11-23 is a Monday; the clocks go forward on Sunday 2027-03-14.
  test.each<[string, string, UpdateWindow | undefined, string]>([
    ['takes 35 minutes without a window', '2026-11-23T03:00', undefined, 'Mon 03:00, Mon 03:25, Mon 03:35'],
    ['waits until the window opens', '2026-11-23T08:30', OFFICE, 'Mon 09:00, Mon 09:25, Mon 09:35'],
    ['may begin at the minute of opening', '2026-11-23T09:00', OFFICE, 'Mon 09:00, Mon 09:25, Mon 09:35'],
    ['does not begin at the minute of closing', '2026-11-23T18:00', OFFICE, 'Tue 09:00, Tue 09:25, Tue 09:35'],
    ['is in time when its updates end at closing', '2026-11-23T17:35', OFFICE, 'Mon 17:35, Mon 18:00, Mon 18:10'],
    ['bakes on after closing', '2026-11-23T17:30', OFFICE, 'Mon 17:30, Mon 17:55, Mon 18:05'],
    ['stands still at closing with pause', '2026-11-23T17:45', OFFICE, 'Mon 17:45, Tue 09:10, Tue 09:20'],
    ['continues at closing with finish-phase', '2026-11-23T17:45', FINISH, 'Mon 17:45, Mon 18:10, Mon 18:20'],
    ['waits with finish-phase, too', '2026-11-23T18:30', FINISH, 'Tue 09:00, Tue 09:25, Tue 09:35'],
    ['stands still over a weekend', '2026-11-26T17:55', OFFICE, 'Thu 17:55, Mon 09:20, Mon 09:30'],
    [
      'is at the same wall time after a change of clocks',
      '2027-03-11T17:55',
      OFFICE,
      'Thu 17:55, Mon 09:20, Mon 09:30',
    ],
  ])('%s', (_, begin, window, expected) => check(begin, window, expected));

  test('waits for no later opening with finish, once the first has begun', () => {
    const times = estimate([phase, phase, phase], at('2026-11-23T17:30'), { ...OFFICE, onClose: 'finish' });
    expect(times.map(({ startsAtMs }) => wallOf(startsAtMs))).toEqual(['Mon 17:30', 'Mon 18:05', 'Mon 18:40']);
    const [first] = estimate([phase, phase], at('2026-11-23T18:30'), { ...OFFICE, onClose: 'finish' });
    expect(wallOf(first!.startsAtMs)).toBe('Tue 09:00');
  });

  test('stands still as often as it must', () => {
    const [times] = estimate([{ updateMs: 20 * 60 * MINUTE, bakeMs: 0 }], at('2026-11-23T09:00'), OFFICE);
    expect(wallOf(times!.updatedAtMs)).toBe('Wed 11:00');
  });

  test('that finds nothing to update takes no time, and waits for the window all the same', () => {
    const none = { updateMs: 0, bakeMs: 0 };
    const times = estimate([phase, none, phase], at('2026-11-23T17:30'), OFFICE);
    expect(times.map(({ startsAtMs, bakedAtMs }) => [startsAtMs, bakedAtMs].map(wallOf))).toEqual([
      ['Mon 17:30', 'Mon 18:05'],
      ['Tue 09:00', 'Tue 09:00'],
      ['Tue 09:00', 'Tue 09:35'],
    ]);
  });
});

describe('for any phases and window', () => {
  const aWindow = fc.record({
    days: fc.subarray(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const, { minLength: 1 }),
    from: fc.constantFrom('00:00', '02:30', '09:00', '17:15'),
    to: fc.constantFrom('01:45', '09:30', '18:00', '24:00'),
    timezone: fc.constantFrom('America/Los_Angeles', 'Europe/Berlin', 'Asia/Kolkata', 'UTC'),
    onClose: fc.constantFrom('pause' as const, 'finish-phase' as const),
  });
  const aPhase = fc.record({ updateMs: fc.nat(300).map((m) => m * MINUTE), bakeMs: fc.nat(90).map((m) => m * MINUTE) });
  const aStart = fc.nat(366 * 24 * 60).map((minute) => Date.UTC(2026, 0, 1) + minute * MINUTE);

  /** How long the window is open between two moments. */
  const openMs = (window: UpdateWindow, fromMs: number, toMs: number): number => {
    let open = 0;
    for (let now = fromMs; now < toMs;) {
      const state = windowAt(window, now);
      const until = Math.min(toMs, state.open ? state.closesAtMs : state.opensAtMs);
      if (state.open) open += until - now;
      now = until;
    }
    return open;
  };

  test('phases follow each other, begin while it is open, and take exactly their time of it', () => {
    fc.assert(
      fc.property(aWindow, fc.array(aPhase, { minLength: 1, maxLength: 6 }), aStart, (window, phases, startMs) => {
        let before = startMs;
        for (const [index, { startsAtMs, updatedAtMs, bakedAtMs }] of estimate(phases, startMs, window).entries()) {
          const { updateMs, bakeMs } = phases[index]!;
          expect(startsAtMs).toBeGreaterThanOrEqual(before);
          expect(openMs(window, before, startsAtMs)).toBe(0);
          expect(windowAt(window, startsAtMs).open).toBe(true);
          const spent = window.onClose === 'pause' ? openMs(window, startsAtMs, updatedAtMs) : updatedAtMs - startsAtMs;
          expect(spent).toBe(updateMs);
          expect(bakedAtMs - updatedAtMs).toBe(bakeMs);
          before = bakedAtMs;
        }
      }),
      { numRuns: 60 },
    );
  });

  test('finishing a phase never ends later than pausing it', () => {
    fc.assert(
      fc.property(aWindow, fc.array(aPhase, { minLength: 1, maxLength: 4 }), aStart, (window, phases, startMs) => {
        const end = (onClose: UpdateWindow['onClose']) => estimate(phases, startMs, { ...window, onClose }).at(-1)!;
        expect(end('finish-phase').bakedAtMs).toBeLessThanOrEqual(end('pause').bakedAtMs);
      }),
      { numRuns: 60 },
    );
  });
});

describe('how long updates took in past deploys', () => {
  const phase = (targeted: number, updatedAt: string | null = '2026-11-23T17:00:00Z') =>
    ({ updatedAt, units: [{ id: 'x', targeted, updated: targeted, live: targeted }] }) as unknown as PhaseView;
  const deploy = (updateMs: number, ...phases: PhaseView[]) => ({ phases, spans: { ...NO_TIME, updateMs } });

  test.each<[string, ReturnType<typeof deploy>[], number | null]>([
    ['is the mean of their phases', [deploy(60_000, phase(3), phase(9)), deploy(90_000, phase(3))], 50_000],
    [
      'counts no phase that was skipped or had nothing to do',
      [deploy(60_000, phase(3), phase(0), phase(9, null))],
      60_000,
    ],
    ['is not known when there are none', [], null],
    ['is not known when they updated nothing', [deploy(0, phase(0))], null],
  ])('%s', (_, deploys, expected) => expect(meanUpdateMs(deploys)).toBe(expected));
});
