import { tasksOf, type Amount, type PhaseAmount } from '../fleet/amount';
import type { UnitProgress } from '../fleet/unit';
import type { PlannedTarget } from './plan';
import { judgeProgress, type Progress, type Unreachable } from './progress';

/**
 * In lockstep no request is lost (Conveyor §3.3): in every unit, a version never gets more of the traffic than its live tasks can carry. A
 * unit carries all of its traffic while as many tasks as its budget allows are down, so each of the other tasks carries an equal share.
 * Therefore a phase goes in strides. The traffic moves as far as the tasks on one side can carry it. That frees as many tasks on the other
 * side as the budget allows; those are updated, and the traffic moves on. A revert is the same with the sides swapped.
 */

/** A unit in terms of lockstep. */
export interface LockstepUnit {
  readonly id: string;
  readonly size: number;
  /** The number of tasks that may be down at a time; undefined if the push type does not say. */
  readonly budget: number | undefined;
  /** Tasks that are up on the version that is being deployed, or were. */
  readonly on: number;
  /** Tasks that were updated and are not up: they carry nothing on either side. */
  readonly down?: number | undefined;
}

/** The next step: first the traffic, then the updates. */
export interface Stride {
  /** The share of the traffic for the deployed version, in percent, to four decimals. */
  readonly percent: number;
  /** The units whose traffic shifts: units that are further keep theirs until the others have caught up. */
  readonly shifts: readonly string[];
  /** The number of tasks of each unit that are to be on the version after it; units without a change are left out. */
  readonly targets: ReadonlyMap<string, number>;
  /** Nothing is left to do after it. */
  readonly isLast: boolean;
}

/** The next stride of a phase towards its amount of each unit. */
export function strideForward(units: readonly LockstepUnit[], amount: PhaseAmount): Stride {
  const goals = computeUnitGoals(units, amount);
  const carried = computeCarriedShare(units, (unit) => unit.on);
  const level = units.filter(
    (unit) => isAlone(unit) || computeNeededShare([unit], countGoneTasks) <= carried + ROUNDING,
  );
  const next = (unit: LockstepUnit): number => {
    const goal = goals.get(unit.id) ?? 0;
    if (isAlone(unit)) return carried >= 1 ? Math.max(goal, unit.on) : unit.on;
    return Math.max(unit.on, Math.min(goal, countFreedTasks(unit, carried)));
  };
  const fair = Math.min(1, ...withoutSingleTaskUnits(level).map(({ on, size }) => on / size));
  const isAll = units.every((unit) => next(unit) >= unit.size);
  return {
    percent: roundUpPercent(
      isAll
        ? carried
        : Math.max(
            fair,
            computeNeededShare(level, (unit) => Math.max(next(unit), countGoneTasks(unit))),
          ),
      carried,
    ),
    shifts: level.map(({ id }) => id),
    targets: new Map(units.flatMap((unit) => (next(unit) > unit.on ? [[unit.id, next(unit)] as const] : []))),
    isLast: units.every((unit) => next(unit) >= (goals.get(unit.id) ?? 0)),
  };
}

/** The number of tasks of a unit that have left its old version. */
const countGoneTasks = ({ on, down = 0 }: LockstepUnit): number => on + down;

/** A unit that goes back: `left` is the number of its tasks that this deploy updated and that are not back, whether or not they are live. */
export interface LockstepUnitBack extends LockstepUnit {
  readonly left: number;
}

/**
 * The next stride of a revert. Its targets are the numbers of tasks of each unit to take back. If another deploy had brought a unit to the
 * version and this one has nothing left to take back there, the unit stays there with its traffic, and does not delay the others. Dead tasks
 * carry nothing on either side. If the live tasks of a unit with dead ones cannot carry the share that the others have to keep, that unit
 * goes back first.
 */
export function strideBack(all: readonly LockstepUnitBack[]): Stride {
  const returning = all.filter(({ left, on }) => left > 0 || on === 0);
  const units = returning.some(({ left }) => left > 0) ? returning : all;
  const kept = computeNeededShare(units, there);
  const weak = weakest(units, kept);
  const [going, share] = weak.length > 0 ? [weak, computeCarriedShare(weak, ({ on }) => on)] : [units, kept];
  const level = going.filter((unit) => isAlone(unit) || share * countRequiredTasks(unit) <= unit.on + ROUNDING);
  const taken = (unit: LockstepUnitBack): number => {
    if (isAlone(unit)) return kept <= 0 ? unit.left : 0;
    return Math.min(unit.left, there(unit) - Math.ceil(share * countRequiredTasks(unit) - ROUNDING));
  };
  return {
    percent: roundUpPercent(share, weak.length > 0 ? share : 1),
    shifts: level.map(({ id }) => id),
    targets: new Map(going.flatMap((unit) => (taken(unit) > 0 ? [[unit.id, taken(unit)] as const] : []))),
    isLast: weak.length === 0 && units.every((unit) => taken(unit) >= unit.left),
  };
}

/**
 * The number of tasks that cannot carry the old version's traffic. Live ones may be another deploy's, so the dead ones among those that are left
 * count besides.
 */
const there = ({ left, on, down = 0 }: LockstepUnitBack): number => Math.max(left, on + Math.min(down, left));

/**
 * The units that go back first: those that have dead tasks and whose live tasks cannot carry the share, as far as they
 * can go back together.
 */
function weakest(units: readonly LockstepUnitBack[], share: number): readonly LockstepUnitBack[] {
  const weak = withoutSingleTaskUnits(units).filter(
    (unit) => there(unit) > unit.on && share * countRequiredTasks(unit) > unit.on + ROUNDING,
  );
  const least = computeCarriedShare(weak, ({ on }) => on);
  const together = weak.filter((unit) => computeNeededShare([unit], there) <= least + ROUNDING);
  return together.length > 0 ? together : weak;
}

/** The numbers of tasks in a stride, by unit; other units are not updated. */
export type TaskCounts = Readonly<Record<string, number>>;

/**
 * The part of the wanted tasks that a stride sends. The last stride of a target without an amount (`isWhole`) sends all of them
 * (undefined), so that none are left out.
 */
export const toTaskCounts = ({ targets, isLast }: Stride, isWhole: boolean): TaskCounts | undefined =>
  isLast && isWhole ? undefined : Object.fromEntries(targets);

/** The targets, limited to a stride. */
export const limitTargets = (
  targets: readonly PlannedTarget[],
  counts: TaskCounts | undefined,
): readonly PlannedTarget[] =>
  counts === undefined
    ? targets
    : targets.flatMap((target) => {
        const count = counts[target.unit];
        return count === undefined ? [] : [{ ...target, amount: { count } }];
      });

/** In lockstep each unit has to meet the criterion by itself: none advances before all have caught up. */
export function judgeEach(units: readonly UnitProgress[], success: Amount, unreachableOnes?: Unreachable): Progress {
  const judged = units.map((unit) => judgeProgress([unit], success, unreachableOnes));
  const ended = judged.find(({ kind }) => kind === 'not-live') ?? judged.find(({ kind }) => kind === 'stuck');
  return ended ?? judged.find(({ kind }) => kind === 'going') ?? { kind: 'met' };
}

/** The budget of a unit that does not state one. */
const USUAL_BUDGET: Amount = { percent: 5 };
const ROUNDING = 1e-6;

/** A unit with a single task loses its requests while that is updated. So it comes last, and it does not limit the others. */
const isAlone = ({ size }: LockstepUnit): boolean => size === 1;

const computeBudget = ({ size, budget }: LockstepUnit): number =>
  Math.max(1, Math.min(size - 1, budget ?? tasksOf(USUAL_BUDGET, size)));

/** The number of tasks that can carry all the traffic of a unit. */
const countRequiredTasks = (unit: LockstepUnit): number => unit.size - computeBudget(unit);

const withoutSingleTaskUnits = <S extends LockstepUnit>(units: readonly S[]): S[] =>
  units.filter(({ size }) => size > 1);

/** The share of the traffic (0 to 1) that this many tasks of each unit can carry. */
const computeCarriedShare = (units: readonly LockstepUnit[], tasks: (unit: LockstepUnit) => number): number =>
  Math.min(1, ...withoutSingleTaskUnits(units).map((unit) => tasks(unit) / countRequiredTasks(unit)));

/** The least share that this many tasks on the version must get, because the other tasks cannot carry more than the rest. */
const computeNeededShare = <S extends LockstepUnit>(units: readonly S[], tasks: (unit: S) => number): number =>
  Math.max(
    0,
    ...withoutSingleTaskUnits(units).map((unit) => (tasks(unit) - computeBudget(unit)) / countRequiredTasks(unit)),
  );

/** The number of tasks of a unit that may be on the version, or on their way, while it gets a share of the traffic. */
const countFreedTasks = (unit: LockstepUnit, share: number): number =>
  Math.floor(computeBudget(unit) + share * countRequiredTasks(unit) + ROUNDING);

/** The goal of a phase for each unit: its amount, or less if rounding would bring a small unit further than the traffic can follow. */
function computeUnitGoals(units: readonly LockstepUnit[], amount: PhaseAmount): ReadonlyMap<string, number> {
  const wanted = ({ size }: LockstepUnit): number => ('units' in amount ? size : tasksOf(amount, size));
  const share = computeCarriedShare(units, wanted);
  const isAll = withoutSingleTaskUnits(units).every((unit) => wanted(unit) >= unit.size);
  const goal = (unit: LockstepUnit): number => {
    if (isAlone(unit)) return isAll ? 1 : 0;
    return Math.min(wanted(unit), countFreedTasks(unit, share));
  };
  return new Map(units.map((unit) => [unit.id, goal(unit)]));
}

/** Rounds up to the next ten-thousandth of a percent, but not above `most`. */
function roundUpPercent(share: number, most: number): number {
  const units = 1e6;
  const up = Math.ceil(share * units - ROUNDING);
  return Math.max(0, Math.min(up, Math.floor(most * units + ROUNDING))) / 1e4;
}
