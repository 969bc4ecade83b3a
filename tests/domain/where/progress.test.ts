import type { UpdateWindow } from '../../../domain/deploy/estimate';
import type { DeployStatus, PhaseView } from '../../../domain/views';
import { computeLiveShare, expectEverywhere, findPhaseUnderWay } from '../../../domain/where/progress';
import { deploy, phase } from '../../builders/cliSamples';

const MINUTE = 60_000;
const NOW = Date.parse('2026-11-20T14:00:00Z');
const at = (minutes: number): string => new Date(NOW + minutes * MINUTE).toISOString();
const tasks = (targeted: number, live: number) => ({ units: 1, targeted, updated: live, live });

/** Three phases: 10% and 50%, each with a bake of ten minutes, and the completion. Updates take four minutes a phase. */
const planned = {
  tasks: 100,
  phases: [
    { share: 0.1, bakeMs: 10 * MINUTE },
    { share: 0.5, bakeMs: 10 * MINUTE },
    { share: 1, bakeMs: 30 * MINUTE },
  ],
};
const done = (index: number, more: Partial<PhaseView> = {}): PhaseView =>
  phase({
    ...{ index, name: `p${index}`, state: 'succeeded', totals: tasks(10, 10), startedAt: at(-30), updatedAt: at(-26) },
    ...{ bakedAt: at(-16), bakeUntil: at(-16), ...more },
  });
const updating = (index: number, targeted: number, live: number, more: Partial<PhaseView> = {}): PhaseView =>
  phase({ index, name: `p${index}`, state: 'running', totals: tasks(targeted, live), startedAt: at(-1), ...more });
const baking = (index: number, until: number): PhaseView =>
  done(index, { state: 'running', bakedAt: null, bakeUntil: at(until) });
const waiting = (index: number): PhaseView => phase({ index, name: `p${index}` });
const running = (phases: readonly PhaseView[], more: Partial<DeployStatus> = {}): DeployStatus => {
  const updateMs = phases.filter(({ updatedAt }) => updatedAt !== null).length * 4 * MINUTE;
  return deploy({ state: 'updating', planned, phases, spans: { ...deploy().spans, updateMs }, ...more });
};

test.each<[title: string, share: number | null, deploy: DeployStatus]>([
  ['nothing before its first update', 0, running([waiting(0), waiting(1), waiting(2)])],
  ['a part of a phase while its tasks come up', 0.1 + 0.4 * 0.25, running([done(0), updating(1, 40, 10), waiting(2)])],
  ['what earlier phases reached, until the first task counts', 0.1, running([done(0), updating(1, 0, 0), waiting(2)])],
  ['a whole phase while it bakes', 0.5, running([done(0), baking(1, 5), waiting(2)])],
  ['no more than a phase is to reach', 0.5, running([done(0), updating(1, 40, 44), waiting(2)])],
  [
    'nothing of a phase that a person skipped before it updated',
    0.1,
    running([done(0), phase({ index: 1, state: 'skipped' }), waiting(2)]),
  ],
  ['everything once it has succeeded', 1, deploy({ state: 'ended', outcome: 'succeeded' })],
  ['nothing once it is reverted', 0, deploy({ state: 'ended', outcome: 'reverted' })],
  ['not known while it reverts', null, running([baking(0, 5)], { state: 'reverting' })],
  ['not known once it is cancelled', null, running([done(0)], { state: 'ended', outcome: 'cancelled' })],
  ['not known from a worker that does not say', null, deploy()],
])('the share of a deploy is %s', (_title, share, status) => {
  const found = computeLiveShare(status);
  if (share === null) expect(found).toBeNull();
  else expect(found).toBeCloseTo(share, 9);
});

test('the phase under way is counted from one', () => {
  expect(findPhaseUnderWay(running([done(0), updating(1, 40, 10), waiting(2)]))).toEqual({ n: 2, of: 3, name: 'p1' });
  expect(findPhaseUnderWay(running([waiting(0)]))).toBeNull();
});

describe('everywhere, if all goes well', () => {
  const expected = (
    status: DeployStatus,
    more: { window?: UpdateWindow; pastUpdateMs?: number } = {},
  ): number | null => {
    const { window, pastUpdateMs = null } = more;
    const ms = expectEverywhere(status, { nowMs: NOW, window, pastUpdateMs });
    return ms === null ? null : (ms - NOW) / MINUTE;
  };
  /** Open until in 20 minutes, then again in five hours. */
  const closing = (onClose: UpdateWindow['onClose']): UpdateWindow => ({
    onClose,
    stateAt: (ms) =>
      ms < NOW + 20 * MINUTE || ms >= NOW + 300 * MINUTE
        ? { open: true, closesAtMs: ms < NOW + 20 * MINUTE ? NOW + 20 * MINUTE : NOW + 900 * MINUTE }
        : { open: false, opensAtMs: NOW + 300 * MINUTE },
  });

  test.each<[title: string, minutes: number | null, status: DeployStatus]>([
    // The rest of the bake, then 4 minutes of updates, a bake of 10, and 4 minutes of the completion.
    ['counts bakes and updates to come', 5 + 4 + 10 + 4, running([baking(0, 5), waiting(1), waiting(2)])],
    ['counts the rest of the updates under way', 3 + 10 + 4, running([done(0), updating(1, 40, 10), waiting(2)])],
    [
      'counts from now on when updates take longer than before',
      10 + 4,
      running([done(0), updating(1, 40, 10, { startedAt: at(-9) }), waiting(2)]),
    ],
    ['does not count the bake of the completion', -26, running([done(0), done(1), baking(2, 5)])],
    [
      'is not known while it is paused',
      null,
      running([baking(0, 5), waiting(1)], { paused: { by: 'operator', actor: 'user:bob', at: at(0), reason: 'wait' } }),
    ],
    [
      'is not known while a group is paused',
      null,
      running([baking(0, 5), waiting(1)], {
        pausedGroups: [{ group: 'region:x', units: [], at: at(0), reason: 'ill' }],
      }),
    ],
    ['is not known while it waits for its lock', null, running([waiting(0)], { state: 'waiting-lock' })],
    ['is not known while it reverts', null, running([baking(0, 5), waiting(1)], { state: 'reverting' })],
    [
      'is not known before any phase has shown how long updates take',
      null,
      running([waiting(0), waiting(1), waiting(2)]),
    ],
    ['is not known from a worker that does not say', null, deploy()],
  ])('%s', (_title, minutes, status) => {
    expect(expected(status)).toBe(minutes);
  });

  test('takes the time of updates from the deploy before, if no phase has shown it', () => {
    expect(expected(running([waiting(0), waiting(1), waiting(2)]), { pastUpdateMs: 2 * MINUTE })).toBe(
      2 + 10 + 2 + 10 + 2,
    );
  });

  test('gives a phase that reaches nothing new no time', () => {
    const twice = { tasks: 100, phases: [planned.phases[0], planned.phases[0], planned.phases[2]] } as typeof planned;
    expect(expected(running([baking(0, 5), waiting(1), waiting(2)], { planned: twice }))).toBe(5 + 4);
  });

  test.each<[onClose: UpdateWindow['onClose'], minutes: number]>([
    // The bake of the second phase ends at 5 + 4 + 10 = 19, so one minute of the completion fits.
    ['pause', 300 + 3],
    ['finish-phase', 23],
    ['finish', 23],
  ])('respects a window that closes with onClose: %s', (onClose, minutes) => {
    expect(expected(running([baking(0, 5), waiting(1), waiting(2)]), { window: closing(onClose) })).toBe(minutes);
  });

  test('lets a phase under way finish after closing, and the next one wait', () => {
    const status = running([done(0), updating(1, 40, 10), waiting(2)]);
    const late: UpdateWindow = {
      onClose: 'finish-phase',
      stateAt: () => ({ open: false, opensAtMs: NOW + 300 * MINUTE }),
    };
    expect(expected(status, { window: { ...late, stateAt: closing('pause').stateAt } })).toBe(3 + 10 + 4);
    const closed = {
      ...late,
      stateAt: (ms: number) =>
        ms >= NOW + 300 * MINUTE ? { open: true as const, closesAtMs: Infinity } : late.stateAt(ms),
    };
    expect(expected(status, { window: closed })).toBe(300 + 4);
  });
});
