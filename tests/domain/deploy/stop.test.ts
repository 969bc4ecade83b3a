import { take } from '../../../domain/deploy/control';
import { endPhase } from '../../../domain/deploy/phase';
import { planDeploy } from '../../../domain/deploy/plan';
import { newDeploy, withPhase, withPlan, type DeployRecord } from '../../../domain/deploy/state';
import { findRevertEnd, findStop, tryAutoRevert } from '../../../domain/deploy/stop';
import { leaveOutUnits, ofUnavailable } from '../../../domain/deploy/unavailable';
import { deployWith } from '../../../domain/spec/deploy';
import type { CommandInput, DeployVerb } from '../../../domain/verbs';

const NOW = Date.parse('2026-11-23T17:00:00Z');
const SPEC = deployWith.parse({ pushType: 'twine', phases: [{ name: 'first', scope: '*', amount: 1 }] });
const UNITS = [{ id: 'x', labels: {}, size: 3, version: null, mixed: false, available: true }];
const FLEET = { units: 1, tasks: 3, snapshot: { units: UNITS }, withoutPast: [], shares: [1, 1], inPages: false };

type Change = (record: DeployRecord) => DeployRecord;

const deployOf = (...changes: readonly Change[]): DeployRecord =>
  changes.reduce(
    (record, change) => change(record),
    withPlan(newDeploy(NOW), planDeploy(SPEC, UNITS, [], 'kv:2'), FLEET),
  );
const says = (verb: DeployVerb, input: CommandInput = {}): Change => {
  const asked = { actor: 'user:ana', reason: 'why not', ...input };
  return (record) => ({ ...record, control: take(record.control, verb, asked, NOW) });
};
const overtaken =
  (why: 'superseded' | 'preempted'): Change =>
  (record) => ({ ...record, control: { ...record.control, overtaken: { by: 2, why } } });
const isUnhealthy: Change = (record) => ({ ...record, unhealthy: 'errors above 1%' });
const isInPhase: Change = (record) => ({ ...withPhase(record, 0, { state: 'running' }), cursor: 0 });
const isReverting: Change = (record) => ({ ...record, stage: 'reverting' });
const isStuck: Change = (record) => ({ ...record, revertStuck: true });
const withoutPast: Change = (record) => ({
  ...record,
  fleet: { ...FLEET, withoutPast: UNITS },
  sent: [{ phase: 0, leftOut: null }],
});

describe('the ends of phases', () => {
  test.each<[string, readonly Change[], string | null]>([
    ['nothing', [isInPhase], null],
    ['a cancel', [says('cancel')], 'cancel'],
    ['an unhealthy verdict before a cancel', [says('cancel'), isUnhealthy], 'revert by health'],
    ['the revert of a person before an unhealthy verdict', [isUnhealthy, says('revert')], 'revert by user:ana'],
    ['a cancel before another release', [overtaken('preempted'), says('cancel')], 'cancel'],
    ['a release that preempts, at once', [isInPhase, overtaken('preempted')], 'preempted'],
    ['no release that supersedes, in the middle of a phase', [isInPhase, overtaken('superseded')], null],
    ['a release that supersedes, between two phases', [overtaken('superseded')], 'superseded'],
  ])('%s', (_, changes, expected) => {
    const stop = findStop(deployOf(...changes));
    expect(stop?.kind === 'revert' ? `revert by ${stop.by}` : (stop?.kind ?? null)).toBe(expected);
  });
});

test.each<[string, readonly Change[], string | null]>([
  ['no cancel while its tasks come up', [isReverting, says('cancel')], null],
  ['the cancel of a person once it is stuck', [isReverting, isStuck, says('cancel')], 'user:ana'],
  ['nothing that asked for the revert', [isReverting, isStuck, isUnhealthy], null],
])('a revert is ended by %s', (_, changes, expected) => {
  expect(findRevertEnd(deployOf(...changes))?.actor ?? null).toBe(expected);
});

describe('an unhealthy verdict', () => {
  const tried = (action: 'revert' | 'pause', input: { canary?: never; rollback?: boolean }, ...changes: Change[]) => {
    const about = { rollback: false, ...input };
    const done = tryAutoRevert(deployOf(...changes), about, { action, reason: 'errors above 1%' }, NOW);
    return done.kind === 'reverting' ? findStop(done.record) : done.reason;
  };
  const canary = { amount: 1, bakeMs: 1, keepUntil: false } as never;

  test('that asks for it reverts, and ends a pause', () => {
    expect(tried('revert', {}, says('pause'))).toEqual({ kind: 'revert', by: 'health', reason: 'errors above 1%' });
  });

  test.each<[string, ReturnType<typeof tried>, RegExp]>([
    ['that asks for a pause does not', tried('pause', {}), /^errors above 1%$/],
    [
      'does not while a person has said so',
      tried('revert', {}, says('pause', { noRevert: true })),
      /^errors above 1%$/,
    ],
    ['of a rollback does not', tried('revert', { rollback: true }), /a rollback is never reverted automatically$/],
    [
      'does not where nothing is known to go back to',
      tried('revert', {}, withoutPast),
      /not reverted: .* of x is unknown/,
    ],
  ])('%s', (_, reason, expected) => expect(reason).toMatch(expected));

  test('stopping a canary still reverts, to the versions that its units run then', () =>
    expect(tried('revert', { canary }, withoutPast)).toMatchObject({ kind: 'revert' }));
});

describe('units that are unavailable', () => {
  const down = (...names: string[]) => ({ count: names.length, names });
  const input = (onUnitUnavailable: 'skip' | 'pause', rollback = false) => ({
    spec: { ...SPEC, onUnitUnavailable },
    rollback,
  });
  const again = { kind: 'wait', again: true };

  test.each<[string, ReturnType<typeof ofUnavailable>, object]>([
    ['are none, so that it continues', ofUnavailable(input('pause'), down(), 3), { kind: 'leave-out', units: [] }],
    ['are waited for', ofUnavailable(input('pause'), down('x'), 3), { kind: 'wait', again: false }],
    ['are left out where the owner says so', ofUnavailable(input('skip'), down('x'), 3), { units: ['x'] }],
    ['are left out of a rollback', ofUnavailable(input('pause', true), down('x'), 3), { units: ['x'] }],
    ['are waited for where nothing else is left', ofUnavailable(input('skip'), down('x', 'y'), 2), again],
    ['are waited for where they are too many', ofUnavailable(input('skip'), { count: 1e6, names: [] }, 2e6), again],
  ])('%s', (_, decided, expected) => expect(decided).toMatchObject(expected));

  test('are on record when they go and when they are back, once', () => {
    const away = leaveOutUnits(deployOf(), ['x', 'y'], NOW);
    const back = leaveOutUnits(away, ['y'], NOW);
    expect(back.timeline.map(({ text }) => text)).toEqual([
      'continues without x, y, unavailable',
      'x is available again',
    ]);
    expect(leaveOutUnits(back, ['y'], NOW)).toBe(back);
  });
});

test.each<[string, readonly Change[], object]>([
  ['succeeded', [isInPhase], { state: 'succeeded', skipped: null }],
  ['failed when the deploy stops', [isInPhase, says('cancel')], { state: 'failed', skipped: null }],
  [
    'was skipped by a person',
    [isInPhase, says('skip-phase')],
    { state: 'skipped', skipped: 'phase by user:ana: why not' },
  ],
])('a phase that ends %s, and its skips end with it', (_, changes, expected) => {
  const [phase] = planDeploy(SPEC, UNITS, [], 'kv:2').phases;
  const closed = phase && endPhase(deployOf(...changes), phase, 'interrupted', NOW);
  expect(closed?.phases[0]).toMatchObject(expected);
  expect(closed?.control.skipPhase).toBeNull();
});
