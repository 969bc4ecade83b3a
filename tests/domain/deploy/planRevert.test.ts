import fc from 'fast-check';
import {
  asBefore,
  buildInheritance,
  listReachedParts,
  listReachedWithoutPast,
  revertPhase,
  revertTargets,
  someWithoutPast,
  withoutPast,
  withSent,
} from '../../../domain/deploy/planRevert';
import { ranEach } from '../../../domain/deploy/ranEach';
import type { DeployPlan, PhasePlan } from '../../../domain/deploy/plan';
import { selectUnits, type Part } from '../../../domain/deploy/snapshot';
import type { Unit } from '../../../domain/fleet/unit';

const unit = (id: string, version: string | null, mixed = false): Unit => ({
  id,
  labels: {},
  size: 3,
  version,
  mixed,
  available: true,
});
const UPDATES = ['deploy/kv/2/deploy/1/0/1', 'deploy/kv/2/deploy/1/1/1'];
const rules = (lastGood: string | null = null, deployed = 'kv:2') => ({ lastGood, deployed });
const revert = (snapshot: readonly Unit[], lastGood: string | null = null) =>
  revertTargets(snapshot, rules(lastGood), UPDATES);

describe('where a unit goes back to', () => {
  const check = (before: Unit, lastGood: string | null, version: string | null) => {
    expect(revert([before], lastGood).map((target) => target.version)).toEqual(version === null ? [] : [version]);
    expect(withoutPast([before], rules(lastGood)).map(({ id }) => id)).toEqual(version === null ? ['x'] : []);
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

describe('where units go back to several versions, people read', () => {
  const many = Array.from({ length: 7 }, (_, nth) => unit(`u${nth}`, 'kv:1'));
  const each = Array.from({ length: 7 }, (_, nth) => unit(`u${nth}`, `kv:${nth}`));
  test.each<[string, Unit[], string | null, string | undefined]>([
    ['which go where', [unit('x', 'kv:1'), unit('y', 'kv:0'), unit('z', 'kv:1')], null, 'kv:1 in x and z; kv:0 in y'],
    ['nothing, where all go to one', [unit('x', 'kv:1'), unit('y', 'kv:1')], null, undefined],
    ['nothing, where all go to the last good one', [unit('x', 'kv:1', true), unit('y', null)], 'kv:0', undefined],
    [
      'of which none is known',
      [unit('x', 'kv:1', true), unit('y', 'kv:0')],
      null,
      'none that is known in x; kv:0 in y',
    ],
    ['the first units', [...many, unit('x', 'kv:0')], null, 'kv:1 in u0, u1, u2, u3, u4 and 2 more; kv:0 in x'],
    ['the first versions', each, null, 'kv:0 in u0; kv:1 in u1; kv:2 in u2; kv:3 in u3; kv:4 in u4; 2 more versions'],
  ])('%s', (_, units, lastGood, words) => expect(ranEach(units, rules(lastGood))).toBe(words));
});

test('a revert is one phase over everything at once, without a bake, for the tasks of these updates', () => {
  expect(revertPhase(planOf(onePhase('*')))).toMatchObject({
    ...{ kind: 'revert', key: 'revert', scope: '*', amount: { all: true }, bakeMs: 0, updateTimeoutMs: 1 },
  });
  expect(revert([unit('x', 'kv:1'), unit('y', 'kv:0')])).toMatchObject([
    { unit: 'x', version: 'kv:1', updatedBy: UPDATES },
    { unit: 'y', version: 'kv:0', updatedBy: UPDATES },
  ]);
});

test('it names no amount, or tasks that this deploy never touched would be meant', () => {
  expect('amount' in revert([unit('x', 'kv:1')])[0]!).toBe(false);
});

const aVersion = fc.constantFrom('kv:0', 'kv:1', 'kv:2');
const aSnapshot = fc
  .array(fc.record({ version: fc.option(aVersion, { nil: null }), mixed: fc.boolean() }), { maxLength: 6 })
  .map((rows) => rows.map(({ version, mixed }, index) => unit(`u${index}`, version, mixed)));

test('every unit of the snapshot goes back exactly once, and to the deployed version only if it ran that before', () => {
  fc.assert(
    fc.property(aSnapshot, fc.option(aVersion, { nil: null }), (snapshot, lastGood) => {
      const targets = revert(snapshot, lastGood);
      const lost = withoutPast(snapshot, rules(lastGood)).map(({ id }) => id);
      expect([...targets.map((target) => target.unit), ...lost].sort()).toEqual(snapshot.map(({ id }) => id).sort());
      for (const { unit: id, version } of targets) {
        const before = snapshot.find((each) => each.id === id)!;
        expect(version).not.toBe('');
        if (version === 'kv:2') expect(before).toMatchObject({ version: 'kv:2', mixed: false });
        else expect([before.mixed ? null : before.version, lastGood]).toContain(version);
      }
    }),
  );
});

const PHASE = {
  kind: 'partial',
  bakeMs: 0,
  success: { all: true },
  updateTimeoutMs: 1,
  key: 0,
  name: 'first',
} as const;
const onePhase = (scope: string): PhasePlan => ({ ...PHASE, scope, amount: { count: 1 } });
const planOf = (...phases: PhasePlan[]): DeployPlan => ({ version: 'kv:2', artifacts: [], phases });

describe('the units that a stopped deploy leaves to the next', () => {
  const left = (units: readonly Unit[]) => buildInheritance('kv:2', { units }, undefined);
  const next = (units: readonly Unit[], before: readonly Unit[], settled?: string[]) =>
    asBefore(units, { ...left(before), ...(settled ? { settled } : {}) }, before).map(({ version, mixed }) =>
      mixed ? 'mixed' : version,
    );

  test.each<[string, Unit, Unit, string | null]>([
    ['what a unit ran that it left mixed', unit('x', 'kv:1', true), unit('x', 'kv:1'), 'kv:1'],
    ['what a unit ran that it brought whole to its version', unit('x', 'kv:2'), unit('x', 'kv:1'), 'kv:1'],
    ['nothing of a unit that runs something else whole since', unit('x', 'kv:3'), unit('x', 'kv:1'), 'kv:3'],
    ['nothing of a unit that it did not come to', unit('x', 'kv:1'), unit('x', 'kv:1'), 'kv:1'],
    ['nothing of a unit about which nothing is known', unit('x', 'kv:2', true), unit('x', null), 'mixed'],
    ['nothing of a unit that had run several', unit('x', 'kv:2', true), unit('x', 'kv:1', true), 'mixed'],
    ['nothing of a unit that it did not know', unit('y', 'kv:2', true), unit('x', 'kv:1'), 'mixed'],
  ])('is %s', (_, now, before, expected) => expect(next([now], [before])).toEqual([expected]));

  test('is nothing of units that were settled since', () => {
    expect(next([unit('x', 'kv:2', true)], [unit('x', 'kv:1')], ['x'])).toEqual(['mixed']);
  });

  test('is where the next one reverts to, and the one after that, whatever each of them left', () => {
    const second = asBefore([unit('x', 'kv:2', true)], left([unit('x', 'kv:1')]), [unit('x', 'kv:1')]);
    const handed = buildInheritance('kv:3', { units: second }, left([unit('x', 'kv:1')]));
    expect(handed.left).toEqual(['kv:2', 'kv:3']);
    expect(revertTargets(asBefore([unit('x', 'kv:3')], handed, second), rules(null, 'kv:4'), [])).toMatchObject([
      { unit: 'x', version: 'kv:1' },
    ]);
  });
});

describe('the units that a deploy has reached', () => {
  const units = [
    { ...unit('x', 'kv:1'), labels: { region: 'x' } },
    { ...unit('y', null), labels: { region: 'y' } },
  ];
  const plan = planOf(
    { ...PHASE, scope: 'region:x', amount: { count: 1 } },
    { ...PHASE, key: 1, name: 'second', scope: '*', amount: { all: true } },
  );
  type Sending = [phase: number, without?: string[]];
  const reached = (...sendings: Sending[]) => {
    const sent = sendings.reduce(
      (deployed, [phase, without = []]) => ({ plan, ...withSent(deployed, phase, without) }),
      { plan, sent: [], leftOutSets: [] } as Parameters<typeof listReachedParts>[0],
    );
    return { ids: selectUnits(units, listReachedParts(sent)).map(({ id }) => id), sent };
  };

  test('are those of the phases whose updates were sent', () => {
    expect(reached([0]).ids).toEqual(['x']);
    expect(reached([0], [1]).ids).toEqual(['x', 'y']);
    expect(reached().ids).toEqual([]);
  });

  test('are not those that were left out each time', () => {
    expect(reached([1, ['y']]).ids).toEqual(['x']);
    expect(reached([1, ['y']], [1]).ids).toEqual(['x', 'y']);
  });

  test('take the same room however often they are sent to', () => {
    const { sent } = reached([1, ['y']], [1, ['y']], [1], [1], [0]);
    expect(sent.sent).toHaveLength(3);
    expect(sent.leftOutSets).toEqual([['y']]);
  });

  test('are not reverted by themselves when one has nothing to go back to', () => {
    const lost = withoutPast(units, rules());
    expect(listReachedWithoutPast(lost, listReachedParts(reached([1]).sent))).toEqual(['y']);
    expect(listReachedWithoutPast(lost, listReachedParts(reached([0]).sent))).toEqual([]);
  });

  test('are known to have nothing to go back to where one of them has, however many others have not', () => {
    const many = Array.from({ length: 200 }, (_, nth) => ({
      ...unit(`u-${nth}`, null),
      labels: { region: `r-${nth}` },
    }));
    const part = (nth: number): Part => ({
      kind: 'partial',
      scope: `region:r-${nth}`,
      amount: { all: true },
      without: [],
    });
    const some = someWithoutPast(many, rules(), [part(120), part(199)]);
    expect(some).toHaveLength(52);
    expect(listReachedWithoutPast(some, [part(199)])).toEqual(['u-199']);
    expect(someWithoutPast(many.slice(0, 50), rules(), [])).toHaveLength(50);
  });

  test('are those that are there, where others of their phase are left out', () => {
    const many = Array.from({ length: 60 }, (_, nth) => ({ ...unit(`u-${nth}`, null), available: nth !== 55 }));
    const part: Part = { kind: 'partial', scope: '*', amount: { all: true }, without: [] };
    const last = many.map((one, nth) => ({ ...one, labels: { region: nth < 55 ? 'a' : 'b' } }));
    const [only] = someWithoutPast(last, rules(), [{ ...part, scope: 'region:b' }]).slice(50);
    expect(only?.id).toBe('u-56');
  });
});
