import fc from 'fast-check';
import {
  planCanary,
  planDeploy,
  planRollback,
  countPlannedTasks,
  pickPhaseUnits,
  withoutBakes,
  type DeployPlan,
} from '../../../domain/deploy/plan';
import { PlanError } from '../../../domain/deploy/planLimits';
import { formatAmount, parseAmount, tasksOf, type Amount, type PhaseAmount } from '../../../domain/fleet/amount';
import { inScope } from '../../../domain/fleet/scope';
import type { Unit } from '../../../domain/fleet/unit';
import { deployWith } from '../../../domain/spec/deploy';
import { targetsOf } from './plannedTargets';

const unit = (id: string, size = 10, labels: Record<string, string> = {}): Unit => ({
  id,
  labels,
  size,
  version: 'kv:1',
  mixed: false,
  available: true,
});
const FLEET = [unit('kvstore-x', 6, { region: 'x' }), unit('kvstore-y', 6, { region: 'y' })];
const spec = (fields: object = {}) => deployWith.parse({ pushType: 'twine', ...fields });
const plan = (fields: object = {}, units: readonly Unit[] = FLEET) => planDeploy(spec(fields), units, [], 'kv:2');
const shapeOf = ({ phases }: DeployPlan) =>
  phases.map(({ key, name, scope, amount }) => `${key} ${name} ${scope} ${formatAmount(amount)}`);

describe('an amount', () => {
  const check = (text: string | number, size: number, tasks: number | undefined) => {
    const amount = parseAmount(text);
    expect(amount && tasksOf(amount, size)).toBe(tasks);
  };

  test.each<[string, string | number, number, number | undefined]>([
    ['is a number of tasks', 3, 10, 3],
    ['is never more than there are', '30', 10, 10],
    ['is rounded up', '5%', 21, 2],
    ['is not rounded up where it is whole', '10%', 30, 3],
    ['survives the arithmetic of floating point', '7%', 100, 7],
    ['may be a fraction of a percent', '0.5%', 1000, 5],
    ['is at least one task', '1%', 3, 1],
    ['is nothing of an empty unit', '50%', 0, 0],
    ['is all of them at 100%', '100%', 7, 7],
    ['is not zero', 0, 10, undefined],
    ['is not 0%', '0%', 10, undefined],
    ['is not more than 100%', '101%', 10, undefined],
    ['is not negative', '-3', 10, undefined],
    ['is not half a task', '1.5', 10, undefined],
    ['is not a word', 'some', 10, undefined],
  ])('%s', (_, text, size, tasks) => check(text, size, tasks));

  test.each(['3', '5%', '0.5%', '100%'])('%s reads as it is written', (text) =>
    expect(formatAmount(parseAmount(text)!)).toBe(text),
  );

  test('describes whole units as such', () => expect(formatAmount({ units: { percent: 5 } })).toBe('5% of units'));
});

describe('a scope', () => {
  const lines = { ...unit('kvstore-x', 1, { region: 'x', name: 'trap' }) };
  test.each<[string, string, boolean]>([
    ['* is every unit', '*', true],
    ['a label and its value', 'region:x', true],
    ['a label with another value', 'region:y', false],
    ['a label that the unit does not have', 'tier:x', false],
    ['a name', 'kvstore-x', true],
    ['part of a name is not the unit', 'kvstore', false],
    ['name: goes before a label of that name', 'name:kvstore-x', true],
    ['what every object inherits is not a label', 'constructor:x', false],
  ])('%s', (_, scope, inside) => expect(inScope(scope, lines)).toBe(inside));

  test('a name with a colon in it is written with name:', () =>
    expect(inScope('name:db:7', unit('db:7', 1, { db: '8' }))).toBe(true));
});

describe('the plan', () => {
  test.each<[string, object, string[]]>([
    ['without phases grows faster and faster', {}, ['0 phase-1 * 1%', '1 phase-2 * 10%', '2 completion * 100%']],
    [
      'has the phases as written, then the completion',
      {
        phases: [
          { name: 'first', scope: 'region:x', amount: 3 },
          { scope: '*', amount: '50%' },
        ],
      },
      ['0 first region:x 3', '1 phase-2 * 50%', '2 completion * 100%'],
    ],
    ['without any phase is the completion alone', { phases: [] }, ['0 completion * 100%']],
    [
      'has one phase for each value of a label',
      { phases: [{ name: 'regions', forEach: 'region', amount: '100%' }] },
      ['0 regions-x region:x 100%', '1 regions-y region:y 100%', '2 completion * 100%'],
    ],
    [
      'names such phases after the label when they have no name',
      { phases: [{ forEach: 'region', amount: 1 }] },
      ['0 region-x region:x 1', '1 region-y region:y 1', '2 completion * 100%'],
    ],
    [
      'ends with the completion even where a phase reaches everything',
      { phases: [{ scope: '*', amount: '100%' }] },
      ['0 phase-1 * 100%', '1 completion * 100%'],
    ],
  ])('%s', (_, fields, shape) => expect(shapeOf(plan(fields))).toEqual(shape));

  const LAST = { scope: '*', amount: 1, bake: '7m', success: '98%', updateTimeout: '3h' };
  const completionOf = (fields: object, units?: readonly Unit[]) => plan(fields, units).phases.at(-1);

  test('the completion bakes and waits as the last written phase does', () => {
    expect(completionOf({ phases: [{ scope: '*', amount: 1, bake: '1m' }, LAST] })).toMatchObject({
      kind: 'completion',
      bakeMs: 420_000,
      success: { percent: 98 },
      updateTimeoutMs: 10_800_000,
    });
  });

  test('settings of completion go before that', () => {
    expect(completionOf({ phases: [LAST], completion: { bake: '2h' } })).toMatchObject({
      bakeMs: 7_200_000,
      success: { percent: 98 },
    });
  });

  test('the completion bakes as written also where the last phase expands to nothing', () => {
    const { scope: _, ...pacing } = LAST;
    const fields = { allowEmpty: true, phases: [{ ...pacing, forEach: 'region' }] };
    expect(completionOf(fields, [])).toMatchObject({ bakeMs: 420_000 });
  });

  test.each<[string, object, readonly Unit[], string]>([
    ['no units', {}, [], 'twine found no units to deploy to (allowEmpty: true permits that)'],
    [
      'a scope that matches nothing',
      { phases: [{ scope: 'region:z', amount: 1 }] },
      FLEET,
      'the scope region:z of phase phase-1 matches none of the units (kvstore-x, kvstore-y)',
    ],
    [
      'a label that no unit has',
      { phases: [{ forEach: 'rack', amount: 1 }] },
      FLEET,
      'no unit has the label rack that forEach names',
    ],
  ])('%s is an error', (_, fields, units, message) =>
    expect(() => plan(fields, units)).toThrow(new PlanError(message)),
  );

  test.each<[string, object]>([
    ['no units', {}],
    ['a scope that matches nothing', { phases: [{ scope: 'region:z', amount: 1 }] }],
    ['a label that no unit has', { phases: [{ forEach: 'rack', amount: 1 }] }],
  ])('%s is none with allowEmpty', (_, fields) => {
    const phases = plan({ ...fields, allowEmpty: true }, []).phases;
    expect(phases.at(-1)).toMatchObject({ kind: 'completion', scope: '*' });
  });

  test('units without tasks are taken whole, in the order of their names', () => {
    const units = ['c', 'a', 'd', 'b'].map((id) => unit(id, 1));
    const [quarter, half] = plan(
      { phases: [25, 50].map((n) => ({ scope: '*', amount: { units: `${n}%` } })) },
      units,
    ).phases;
    expect(pickPhaseUnits(quarter!, units).map(({ id }) => id)).toEqual(['a']);
    expect(pickPhaseUnits(half!, units).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(targetsOf(half!, units, plan())).toMatchObject([
      { unit: 'a', version: 'kv:2', amount: { all: true } },
      { unit: 'b', version: 'kv:2', amount: { all: true } },
    ]);
  });
});

describe('the plan of a rollback', () => {
  const rollback = (fields: object, units: readonly Unit[] = FLEET) => planRollback(spec(fields), units, [], 'kv:1');

  test('is one phase over everything, without a bake', () => {
    expect(rollback({ phases: [{ scope: 'region:x', amount: 1, success: '90%' }] }).phases).toMatchObject([
      { kind: 'completion', key: 0, scope: '*', amount: { all: true }, bakeMs: 0, success: { percent: 90 } },
    ]);
  });

  test('does not fail because of phases that it does not run', () => {
    expect(rollback({ phases: [{ scope: 'region:gone', amount: 1 }] }).phases).toHaveLength(1);
    expect(rollback({ phases: [{ forEach: 'rack', amount: 1 }] }).phases).toHaveLength(1);
  });

  test('still wants units', () => {
    expect(() => rollback({}, [])).toThrow(PlanError);
    expect(rollback({ allowEmpty: true }, []).phases).toHaveLength(1);
  });
});

const anAmount: fc.Arbitrary<Amount> = fc.oneof(
  fc.integer({ min: 1, max: 50 }).map((count) => ({ count })),
  fc.double({ min: 0.01, max: 100, noNaN: true }).map((percent) => ({ percent })),
  fc.constant({ all: true } as const),
);
const aPhaseAmount: fc.Arbitrary<PhaseAmount> = fc.oneof(
  anAmount,
  anAmount.map((units) => ({ units })),
);
const aFleet = fc
  .uniqueArray(
    fc.record({ name: fc.stringMatching(/^[a-z]{1,4}$/), size: fc.nat(200), region: fc.constantFrom('x', 'y') }),
    {
      minLength: 1,
      maxLength: 8,
      selector: ({ name }) => name,
    },
  )
  .map((rows) => rows.map(({ name, size, region }) => unit(name, size, { region })));

test('a percentage means at least its share, at least one task, and less than one task too many', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 100, noNaN: true }),
      fc.integer({ min: 1, max: 10_000 }),
      (percent, size) => {
        const tasks = tasksOf({ percent }, size);
        const share = (percent * size) / 100;
        expect(tasks).toBeGreaterThanOrEqual(Math.max(1, Math.min(size, share) - 1e-6));
        expect(tasks).toBeLessThan(Math.max(1, share) + 1);
        expect(tasks).toBeLessThanOrEqual(size);
      },
    ),
  );
});

test('a plan always ends with everything, and a phase that asks for more never reaches less of a unit', () => {
  const aPhase = fc.record({ scope: fc.constantFrom('*', 'region:x', 'region:y'), amount: aPhaseAmount });
  fc.assert(
    fc.property(aFleet, fc.array(aPhase, { maxLength: 6 }), (units, written) => {
      const base = spec({ allowEmpty: true });
      const phases = written.map((phase) => ({
        ...spec({ phases: [{ scope: '*', amount: 1 }] }).phases![0]!,
        ...phase,
      }));
      const made = planDeploy({ ...base, phases } as typeof base, units, [], 'kv:2');
      const completion = made.phases.at(-1)!;
      expect(completion).toMatchObject({ kind: 'completion', scope: '*', amount: { all: true } });
      expect(made.phases.filter(({ kind }) => kind === 'completion')).toHaveLength(1);
      expect(made.phases.map(({ key }) => key)).toEqual(made.phases.map((_, index) => index));
      expect(targetsOf(completion, units, made).map((target) => target.unit)).toEqual(units.map(({ id }) => id));
      for (const phase of made.phases)
        for (const touched of pickPhaseUnits(phase, units)) {
          expect(inScope(phase.scope, touched)).toBe(true);
          const tasks = countPlannedTasks(phase, touched);
          expect(tasks).toBeLessThanOrEqual(touched.size);
          expect(tasks).toBeGreaterThanOrEqual(Math.min(1, touched.size));
        }
    }),
  );
});

test('amounts are cumulative: more percent reaches all that less percent did', () => {
  const percent = fc.double({ min: 0.01, max: 100, noNaN: true });
  fc.assert(
    fc.property(aFleet, percent, percent, fc.boolean(), (units, a, b, whole) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)].map((value) => ({
        scope: '*',
        amount: whole ? { units: { percent: value } } : { percent: value },
      }));
      const reached = pickPhaseUnits(more!, units).map(({ id }) => id);
      for (const touched of pickPhaseUnits(less!, units)) {
        expect(reached).toContain(touched.id);
        expect(countPlannedTasks(more!, touched)).toBeGreaterThanOrEqual(countPlannedTasks(less!, touched));
      }
    }),
  );
});

describe('a canary', () => {
  const canary = (units: readonly Unit[] = FLEET) =>
    planCanary(spec(), units, [], 'kv:2', { amount: { count: 2 }, bakeMs: 1 });

  test('is one phase over all units, and completes nothing', () => {
    expect(shapeOf(canary())).toEqual(['0 canary * 2']);
    expect(canary().phases[0]).toMatchObject({ kind: 'partial', bakeMs: 1 });
  });
  test('needs units', () => expect(() => canary([])).toThrow(PlanError));
});

test('an emergency that skips its bakes leaves everything else as it is', () => {
  const usual = plan({ phases: [{ scope: '*', amount: 1, bake: '1h' }] });
  const urgent = withoutBakes(usual);
  expect(shapeOf(urgent)).toEqual(shapeOf(usual));
  expect(urgent.phases.map(({ bakeMs }) => bakeMs)).toEqual([0, 0]);
});
