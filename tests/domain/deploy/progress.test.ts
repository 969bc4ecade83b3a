import fc from 'fast-check';
import { afterWatch, type BakeWatchResult } from '../../../domain/deploy/bake';
import { NO_COMMANDS, type Control } from '../../../domain/deploy/control';
import {
  createCancelledEnding as endOfStopped,
  buildDeployResult,
  createSuccessEnding,
  type Ending,
} from '../../../domain/deploy/outcome';
import {
  countGone,
  judgeProgress,
  judgeTimeout,
  countMissingTasks,
  withEarlier,
  type Unreachable,
} from '../../../domain/deploy/progress';
import { NO_TIME } from '../../../domain/deploy/spans';
import type { Amount } from '../../../domain/fleet/amount';
import type { UnitProgress } from '../../../domain/fleet/unit';
import type { Pause } from '../../../domain/views';

const unit = (fields: Partial<UnitProgress> = {}): UnitProgress => ({
  id: 'kvstore-x',
  state: 'updating',
  targeted: 10,
  updated: 0,
  live: 0,
  failed: 0,
  unreachable: 0,
  gone: 0,
  ...fields,
});
const ALL: Amount = { all: true };

describe('a phase', () => {
  const check = (units: Partial<UnitProgress>[], success: Amount, expected: object, unreachable?: Unreachable) =>
    expect(judgeProgress(units.map(unit), success, unreachable)).toEqual(expected);

  test.each<[string, Partial<UnitProgress>[], Amount, object]>([
    ['continues while tasks are missing', [{ updated: 9, live: 9 }], ALL, { kind: 'going' }],
    ['is met when all are live', [{ updated: 10, live: 10 }], ALL, { kind: 'met' }],
    ['is met at the percentage that is asked for', [{ updated: 9, live: 9 }], { percent: 90 }, { kind: 'met' }],
    ['rounds that percentage up', [{ updated: 9, live: 9 }], { percent: 91 }, { kind: 'going' }],
    ['counts all units together', [{ live: 10 }, { live: 8 }], { percent: 90 }, { kind: 'met' }],
    ['wants no task that is gone', [{ live: 7, gone: 3 }], ALL, { kind: 'met' }],
    ['is met when nothing is left to update', [{ gone: 10 }], ALL, { kind: 'met' }],
    ['lets no unit with more gone than it has stand for another', [{ gone: 12 }, { live: 8 }], ALL, { kind: 'going' }],
    ['lets no unit that was replaced stand for another', [{ live: 10, gone: 2 }, { live: 8 }], ALL, { kind: 'going' }],
    ['is met without units', [], ALL, { kind: 'met' }],
    ['wants no more than there are', [{ live: 10 }], { count: 50 }, { kind: 'met' }],
    ['waits for unreachable hosts while it updates', [{ live: 5, unreachable: 5 }], ALL, { kind: 'going' }],
    [
      'does not wait for a unit that gave up when the others are enough',
      [{ state: 'failed', live: 8, failed: 2 }, { live: 0 }],
      { percent: 90 },
      { kind: 'going' },
    ],
    [
      'fails when tasks are dead',
      [{ state: 'failed', updated: 3, live: 1, failed: 2, reason: 'crash loop' }],
      ALL,
      { kind: 'not-live', reason: '1 task live of 10 needed; kvstore-x: crash loop' },
    ],
    [
      'is stuck when the push type gave up before updating',
      [{ state: 'failed', reason: 'no capacity' }],
      ALL,
      { kind: 'stuck', reason: '0 tasks live of 10 needed; kvstore-x: no capacity' },
    ],
    [
      'waits, as long as its time is not up, for the unreachable tasks of a unit that is done: they may return',
      [{ state: 'done', updated: 9, live: 9, unreachable: 1 }],
      ALL,
      { kind: 'going' },
    ],
  ])('%s', (_, units, success, expected) => check(units, success, expected));

  test('that is a revert does not wait for them: it is tried again, and says why', () =>
    check(
      [{ state: 'done', updated: 9, live: 9, unreachable: 1 }],
      ALL,
      { kind: 'stuck', reason: '9 tasks live of 10 needed; 1 task unreachable' },
      'ends',
    ));
});

describe('a phase that is tried again', () => {
  const LOST = unit({ state: 'done', targeted: 49, updated: 47, live: 47, unreachable: 2 });
  const NONE = unit({ state: 'done', targeted: 0 });
  const together = (before: Partial<UnitProgress>, first: Partial<UnitProgress>, now: Partial<UnitProgress>) =>
    withEarlier([unit(before)], [unit(first)], [unit(now)])[0]!;

  test('is not met by a try that has nothing to do, since those out of reach have their version set', () => {
    const seen = together(LOST, LOST, NONE);
    expect(seen).toMatchObject({ targeted: 49, updated: 47, live: 47, unreachable: 2 });
    expect(judgeProgress([seen], { percent: 97 })).toEqual({ kind: 'going' });
  });

  test('is met when they return', () => {
    const seen = together(LOST, { ...LOST, updated: 48, live: 48, unreachable: 1 }, NONE);
    expect(judgeProgress([seen], { percent: 97 })).toEqual({ kind: 'met' });
  });

  test('is met by what every try brought, though a push type says of an old one what it was at its end', () => {
    const before = { state: 'failed', targeted: 49, updated: 40, live: 40 } as const;
    const seen = together(before, before, { state: 'done', targeted: 9, updated: 9, live: 9 });
    expect(seen).toMatchObject({ targeted: 49, updated: 49, live: 49 });
  });

  test('has the state and the reason of the last try, and leaves out units that the last one does not touch', () => {
    const before = [unit({ state: 'failed', reason: 'crash loop', updated: 4, live: 4 }), unit({ id: 'kvstore-y' })];
    const now = unit({ state: 'paused', reason: 'paused on request', targeted: 6 });
    expect(withEarlier(before, [], [now])).toEqual([{ ...now, targeted: 10, updated: 4, live: 4 }]);
  });

  test('never counts a task twice, in whichever way a push type reports old tries', () => {
    const tasks = fc.array(fc.record({ live: fc.boolean(), told: fc.boolean(), later: fc.boolean() }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(tasks, fc.boolean(), (each, isFrozen) => {
        const count = (of: (task: (typeof each)[number]) => boolean) => each.filter(of).length;
        const before = unit({ targeted: each.length, live: count(({ live }) => live) });
        const isNowLive = (task: (typeof each)[number]) => task.live || task.later;
        const first = isFrozen ? before : unit({ targeted: each.length, live: count(isNowLive) });
        const retried = each.filter(({ live, told }) => !live && !told);
        const now = unit({ targeted: retried.length, live: retried.filter(({ later }) => later).length });
        const seen = withEarlier([before], [first], [now])[0]!;
        expect(seen.live).toBeLessThanOrEqual(count(isNowLive));
        expect(countMissingTasks(seen)).toBeGreaterThanOrEqual(count((task) => !isNowLive(task)));
        if (!isFrozen) expect(seen.live).toBe(count(isNowLive));
      }),
    );
  });
});

describe('the end of the time for updates', () => {
  test.each<[string, Partial<UnitProgress>[], object]>([
    [
      'is a bad change when tasks came up dead',
      [{ updated: 5, live: 3 }],
      { kind: 'not-live', reason: '2 tasks updated in time but not live' },
    ],
    [
      'is not when they were never updated',
      [{ updated: 3, live: 3, reason: 'no budget' }],
      { kind: 'stuck', reason: '7 tasks not updated in time; kvstore-x: no budget' },
    ],
    [
      'is a bad change also when other tasks are unreachable',
      [{ updated: 5, live: 4, unreachable: 1 }],
      { kind: 'not-live', reason: '1 task updated in time but not live' },
    ],
    [
      'blames no change for a host that was lost after its update',
      [{ updated: 10, live: 9, unreachable: 1 }],
      { kind: 'stuck', reason: '0 tasks not updated in time; 1 task unreachable' },
    ],
    [
      'adds up all units',
      [
        { updated: 10, live: 10 },
        { id: 'kvstore-y', updated: 9, live: 9, reason: 'paused by its controller' },
      ],
      { kind: 'stuck', reason: '1 task not updated in time; kvstore-y: paused by its controller' },
    ],
  ])('%s', (_, units, expected) => expect(judgeTimeout(units.map(unit))).toEqual(expected));
});

const aProgress: fc.Arbitrary<UnitProgress> = fc
  .record({
    state: fc.constantFrom('pending', 'updating', 'paused', 'done', 'failed' as const),
    parts: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9), fc.nat(9), fc.nat(9)),
  })
  .map(({ state, parts: [live, dead, unreachable, gone, pending] }) =>
    unit({
      state,
      targeted: live + dead + unreachable + gone + pending,
      live,
      updated: live + dead,
      failed: dead,
      unreachable,
      gone,
    }),
  );

test('a phase is met exactly when enough of the tasks that still exist are live, and dead tasks never help', () => {
  fc.assert(
    fc.property(fc.array(aProgress, { maxLength: 5 }), fc.integer({ min: 1, max: 100 }), (units, percent) => {
      const total = units.reduce((sum, { targeted, gone }) => sum + targeted - gone, 0);
      const live = units.reduce((sum, counts) => sum + counts.live, 0);
      const enough = live * 100 >= percent * total && (total === 0 || live >= 1);
      expect(judgeProgress(units, { percent }).kind === 'met').toBe(enough);
      const late = judgeTimeout(units);
      expect(late.kind).toBe(units.some(({ updated, live: up }) => updated > up) ? 'not-live' : 'stuck');
    }),
  );
});

const watched = (fields: Partial<BakeWatchResult>): BakeWatchResult => ({
  verdict: 'healthy',
  action: 'none',
  young: false,
  reason: 'r',
  ...fields,
});

describe('a bake', () => {
  test.each<[string, Partial<BakeWatchResult>, boolean, object]>([
    ['passes when healthy', {}, false, { kind: 'pass' }],
    ['passes when healthy after an extension', {}, true, { kind: 'pass' }],
    ['does not pass while a check is young', { young: true }, true, { kind: 'extend', counts: false }],
    [
      'continues while an unhealthy check is young',
      { verdict: 'inconclusive', young: true },
      true,
      { kind: 'extend', counts: false },
    ],
    ['reverts when unhealthy', { verdict: 'unhealthy', action: 'revert' }, false, { kind: 'revert', reason: 'r' }],
    [
      'pauses when the owner says so',
      { verdict: 'unhealthy', action: 'pause' },
      false,
      { kind: 'pause', by: 'health', reason: 'r' },
    ],
    ['continues once when nothing is known', { verdict: 'inconclusive' }, false, { kind: 'extend', counts: true }],
    ['then pauses', { verdict: 'inconclusive' }, true, { kind: 'pause', by: 'health', reason: 'r' }],
    ['continues once after an error', { verdict: 'errored' }, false, { kind: 'extend', counts: true }],
    [
      'then pauses, and blames what is broken',
      { verdict: 'errored' },
      true,
      { kind: 'pause', by: 'dependency', reason: 'r' },
    ],
  ])('%s', (_, seen, extended, step) => expect(afterWatch(watched(seen), extended)).toEqual(step));

  test('passes on healthy alone, and reverts on unhealthy alone', () => {
    const aWatch = fc.record<BakeWatchResult>({
      verdict: fc.constantFrom('healthy', 'unhealthy', 'inconclusive', 'errored'),
      action: fc.constantFrom('none', 'revert', 'pause'),
      young: fc.boolean(),
      reason: fc.constant('r'),
    });
    fc.assert(
      fc.property(aWatch, fc.boolean(), (seen, extended) => {
        const { kind } = afterWatch(seen, extended);
        if (kind === 'pass') expect(seen).toMatchObject({ verdict: 'healthy', young: false });
        if (kind === 'revert') expect(seen).toMatchObject({ verdict: 'unhealthy', action: 'revert' });
        if (extended && !seen.young) expect(kind).not.toBe('extend');
      }),
    );
  });
});

describe('how a deploy ends', () => {
  const ACCOUNTS = { spans: NO_TIME, skipped: [], overridden: [] };
  const OF = { version: 'kv:2', spec: { pushType: 'twine' } };
  const MISSING = '2 tasks, accepted by user:alice: scrapped';
  const pause = (by: Pause['by']): Pause => ({ by, actor: null, at: '', reason: '' });
  const cancelled = (by: Pause['by'] | null, mixed = true): Ending => ({
    kind: 'cancelled',
    actor: 'user:alice',
    reason: 'lunch',
    paused: by && pause(by),
    mixed,
  });
  const check = (ending: Ending, classification: string, reason: string) =>
    expect(buildDeployResult(ending, OF, ACCOUNTS)).toMatchObject({
      outcome: ending.kind,
      classification,
      reason,
      version: 'kv:2',
    });
  const pausedBy = (by: Pause['by']): Pause => ({ by, actor: null, at: '2026-11-23T17:00:00.000Z', reason: 'r' });
  const REVERTED = { kind: 'reverted' as const, by: 'user:alice', reason: 'slow', bad: false };
  const MIXED = 'cancelled by user:alice: lunch; the fleet runs both versions';

  test.each<[string, Ending, string, string]>([
    ['well', { kind: 'succeeded' }, 'success', 'every unit runs kv:2'],
    [
      'reverted by health',
      { kind: 'reverted', by: 'health', reason: 'errors is 0.2', bad: true, paused: null },
      'good-failure',
      'reverted automatically: errors is 0.2',
    ],
    [
      'reverted by a person',
      { kind: 'reverted', by: 'user:alice', reason: 'slow', bad: false, paused: null },
      'good-failure',
      'reverted by user:alice: slow',
    ],
    [
      'reverted by a person who gave no reason',
      { kind: 'reverted', by: 'user:alice', reason: '', bad: false, paused: null },
      'good-failure',
      'reverted by user:alice',
    ],
    [
      'reverted by a person while a dependency was down',
      { ...REVERTED, paused: pausedBy('dependency') },
      'bad-failure',
      'reverted by user:alice: slow',
    ],
    [
      'in the middle of a revert',
      { kind: 'revert-failed', by: 'user:alice', reason: 'by hand', bad: true, paused: null },
      'bad-failure',
      'user:alice ended it before the revert had finished: by hand',
    ],
    ['failed by the change', { kind: 'failed', reason: 'no units', fault: 'change' }, 'good-failure', 'no units'],
    ['failed by Conveyor', { kind: 'failed', reason: 'refused', fault: 'conveyor' }, 'bad-failure', 'refused'],
    ['cancelled', cancelled(null), 'good-failure', MIXED],
    ['cancelled before it began', cancelled(null, false), 'good-failure', 'cancelled by user:alice: lunch'],
    ['cancelled from a pause of its own', cancelled('operator'), 'good-failure', MIXED],
    ['cancelled when it was unhealthy', cancelled('health'), 'good-failure', MIXED],
    ['cancelled while a dependency was down', cancelled('dependency'), 'bad-failure', MIXED],
    ['cancelled after the time for updates', cancelled('timeout'), 'bad-failure', MIXED],
    ['cancelled while a region was down', cancelled('unit'), 'bad-failure', MIXED],
  ])('%s', (_, ending, classification, reason) => check(ending, classification, reason));

  test.each([
    [null, [], 'every unit runs kv:2'],
    [MISSING, [], `every unit runs kv:2 except for ${MISSING}`],
    [
      MISSING,
      ['kvstore-y'],
      `every available unit runs kv:2 except for ${MISSING}, without kvstore-y, unavailable; a follow-on release updates it on return`,
    ],
  ])('well, with %p missing and %p left out', (missing, skipped, reason) =>
    check(createSuccessEnding({ version: 'kv:2' }, { missing, skipped }), 'success', reason),
  );

  test('a revert states its actor and whether the version is bad; no other end does', () => {
    const reverted = buildDeployResult(
      { kind: 'reverted', by: 'user:alice', reason: '', bad: false, paused: null },
      OF,
      ACCOUNTS,
    );
    expect(reverted.reverted).toEqual({ by: 'user:alice', bad: false });
    expect(buildDeployResult(cancelled(null), OF, ACCOUNTS).reverted).toBeNull();
  });

  test.each<[string, Ending, string | undefined]>([
    [
      'the dependency that it waited for',
      { ...REVERTED, paused: { ...pausedBy('dependency'), on: 'service dns' } },
      'service dns',
    ],
    ['the time for updates', cancelled('timeout'), 'update timeout'],
    ['a region that is down', cancelled('unit'), 'unavailable units'],
    ['the push type that refused', { kind: 'failed', reason: 'refused', fault: 'conveyor' }, 'push type twine'],
    ['a revert that did not come through', { ...REVERTED, kind: 'revert-failed', paused: null }, 'revert'],
    ['nobody, where it failed for good reason', { ...REVERTED, paused: null }, undefined],
  ])('blames %s', (_, ending, blame) => expect(buildDeployResult(ending, OF, ACCOUNTS).blame).toBe(blame));

  test('names the release that took its place, unless a person cancelled it first', () => {
    const overtaken = { by: 3, why: 'preempted' } as const;
    const stopped = (cancel: Control['cancel']) =>
      buildDeployResult(endOfStopped({ ...NO_COMMANDS, cancel, overtaken }, false), OF, ACCOUNTS);
    expect(stopped(null)).toMatchObject({ cause: 'preempted', reason: 'preempted by release 3' });
    const byPerson = stopped({ actor: 'user:alice', reason: 'lunch', at: '' });
    expect(byPerson.reason).toBe('cancelled by user:alice: lunch');
    expect(byPerson.cause).toBeUndefined();
  });
});

test('a removal is met once all of its tasks are gone, and going until then', () => {
  const removal = (gone: number) => countGone(unit({ targeted: 10, updated: 0, live: 0, gone }));
  expect(judgeProgress([removal(9)], { all: true })).toEqual({ kind: 'going' });
  expect(judgeProgress([removal(10)], { all: true })).toEqual({ kind: 'met' });
  expect(countMissingTasks(removal(4))).toBe(6);
});
