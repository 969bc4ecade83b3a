import fc from 'fast-check';
import { take } from '../../../domain/deploy/control';
import { foldGroups, groupUnits, computePauseLimit, withPausedGroups, type Group } from '../../../domain/deploy/groups';
import { newDeploy, type DeployRecord } from '../../../domain/deploy/state';
import type { Unit } from '../../../domain/fleet/unit';
import { NO_HISTORY, type FoldInput } from '../../../domain/health/fold';
import type { CheckEvidence, Verdict } from '../../../domain/health/verdict';

const NOW = 1_000_000;
const unit = (id: string, labels: Record<string, string> = {}): Unit => ({
  ...{ id, labels, size: 3, version: 'v1', mixed: false, available: true },
});

const evidence = (verdict: Verdict): CheckEvidence => ({
  ...{ name: 'errors', verdict, observed: 1, reference: null, threshold: 0.05, samples: 9, tasks: 3 },
  ...{ window: { start: NOW - 1, end: NOW }, reason: `errors is ${verdict}` },
});

const check = { name: 'errors', metric: 'm', transform: [], reduce: 'mean', threshold: { above: 1 }, scope: 'unit' };

/** An evaluation of units a, b, …; null has no updated task. */
const input = (verdicts: readonly (Verdict | null)[], more: Partial<FoldInput> = {}): FoldInput => ({
  checks: [check as FoldInput['checks'][number]],
  skips: [],
  response: {
    units: verdicts.map((verdict, at) => ({ id: name(at), checks: verdict === null ? [] : [evidence(verdict)] })),
    deploy: { checks: [] },
  },
  now: NOW,
  lastUpdateAt: 0,
  onUnhealthy: 'revert',
  ...more,
});

const name = (at: number): string => String.fromCharCode(97 + at);
const single = (count: number): Group[] =>
  Array.from({ length: count }, (_, at) => ({ name: name(at), units: [name(at)] }));

/** `verdict: paused` of four units, each a group. */
function judge(
  verdicts: readonly (Verdict | null)[],
  limit: number,
  paused: string[] = [],
  more: Partial<FoldInput> = {},
) {
  const folded = foldGroups(NO_HISTORY, input(verdicts, more), { maxPaused: limit, paused }, single(verdicts.length));
  return `${folded.verdict}: ${folded.paused.map((group) => group.name).join(' ')}`;
}

test.each([
  ['unit', ['a: a', 'b: b', 'c: c']],
  ['region', ['c: c', 'region:x: a b']],
  ['tier', ['a: a', 'c: c', 'tier:1: b']],
])('units are grouped by %s, and one without the label is a group by itself', (pauseBy, expected) => {
  const units = [unit('a', { region: 'x' }), unit('b', { region: 'x', tier: '1' }), unit('c')];
  const groups = groupUnits(units, pauseBy);
  expect(groups.map((group) => `${group.name}: ${group.units.join(' ')}`)).toEqual(expected);
});

test.each([
  [undefined, 1, 0],
  [undefined, 2, 1],
  [undefined, 5, 2],
  [0, 5, 0],
  [7, 5, 7],
  [undefined, 10_000, 100],
  [5_000, 10_000, 100],
])('with maxPaused %p, of %i groups %i may be paused', (maxPaused, groups, expected) => {
  expect(computePauseLimit(maxPaused, groups)).toBe(expected);
});

const [H, U, I, E] = ['healthy', 'unhealthy', 'inconclusive', 'errored'] as const;

test.each<[string, (Verdict | null)[], string[], string]>([
  ['all healthy', [H, H, H, H], [], 'healthy: '],
  ['one unhealthy: it is paused, and the others are judged', [H, U, H, H], [], 'healthy: b'],
  ['one more than may be', [U, U, H, H], [], 'unhealthy: a b'],
  ['one unhealthy, one paused before that is inconclusive', [U, I, H, H], ['b'], 'unhealthy: a b'],
  ['one paused before that has no data', [H, I, H, H], ['b'], 'healthy: b'],
  ['one paused before whose checks fail', [H, E, H, H], ['b'], 'healthy: b'],
  ['one paused before that is healthy again', [H, H, H, H], ['b'], 'healthy: '],
  ['one that is inconclusive, and never was unhealthy', [H, I, H, H], [], 'inconclusive: '],
  ['one whose checks fail, and never was unhealthy', [H, E, H, H], [], 'errored: '],
  ['groups that are not updated yet say nothing', [H, null, null, null], [], 'healthy: '],
  ['the only one that is updated is paused', [U, null, null, null], [], 'healthy: a'],
  ['none is updated', [null, null, null, null], [], 'inconclusive: '],
  ['more paused than may be, but none unhealthy now', [I, E, H, H], ['a', 'b'], 'healthy: a b'],
])('with one group that may be paused: %s', (_title, verdicts, paused, expected) => {
  expect(judge(verdicts, 1, paused)).toBe(expected);
});

test('a skipped check pauses nothing and lets go what it paused', () => {
  expect(judge([H, U, H, H], 1, ['b'], { skips: 'all' })).toBe('healthy: ');
  expect(judge([H, U, H, H], 1, ['b'], { skips: ['errors'] })).toBe('healthy: ');
});

test('a check of the whole deploy concerns every group', () => {
  const response = { units: [H, H].map((verdict, at) => ({ id: name(at), checks: [evidence(verdict)] })) };
  const deploy = { checks: [{ ...evidence(U), name: 'whole' }] };
  const checks = [check, { ...check, name: 'whole', scope: 'deploy' }] as FoldInput['checks'];
  expect(judge([H, H], 1, [], { checks, response: { ...response, deploy } })).toBe('unhealthy: a b');
});

test('too many ask for what their checks ask for, and say which they are', () => {
  const rules = { maxPaused: 1, paused: [] };
  expect(foldGroups(NO_HISTORY, input([U, U, H]), rules, single(3))).toMatchObject({
    action: 'revert',
    reason: '2 groups to pause (a, b), 1 may be: errors is unhealthy',
  });
  expect(foldGroups(NO_HISTORY, input([U, U, H], { onUnhealthy: 'pause' }), rules, single(3)).action).toBe('pause');
  expect(foldGroups(NO_HISTORY, input([U, H, H]), rules, single(3)).action).toBe('none');
});

test('for any evaluations, a group is paused from its first unhealthy verdict to the next healthy one', () => {
  const verdict = fc.constantFrom<Verdict | null>(H, U, I, E, null);
  fc.assert(
    fc.property(fc.array(fc.array(verdict, { minLength: 4, maxLength: 4 }), { maxLength: 8 }), (rounds) => {
      const expected = new Set<string>();
      let paused: string[] = [];
      for (const verdicts of rounds) {
        const folded = foldGroups(NO_HISTORY, input(verdicts), { maxPaused: 1, paused }, single(4));
        verdicts.forEach((one, at) => {
          if (one === U) expected.add(name(at));
          if (one === H) expected.delete(name(at));
        });
        paused = folded.paused.map((group) => group.name);
        expect(new Set(paused)).toEqual(expected);
        expect(folded.verdict === 'unhealthy').toBe(expected.size > 1 && verdicts.includes(U));
      }
    }),
  );
});

describe('the timeline of a group that continues', () => {
  const paused = [{ name: 'a', units: ['a'], reason: 'errors is 0.2, above 0.05' }];
  const asked = { verb: 'skip-health-check', actor: 'user:alice', reason: 'a known glitch' } as const;
  const held = () => withPausedGroups(newDeploy(0), 1, paused);
  const skipping = (check?: string) => {
    const record = held();
    const control = take(record.control, asked.verb, { ...asked, ...(check === undefined ? {} : { check }) }, 2);
    return { ...record, control };
  };
  test.each<[string, DeployRecord, string]>([
    ['is that it is healthy, where it is', held(), 'a continues: its health is fine again'],
    ['is who skipped its check', skipping('errors'), 'a continues: user:alice skipped errors: a known glitch'],
    ['is who skipped all checks', skipping(), 'a continues: user:alice skipped all checks: a known glitch'],
    ['is nothing of a skip of another check', skipping('error'), 'a continues: its health is fine again'],
    ['is that its units are gone', { ...held(), skipped: ['a'] }, 'a is left out: its units are unavailable'],
  ])('%s', (_, record, text) => {
    expect(withPausedGroups(record, 3, []).timeline.at(-1)).toMatchObject({ kind: 'group-resumed', text });
  });
});

test('groups that are healthy pass after so many times in a row while another is paused, and with it begin anew when it is back', () => {
  const checks = [{ ...check, passes: 3 } as FoldInput['checks'][number]];
  let [fold, paused] = [NO_HISTORY, [] as string[]];
  const look = (...verdicts: Verdict[]): string => {
    const rules = { maxPaused: 1, paused };
    const result = foldGroups(fold, input(verdicts, { checks }), rules, single(verdicts.length));
    [fold, paused] = [result.fold, result.paused.map((group) => group.name)];
    return `${result.verdict}: ${paused.join(' ')}`;
  };
  expect([look(H, U, H), look(H, U, H), look(H, U, H)]).toEqual([
    ...['inconclusive: b', 'inconclusive: b', 'healthy: b'],
  ]);
  expect([look(H, H, H), look(H, H, H), look(H, H, H)]).toEqual(['inconclusive: ', 'inconclusive: ', 'healthy: ']);
  expect([look(H, H, I), look(H, H, H)]).toEqual(['inconclusive: ', 'inconclusive: ']);
});
