import fc from 'fast-check';
import { getAgendaPeriod, planAgenda } from '../../../domain/calendar/agenda';
import { getOpeningState } from '../../../domain/calendar/opening';
import { agenda } from '../../builders/recordPages';

const NOW = Date.parse('2026-11-20T14:03:00Z');
const PERIOD = getAgendaPeriod(NOW);
const PIPELINE = { id: 'kvstore', state: 'active' } as const;
const plan = (spec: object, over: object = {}) =>
  planAgenda(
    {
      pipeline: PIPELINE,
      spec: { schedule: { mode: 'continuous', gates: 'deploys' }, actions: {}, ...spec },
      spreadMs: 0,
      nowMs: NOW,
      ...over,
    } as never,
    PERIOD,
  );

test('fourteen days begin with the present day in UTC', () => {
  expect(PERIOD).toEqual({ fromMs: Date.parse('2026-11-20T00:00:00Z'), toMs: Date.parse('2026-12-04T00:00:00Z') });
});

test('a window is open on its days, but not in a blackout', () => {
  const open = agenda().spans.filter(({ kind }) => kind === 'open');
  expect(open.map(({ from, to }) => `${from.slice(0, 16)} ${to.slice(11, 16)}`)).toEqual([
    '2026-11-23T09:00 17:00',
    '2026-11-24T09:00 17:00',
    '2026-11-25T09:00 17:00',
    '2026-11-30T09:00 17:00',
    '2026-12-01T09:00 17:00',
    '2026-12-02T09:00 17:00',
    '2026-12-03T09:00 17:00',
  ]);
});

test('a calendar fires at its times in its zone, and a busy one is cut and says so', () => {
  const ticks = agenda().moments.filter(({ kind }) => kind === 'calendar');
  expect(ticks.map(({ at }) => at.slice(0, 16))).toEqual(
    ['23', '24', '25', '26', '27', '30']
      .map((day) => `2026-11-${day}T08:00`)
      .concat(['01', '02', '03'].map((day) => `2026-12-${day}T08:00`)),
  );
  const busy = plan({ schedule: { mode: 'calendar', gates: 'releases', calendar: '* * * * *', timezone: 'UTC' } });
  expect([busy.isCut, busy.moments.length]).toEqual([true, 40]);
  expect(busy.moments[0]?.text).toContain('releases may begin');
});

test('a freeze lasts until its end, or to the last day if a person has to lift it', () => {
  const frozen = { ...PIPELINE, state: 'frozen' };
  const spans = (frozenUntil?: string) =>
    plan({}, { pipeline: { ...frozen, frozenUntil } }).spans.map(({ kind, to }) => `${kind} ${to.slice(0, 16)}`);
  expect(spans()).toEqual(['frozen 2026-12-04T00:00']);
  expect(spans('2026-11-22T06:00:00.000Z')).toEqual(['frozen 2026-11-22T06:00']);
});

test('in any windows, open spans are in order, and something may begin at a moment if and only if one contains it', () => {
  const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const time = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`);
  const window = fc.record({
    days: fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1 }),
    from: time,
    to: time,
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
    onClose: fc.constant('pause'),
  });
  const moment = fc.integer({ min: PERIOD.fromMs, max: PERIOD.toMs - 1 });
  const blackouts = [{ from: '2026-11-24T12:00', to: '2026-11-26', timezone: 'Asia/Tokyo', reason: 'moving' }];
  fc.assert(
    fc.property(
      fc.array(window, { minLength: 1, maxLength: 2 }),
      fc.array(moment, { maxLength: 3 }),
      (windows, moments) => {
        const { spans } = plan({ blackouts, actions: { deploy: { type: 'deploy', window: windows } } });
        const open = spans.filter(({ kind }) => kind === 'open');
        let lastMs = PERIOD.fromMs;
        for (const { from, to } of open) {
          expect(Date.parse(from)).toBeGreaterThanOrEqual(lastMs);
          expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
          lastMs = Date.parse(to);
        }
        expect(lastMs).toBeLessThanOrEqual(PERIOD.toMs);
        for (const atMs of moments) {
          const isOpen = open.some(({ from, to }) => Date.parse(from) <= atMs && atMs < Date.parse(to));
          expect(isOpen).toBe(getOpeningState({ windows: windows as never, blackouts }, atMs).open);
        }
      },
    ),
    { numRuns: 40 },
  );
});
