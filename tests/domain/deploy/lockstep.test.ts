import fc from 'fast-check';
import {
  judgeEach,
  strideBack,
  strideForward,
  type Stride,
  type LockstepUnit,
  type LockstepUnitBack,
} from '../../../domain/deploy/lockstep';
import { refuseManyInStep } from '../../../domain/deploy/planLimits';
import { addCounts } from '../../../domain/deploy/counts';
import { judgeProgress } from '../../../domain/deploy/progress';
import { tasksOf, type Amount, type PhaseAmount } from '../../../domain/fleet/amount';
import type { UnitProgress } from '../../../domain/fleet/unit';

const unit = (size: number, budget: number | undefined, on: number, id = `of ${size}`): LockstepUnit => ({
  ...{ id, size, budget, on },
});
const shown = ({ percent, targets, isLast }: Stride) => [percent, Object.fromEntries(targets), isLast];

describe('the next stride forward', () => {
  test.each<[string, LockstepUnit[], PhaseAmount, unknown[]]>([
    ['first says that nothing goes to the new version', [unit(10, 2, 0)], { percent: 50 }, [0, { 'of 10': 2 }, false]],
    ['leads by what the next tasks need', [unit(10, 2, 2)], { percent: 50 }, [25, { 'of 10': 4 }, false]],
    ['leads no further than they need', [unit(10, 2, 4)], { percent: 50 }, [40, { 'of 10': 5 }, true]],
    ['leaves a phase with as much traffic as tasks', [unit(10, 2, 5)], { percent: 50 }, [50, {}, true]],
    ['ends with all of it', [unit(10, 2, 8)], { all: true }, [100, { 'of 10': 10 }, true]],
    ['is all of it once everything is there', [unit(10, 2, 10)], { all: true }, [100, {}, true]],
    ['goes by the slowest', [unit(10, 5, 1), unit(20, 1, 0)], { all: true }, [0, { 'of 10': 5, 'of 20': 1 }, false]],
    ['is a twentieth where no budget is known', [unit(100, undefined, 0)], { all: true }, [0, { 'of 100': 5 }, false]],
    ['is a single task at least', [unit(3, undefined, 1)], { all: true }, [50, { 'of 3': 2 }, false]],
    ['has four decimals', [unit(10, 1, 1)], { all: true }, [11.1111, { 'of 10': 2 }, false]],
    [
      'never rounds a small unit past the traffic',
      [unit(3, 1, 1), unit(100, 9, 40)],
      { percent: 40 },
      [34.066, {}, true],
    ],
    ['counts in whole units all of each', [unit(4, 1, 3)], { units: { all: true } }, [100, { 'of 4': 4 }, true]],
    ['takes a unit of one task last', [unit(1, 1, 0), unit(4, 1, 0)], { percent: 50 }, [0, { 'of 4': 1 }, false]],
    ['takes it with the rest', [unit(1, 1, 0), unit(4, 1, 3)], { all: true }, [100, { 'of 1': 1, 'of 4': 4 }, true]],
    [
      'takes units of one task at once where there are no others',
      [unit(1, 1, 0)],
      { percent: 5 },
      [100, { 'of 1': 1 }, true],
    ],
    ['does not mind a unit without tasks', [unit(0, 0, 0), unit(4, 1, 0)], { percent: 25 }, [0, { 'of 4': 1 }, true]],
  ])('%s', (_title, shards, amount, expected) => {
    expect(shown(strideForward(shards, amount))).toEqual(expected);
  });
});

test('a unit that is further than the traffic of the others keeps its own until they have come as far', () => {
  const [ahead, behind] = [unit(10, 2, 6, 'ahead'), unit(10, 2, 0, 'behind')];
  const forward = strideForward([ahead, behind], { all: true });
  expect([forward.percent, forward.shifts, shown(forward)[1]]).toEqual([0, ['behind'], { behind: 2 }]);
  const back = strideBack([
    { ...ahead, left: 6 },
    { ...behind, on: 10, left: 10 },
  ]);
  expect([back.percent, back.shifts, shown(back)[1]]).toEqual([100, ['behind'], { behind: 2 }]);
});

test('a unit whose updated tasks are not all up gets no traffic back for old ones that it has not', () => {
  const [weak, fresh] = [{ ...unit(4, 3, 3, 'weak'), down: 1 }, unit(4, 1, 0, 'fresh')];
  expect(strideForward([weak, fresh], { count: 2 }).shifts).toEqual(['fresh']);
  expect(strideForward([unit(4, 3, 3, 'whole'), fresh], { count: 2 }).shifts).toEqual(['whole', 'fresh']);
});

test('a deploy in lockstep is refused above a hundred units, in words', () => {
  expect(() => refuseManyInStep('twine', 100)).not.toThrow();
  expect(() => refuseManyInStep('twine', 101)).toThrow(
    'twine has 101 units, and a deploy in lockstep updates at most 100: make units of several of them, or leave lockstep out',
  );
});

describe('the next stride back', () => {
  const back = (size: number, budget: number, left: number, on = left): LockstepUnitBack => ({
    ...unit(size, budget, on),
    left,
  });
  test.each<[string, LockstepUnitBack[], unknown[]]>([
    ['takes as many as may be down where no old task is left', [back(10, 2, 10)], [100, { 'of 10': 2 }, false]],
    ['sends back as much as the old ones carry', [back(10, 2, 8)], [75, { 'of 10': 2 }, false]],
    ['sends back all before the last', [back(10, 2, 2)], [0, { 'of 10': 2 }, true]],
    ['leaves a unit alone that is further back', [back(10, 2, 2), back(20, 4, 12)], [50, { 'of 20': 4 }, false]],
    ['takes those that are dead first, which carry nothing', [back(10, 2, 4, 2)], [25, { 'of 10': 2 }, false]],
    [
      'sends nothing to what never lived, and takes that first',
      [back(4, 1, 1, 0), back(9, 1, 3)],
      [0, { 'of 4': 1 }, false],
    ],
    ['leaves what others had brought to the version', [back(10, 2, 0, 4)], [25, {}, true]],
    [
      'waits for no unit that others had brought there',
      [back(10, 2, 0, 10), back(20, 4, 12)],
      [50, { 'of 20': 4 }, false],
    ],
    [
      'keeps the traffic of dead tasks beside those that others had brought there',
      [{ ...back(5, 1, 3), down: 1 }],
      [75, { 'of 5': 1 }, false],
    ],
    ['takes a unit of one task last', [back(1, 1, 1), back(4, 1, 4)], [100, { 'of 4': 1 }, false]],
    ['takes it with the rest', [back(1, 1, 1), back(4, 1, 1)], [0, { 'of 1': 1, 'of 4': 1 }, true]],
  ])('%s', (_title, shards, expected) => {
    expect(shown(strideBack(shards))).toEqual(expected);
  });
});

/** A unit in which a deploy is under way: of its tasks those that live on the new version, and those that do not come up there. */
interface Model {
  readonly id: string;
  readonly size: number;
  readonly budget: number;
  on: number;
  dead: number;
  /** The share of its traffic that goes to the new version. */
  percent: number;
}

const aModel = fc.record({ size: fc.integer({ min: 2, max: 60 }), budget: fc.integer({ min: 1, max: 70 }) });
const models = fc
  .array(aModel, { minLength: 1, maxLength: 6 })
  .map((rows) => rows.map((row, index): Model => ({ id: `u${index}`, ...row, on: 0, dead: 0, percent: 0 })));
const anAmount: fc.Arbitrary<Amount> = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map((count) => ({ count })),
  fc.double({ min: 0.1, max: 99, noNaN: true }).map((percent) => ({ percent })),
);
/** Each phase asks for more than the one before; one that does not is passed over. */
const growing = fc.oneof(
  fc
    .array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 })
    .map((counts) => ascending(counts).map((count) => ({ count }))),
  fc
    .array(fc.double({ min: 0.1, max: 99, noNaN: true }), { maxLength: 4 })
    .map((percents) => ascending(percents).map((percent) => ({ percent }))),
);
const somePhases = growing.map((amounts): Amount[] => [...amounts, { all: true }]);
const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

/** Neither side gets more than its live tasks carry, however many of the tasks that are taken are down at a moment. */
function expectCarried(units: readonly Model[], stride: Stride, taken: (unit: Model) => number, fromNew: boolean) {
  for (const unit of units) {
    if (stride.shifts.includes(unit.id)) unit.percent = stride.percent;
    const builtFor = unit.size - Math.min(unit.budget, unit.size - 1);
    const [fresh, old] = [unit.on, unit.size - unit.on - unit.dead];
    const tolerance = 1e-6 * unit.size + 1e-9;
    const share = unit.percent / 100;
    // Dead tasks come first, and carry nothing.
    const live = Math.max(0, taken(unit) - unit.dead);
    expect(share * builtFor).toBeLessThanOrEqual(fresh - (fromNew ? live : 0) + tolerance);
    expect((1 - share) * builtFor).toBeLessThanOrEqual(old - (fromNew ? 0 : live) + tolerance);
  }
}

interface Chance {
  /** Whether a task that is updated stays dead, as far as the criterion lets it. */
  readonly dies: () => boolean;
  /** Whether a command ends the deploy in the middle of the stride. */
  readonly ends: () => boolean;
}

/** A phase of a part of the units, as their places say. */
interface Scoped {
  readonly amount: Amount;
  readonly of: readonly number[];
}

const asSeen = ({ dead, ...unit }: Model): LockstepUnit => ({ ...unit, down: dead });

/** @returns whether it went through. */
function forward(all: Model[], phases: readonly (Amount | Scoped)[], { dies, ends }: Chance): boolean {
  for (const phase of phases) {
    const [amount, units] =
      'of' in phase ? [phase.amount, all.filter((_, nth) => phase.of.includes(nth))] : [phase, all];
    for (let strides = 0; ; strides += 1) {
      const stride = strideForward(units.map(asSeen), amount);
      const taken = ({ id, on }: Model): number => (stride.targets.get(id) ?? on) - on;
      expectCarried(units, stride, taken, false);
      const isEnd = ends();
      for (const unit of units) {
        const all = taken(unit);
        const updated = isEnd ? Math.floor(all / 2) : all;
        const lost = isEnd && dies() ? updated : updated > 1 && dies() ? 1 : 0;
        Object.assign(unit, { on: unit.on + updated - lost, dead: updated === 0 ? unit.dead : lost });
      }
      if (isEnd) return false;
      if (stride.isLast) break;
      expect(strides).toBeLessThan(2 * Math.max(...units.map(({ size }) => size)));
    }
    expectCarried(units, strideForward(units.map(asSeen), amount), () => 0, false);
  }
  expect(strideForward(all.map(asSeen), { all: true }).percent).toBe(100);
  return true;
}

function backward(units: Model[]): void {
  for (let strides = 0; ; strides += 1) {
    const stride = strideBack(units.map((unit) => ({ ...unit, left: unit.on + unit.dead })));
    const taken = ({ id }: Model): number => stride.targets.get(id) ?? 0;
    expectCarried(units, stride, taken, true);
    for (const unit of units) {
      const live = Math.max(0, taken(unit) - unit.dead);
      Object.assign(unit, { on: unit.on - live, dead: Math.max(0, unit.dead - taken(unit)) });
    }
    if (stride.isLast) break;
    expect(strides).toBeLessThan(2 * Math.max(...units.map(({ size }) => size)));
  }
  for (const { on, dead } of units) expect([on, dead]).toEqual([0, 0]);
}

describe('for any units, budgets, phases and failures,', () => {
  test('no version ever gets more of the traffic than its live tasks carry, forward and in a revert at any moment', () => {
    fc.assert(
      fc.property(
        models,
        somePhases,
        fc.array(fc.nat(99), { maxLength: 300 }),
        fc.nat(60),
        (drawn, phases, dice, end) => {
          const units = drawn.map((unit) => ({ ...unit }));
          let [rolls, strides] = [0, 0];
          const dies = (): boolean => (dice[(rolls += 1)] ?? 99) < 20;
          const ends = (): boolean => (strides += 1) > end;
          forward(units, phases, { dies, ends });
          backward(units);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('nor where phases are of parts of the fleet, one after the other, and the last is stopped with all of its tasks dead', () => {
    const scoped = fc.record({ amount: anAmount, of: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }) });
    fc.assert(
      fc.property(
        models,
        fc.array(scoped, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(99), { maxLength: 300 }),
        fc.nat(12),
        (drawn, some, dice, end) => {
          const units = drawn.map((unit) => ({ ...unit }));
          let [rolls, strides] = [0, 0];
          const dies = (): boolean => strides > end && (dice[(rolls += 1)] ?? 0) < 50;
          const phases = [...some.filter(({ of }) => of.some((nth) => nth < units.length)), { all: true } as const];
          forward(units, phases, { dies, ends: () => (strides += 1) > end });
          backward(units);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a deploy that was cancelled is taken up where it is', () => {
    fc.assert(
      fc.property(models, somePhases, fc.nat(20), (drawn, phases, end) => {
        const units = drawn.map((unit) => ({ ...unit }));
        let strides = 0;
        const dies = () => false;
        if (!forward(units, phases, { dies, ends: () => (strides += 1) > end }))
          expect(forward(units, phases, { dies, ends: dies })).toBe(true);
        for (const { on, size } of units) expect(on).toBe(size);
      }),
    );
  });

  test('a phase brings a unit to its amount, or as far as rounding lets the traffic follow', () => {
    fc.assert(
      fc.property(models, anAmount, (drawn, amount) => {
        const units = drawn.map((unit) => ({ ...unit }));
        forwardTo(units, amount);
        for (const { on, size } of units) expect(on).toBeLessThanOrEqual(tasksOf(amount, size));
        const short = units.filter(({ on, size }) => on < tasksOf(amount, size));
        expect(short.length).toBeLessThan(units.length);
      }),
    );
  });
});

function forwardTo(units: Model[], amount: Amount): void {
  for (let isLast = false; !isLast;) {
    const stride = strideForward(units, amount);
    for (const unit of units) unit.on = stride.targets.get(unit.id) ?? unit.on;
    isLast = stride.isLast;
  }
}

const progress = (live: number, state: UnitProgress['state'] = 'updating', failed = 0): UnitProgress => ({
  ...{ id: `u${live}`, state, targeted: 10, updated: live, live, failed, unreachable: 0, gone: 0 },
});

test.each<[string, UnitProgress[], string, string]>([
  ['all reached it', [progress(9), progress(10)], 'met', 'met'],
  ['one lags, and together they have enough', [progress(4), progress(10), progress(10)], 'going', 'met'],
  ['one came up dead', [progress(4, 'failed', 6), progress(10), progress(10)], 'not-live', 'met'],
  ['one was given up', [progress(4, 'failed'), progress(2)], 'stuck', 'stuck'],
])('each unit has to meet the criterion: %s', (_title, units, inStep, together) => {
  const success = { percent: 80 };
  expect([judgeEach(units, success).kind, judgeProgress(units, success).kind]).toEqual([inStep, together]);
});

test('people see what all strides of a phase have done together', () => {
  const counts = (id: string, live: number) => ({ id, targeted: live, updated: live, live });
  const of = (...units: ReturnType<typeof counts>[]) => {
    const all = units.reduce((sum, { live }) => sum + live, 0);
    return { units, totals: { units: units.length, targeted: all, updated: all, live: all } };
  };
  expect(addCounts(of(counts('a', 2)), of(counts('b', 1), counts('a', 3)))).toEqual(of(counts('a', 5), counts('b', 1)));
});
