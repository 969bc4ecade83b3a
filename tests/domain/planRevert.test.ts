import fc from 'fast-check';
import { asBefore, inheritance, planRevert, touchedUnits } from '../../domain/deploy/planRevert';
import type { Unit } from '../../domain/fleet/unit';

const unit = (id: string, version: string | null, mixed = false): Unit => ({
  id,
  labels: {},
  size: 3,
  version,
  mixed,
  available: true,
});
const UPDATES = ['deploy/kv/2/deploy/1/0/1', 'deploy/kv/2/deploy/1/1/1'];
const revert = (snapshot: readonly Unit[], lastGood: string | null = null, deployed = 'kv:2') =>
  planRevert(snapshot, lastGood, UPDATES, 60_000, deployed);

describe('where a unit goes back to', () => {
  const check = (before: Unit, lastGood: string | null, version: string | null) => {
    const plan = revert([before], lastGood);
    if (version === null) expect(plan).toEqual({ impossible: ['x'] });
    else expect('targets' in plan && plan.targets.map((target) => target.version)).toEqual([version]);
  };
  test.each<[string, Unit, string | null, string | null]>([
    ['what it ran before', unit('x', 'kv:1'), 'kv:0', 'kv:1'],
    ['what it ran before, also when that is the version of the deploy', unit('x', 'kv:2'), 'kv:1', 'kv:2'],
    ['the last good version, when it ran several', unit('x', 'kv:1', true), 'kv:0', 'kv:0'],
    ['the last good version, when it never ran any', unit('x', null), 'kv:0', 'kv:0'],
    ['nobody knows, when it ran several and none was good', unit('x', 'kv:1', true), null, null],
    ['nobody knows, when it never ran any and none was good', unit('x', null), null, null],
    ['nobody knows, when the last good version is the one that is reverted', unit('x', 'kv:1', true), 'kv:2', null],
    ['nobody knows, when a new unit has only the version that is reverted', unit('x', null), 'kv:2', null],
  ])('is %s', (_, before, lastGood, version) => check(before, lastGood, version));
});

test('a revert is one phase over everything at once, without a bake, for the tasks of these updates', () => {
  expect(revert([unit('x', 'kv:1'), unit('y', 'kv:0')])).toMatchObject({
    phase: { kind: 'revert', key: 'revert', scope: '*', amount: { all: true }, bakeMs: 0, updateTimeoutMs: 60_000 },
    targets: [
      { unit: 'x', version: 'kv:1', updatedBy: UPDATES },
      { unit: 'y', version: 'kv:0', updatedBy: UPDATES },
    ],
  });
});

test('it names no amount, or tasks that this deploy never touched would be meant', () => {
  const plan = revert([unit('x', 'kv:1')]);
  expect('targets' in plan && 'amount' in plan.targets[0]!).toBe(false);
});

test('it is impossible, with their names, as soon as one unit has nothing to go back to', () => {
  expect(revert([unit('x', 'kv:1'), unit('y', null), unit('z', 'kv:0', true)])).toEqual({ impossible: ['y', 'z'] });
});

const aVersion = fc.constantFrom('kv:0', 'kv:1', 'kv:2');
const aSnapshot = fc
  .array(fc.record({ version: fc.option(aVersion, { nil: null }), mixed: fc.boolean() }), { maxLength: 6 })
  .map((rows) => rows.map(({ version, mixed }, index) => unit(`u${index}`, version, mixed)));

test('every unit of the snapshot goes back exactly once, and to the deployed version only if it ran that before', () => {
  fc.assert(
    fc.property(aSnapshot, fc.option(aVersion, { nil: null }), (snapshot, lastGood) => {
      const plan = revert(snapshot, lastGood, 'kv:2');
      if ('impossible' in plan) {
        expect(plan.impossible.length).toBeGreaterThan(0);
        expect(snapshot.map(({ id }) => id)).toEqual(expect.arrayContaining([...plan.impossible]));
        return;
      }
      expect(plan.targets.map((target) => target.unit)).toEqual(snapshot.map(({ id }) => id));
      for (const [index, { version }] of plan.targets.entries()) {
        const before = snapshot[index]!;
        expect(version).not.toBe('');
        if (version === 'kv:2') expect(before).toMatchObject({ version: 'kv:2', mixed: false });
        else expect([before.mixed ? null : before.version, lastGood]).toContain(version);
      }
    }),
  );
});

const PHASE = { kind: 'partial', bakeMs: 0, success: { all: true }, updateTimeoutMs: 1 } as const;
const onePhase = (scope: string) => ({
  version: 'kv:2',
  artifacts: [],
  phases: [{ ...PHASE, key: 0, name: 'first', scope, amount: { count: 1 } }],
});

describe('what a deploy that was stopped leaves to the next', () => {
  const [x, y] = [unit('x', 'kv:1'), unit('y', 'kv:1')];
  const left = (more: object = {}, inherited: object = {}) =>
    inheritance(
      { snapshot: [x, y], plan: onePhase('x'), updates: ['deploy/kv/2/deploy/1/0/1'], ...more },
      { lastGood: null, version: 'kv:2', ...inherited },
    );
  const check = (found: object, expected: object) => expect(found).toEqual(expected);
  test.each<[string, object, object]>([
    ['what the units ran that it updated', left(), { x: 'kv:1' }],
    ['nothing, when it updated none', left({ updates: [] }), {}],
    ['nothing, when it had no plan yet', left({ plan: null }), {}],
    [
      'the last good version of one that ran several',
      left({ snapshot: [unit('x', 'kv:2', true)] }, { lastGood: 'kv:0' }),
      { x: 'kv:0' },
    ],
    ['nothing of one about which nothing is known', left({ snapshot: [unit('x', null)] }), {}],
    [
      'what it inherited itself, of units that it did not come to',
      left({}, { revertTo: { y: 'kv:0' } }),
      { x: 'kv:1', y: 'kv:0' },
    ],
  ])('is %s', (_, found, expected) => check(found, expected));

  test('is where the next one reverts to', () => {
    const snapshot = asBefore([unit('x', 'kv:2', true), unit('y', 'kv:1')], left());
    expect(revert(snapshot, null, 'kv:3')).toMatchObject({
      targets: [
        { unit: 'x', version: 'kv:1' },
        { unit: 'y', version: 'kv:1' },
      ],
    });
  });
});

test('a unit that no update went to has nothing to go back from', () => {
  const units = [
    { ...unit('x', 'kv:1'), labels: { region: 'x' } },
    { ...unit('y', null), labels: { region: 'y' } },
  ];
  const phase = { kind: 'partial', bakeMs: 0, success: { all: true }, updateTimeoutMs: 1 } as const;
  const plan = {
    version: 'kv:2',
    artifacts: [],
    phases: [
      { ...phase, key: 0, name: 'first', scope: 'region:x', amount: { count: 1 } },
      { ...phase, key: 1, name: 'second', scope: '*', amount: { all: true } as const },
    ],
  };
  const ids = (updates: string[]) => touchedUnits({ plan, snapshot: units, updates }).map(({ id }) => id);
  expect(ids(['deploy/kv/2/deploy/1/0/1'])).toEqual(['x']);
  expect(ids(UPDATES)).toEqual(['x', 'y']);
  expect(ids([])).toEqual([]);
});
