import fc from 'fast-check';
import { cumulativeShares, classifyPattern, findReachedUnits } from '../../../domain/deploy/pattern';
import { planDeploy, countPlannedTasks, pickPhaseUnits, type DeployPlan } from '../../../domain/deploy/plan';
import { listReachedParts, revertTargets, withSent } from '../../../domain/deploy/planRevert';
import { selectUnits, type SnapshotUnit } from '../../../domain/deploy/snapshot';
import { tasksOf } from '../../../domain/fleet/amount';
import { inScope } from '../../../domain/fleet/scope';
import type { Unit } from '../../../domain/fleet/unit';
import { updateId } from '../../../domain/ids';
import { deployWith } from '../../../domain/spec/deploy';
import { targetsOf } from './plannedTargets';

/** Properties of every plan and of every revert, for any phases and fleet. */

const DEPLOYED = 'kv:2';
const unit = (id: string, size: number, region: string, version: string | null = 'kv:1'): Unit => ({
  ...{ id, labels: { region }, size, version, mixed: false, available: true },
});

const aFleet = (minLength = 1): fc.Arbitrary<Unit[]> =>
  fc
    .uniqueArray(
      fc.record({
        id: fc.stringMatching(/^[a-z]{1,3}$/),
        size: fc.integer({ min: 1, max: 60 }),
        region: fc.constantFrom('x', 'y', 'z'),
        version: fc.constantFrom('kv:0', 'kv:1', DEPLOYED),
      }),
      { minLength, maxLength: 9, selector: ({ id }) => id },
    )
    .map((rows) => rows.map(({ id, size, region, version }) => unit(id, size, region, version)));

const aPart = fc.oneof(
  fc.integer({ min: 1, max: 70 }),
  fc.integer({ min: 1, max: 1000 }).map((tenths) => `${tenths / 10}%`),
);
const anAmount = fc.oneof(
  aPart,
  aPart.map((units) => ({ units })),
);
const aPhase = fc.oneof(
  fc.record({ scope: fc.constantFrom('*', 'region:x', 'region:y', 'region:z'), amount: anAmount }),
  fc.record({ forEach: fc.constant('region'), amount: anAmount }),
);
const somePhases = fc.array(aPhase, { maxLength: 6 });

const planFor = (phases: readonly object[], units: readonly Unit[]): DeployPlan =>
  planDeploy(deployWith.parse({ pushType: 'twine', allowEmpty: true, phases }), units, [], DEPLOYED);
const ids = (units: readonly { readonly id: string }[]): string[] => units.map(({ id }) => id).sort();

describe('every plan', () => {
  test('brings more and more of the fleet to the version, and in the end all of it', () => {
    fc.assert(
      fc.property(aFleet(), somePhases, (units, phases) => {
        const plan = planFor(phases, units);
        const shares = cumulativeShares(plan, units);
        for (const [index, share] of shares.entries()) expect(share).toBeGreaterThanOrEqual(shares[index - 1] ?? 0);
        expect(shares.at(-1)).toBe(1);
        expect(plan.phases.map(({ kind }) => kind === 'completion')).toEqual(
          plan.phases.map((_, index) => index === plan.phases.length - 1),
        );
      }),
    );
  });

  test('asks each unit in scope, and no other, for at least one task and no more than it has', () => {
    fc.assert(
      fc.property(aFleet(), somePhases, (units, phases) => {
        const plan = planFor(phases, units);
        for (const phase of plan.phases) {
          const targets = targetsOf(phase, units, plan);
          const inside = units.filter((each) => inScope(phase.scope, each));
          const wanted = 'units' in phase.amount ? tasksOf(phase.amount.units, inside.length) : inside.length;
          expect(targets).toHaveLength(wanted);
          if (inside.length > 0) expect(targets.length).toBeGreaterThan(0);
          for (const { unit: id, amount, version } of targets) {
            const target = inside.find((each) => each.id === id)!;
            const tasks = tasksOf(amount!, target.size);
            expect(tasks).toBe(countPlannedTasks(phase, target));
            expect(tasks).toBeGreaterThanOrEqual(1);
            expect(tasks).toBeLessThanOrEqual(target.size);
            expect(version).toBe(DEPLOYED);
          }
        }
      }),
    );
  });

  test('asks the same, in whatever order the push type names its units', () => {
    const shuffled = aFleet().chain((units) =>
      fc.tuple(fc.constant(units), fc.shuffledSubarray(units, { minLength: units.length })),
    );
    fc.assert(
      fc.property(shuffled, somePhases, ([units, other], phases) => {
        const [plan, again] = [planFor(phases, units), planFor(phases, other)];
        expect(again).toEqual(plan);
        for (const phase of plan.phases)
          expect(ids(pickPhaseUnits(phase, other))).toEqual(ids(pickPhaseUnits(phase, units)));
        expect(classifyPattern(again, other)).toBe(classifyPattern(plan, units));
      }),
    );
  });

  test('takes only whole units where units are asked for, and all that an earlier phase with less took', () => {
    fc.assert(
      fc.property(aFleet(), fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }), (units, percents) => {
        const written = [...percents].sort((a, b) => a - b).map((n) => ({ scope: '*', amount: { units: `${n}%` } }));
        const plan = planFor(written, units);
        let before: readonly string[] = [];
        for (const phase of plan.phases) {
          const taken = pickPhaseUnits(phase, units);
          expect(ids(taken)).toEqual(expect.arrayContaining([...before]));
          for (const each of taken) expect(countPlannedTasks(phase, each)).toBe(each.size);
          before = ids(taken);
        }
      }),
    );
  });

  test('says of a phase that it reaches something new exactly when a task is left for it', () => {
    fc.assert(
      fc.property(aFleet(), somePhases, (units, phases) => {
        const plan = planFor(phases, units);
        const shares = cumulativeShares(plan, units);
        const grows = shares.map((share, index) => share > (shares[index - 1] ?? 0));
        expect(findReachedUnits(plan, units).map((reached) => reached.length > 0)).toEqual(grows);
      }),
    );
  });

  test('is as small for thousands of units as for two', () => {
    const phases = [
      { scope: 'region:x', amount: { units: '5%' } },
      { scope: '*', amount: '20%' },
    ];
    const many = Array.from({ length: 5000 }, (_, index) => unit(`u${index}`, 1, index % 2 === 0 ? 'x' : 'y'));
    const sizeOf = (units: readonly Unit[]) => JSON.stringify(planFor(phases, units)).length;
    expect(sizeOf(many) - sizeOf(many.slice(0, 2))).toBeLessThan(10);
  });
});

/** A fleet as any push type keeps it: of each task its version, and which update brought it. */
type Fleet = Map<string, { version: string | null; update: string | null }[]>;

const fleetOf = (units: readonly Unit[]): Fleet =>
  new Map(units.map(({ id, size, version }) => [id, Array.from({ length: size }, () => ({ version, update: null }))]));

/** Sends the first phases of a plan; an amount counts the tasks that are on the version already. */
function push(fleet: Fleet, plan: DeployPlan, units: readonly Unit[], phases: number): string[] {
  return plan.phases.slice(0, phases).map((phase) => {
    const id = updateId('deploy/kv/2/deploy/1', phase.key, 1);
    for (const { unit: name, amount } of targetsOf(phase, units, plan)) {
      const tasks = fleet.get(name)!;
      const others = tasks.filter(({ version }) => version !== DEPLOYED);
      const missing = tasksOf(amount!, tasks.length) - (tasks.length - others.length);
      for (const task of others.slice(0, Math.max(0, missing))) Object.assign(task, { version: DEPLOYED, update: id });
    }
    return id;
  });
}

/** The units that the first phases of a plan went to. */
function reached(plan: DeployPlan, snapshot: readonly SnapshotUnit[], phases: readonly number[]): SnapshotUnit[] {
  const deployed = phases.reduce((sent, phase) => ({ plan, ...withSent(sent, phase, []) }), {
    ...{ plan, sent: [], leftOutSets: [] },
  } as Parameters<typeof listReachedParts>[0]);
  return selectUnits(snapshot, listReachedParts(deployed));
}
const RULES = { lastGood: null, deployed: DEPLOYED };
const first = (plan: DeployPlan, count: number): number[] => plan.phases.slice(0, count).map((_, index) => index);

describe('every revert', () => {
  const aDeploy = fc.tuple(aFleet(), somePhases, fc.nat(8));

  test('goes to exactly the units that the phases so far went to', () => {
    fc.assert(
      fc.property(aDeploy, ([units, phases, upTo]) => {
        const plan = planFor(phases, units);
        const updates = push(fleetOf(units), plan, units, upTo);
        const sent = plan.phases.slice(0, upTo).flatMap((phase) => targetsOf(phase, units, plan));
        const touched = reached(plan, units, first(plan, upTo));
        expect(ids(touched)).toEqual([...new Set(sent.map((target) => target.unit))].sort());
        const targets = revertTargets(touched, RULES, updates);
        expect(ids(targets.map((target) => ({ id: target.unit })))).toEqual(ids(touched));
      }),
    );
  });

  test('brings every task that the deploy updated back to what it ran, and changes no other', () => {
    fc.assert(
      fc.property(aDeploy, ([units, phases, upTo]) => {
        const plan = planFor(phases, units);
        const fleet = fleetOf(units);
        const updates = push(fleet, plan, units, upTo);
        const targets = revertTargets(reached(plan, units, first(plan, upTo)), RULES, updates);
        for (const { unit: name, version, updatedBy = [] } of targets)
          for (const task of fleet.get(name)!)
            if (task.update !== null && updatedBy.includes(task.update)) Object.assign(task, { version });
        for (const { id, version } of units)
          expect(new Set(fleet.get(id)!.map((task) => task.version))).toEqual(new Set([version]));
      }),
    );
  });

  test('does not lose a unit because others have joined since, nor take those for its own', () => {
    const aGrowing = fc.tuple(aFleet(2), somePhases, fc.nat(8), fc.integer({ min: 1, max: 8 }));
    fc.assert(
      fc.property(aGrowing, ([all, phases, upTo, joining]) => {
        const count = Math.max(1, all.length - joining);
        const units = all.slice(0, count);
        const joined = all.slice(count).map((each) => ({ ...each, joined: true as const }));
        const plan = planFor(phases, units);
        const sent = Math.min(upTo, plan.phases.length - 1);
        const begun = first(plan, sent);
        expect(ids(reached(plan, [...units, ...joined], begun))).toEqual(ids(reached(plan, units, begun)));
        const completion = plan.phases.length - 1;
        expect(ids(reached(plan, [...units, ...joined], [...begun, completion]))).toEqual(ids(all));
      }),
    );
  });
});
