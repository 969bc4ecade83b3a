import { tasksOf, type Amount, type PhaseAmount } from '../fleet/amount';
import type { UnitProgress } from '../fleet/unit';
import type { PlannedTarget } from './plan';
import { judgeProgress, type Progress, type Unreachable } from './progress';

/**
 * In lockstep no request is lost (Conveyor §3.3): a version never gets more of the traffic than its live tasks carry, in every unit. A
 * unit carries all of it while as many tasks as its budget allows are down, so each task carries its share of what is left then. A
 * phase therefore goes in strides: the traffic moves as far as the tasks on the one side carry it, which frees as many on
 * the other as the budget allows; those are updated, and the traffic moves on. Back it is the same with the sides swapped.
 */

/** A unit as lockstep sees it. */
export interface LockstepUnit {
  readonly id: string;
  readonly size: number;
  /** Tasks that may be down at a time; undefined where its push type does not say. */
  readonly budget: number | undefined;
  /** Tasks that are up on the version that is deployed, or have been. */
  readonly on: number;
  /** Tasks that were updated and are not up: they carry nothing on either side. */
  readonly down?: number | undefined;
}

/** What is done next: the traffic first, and then the updates. */
export interface Stride {
  /** Of the traffic, to the deployed version; to four decimals. */
  readonly percent: number;
  /** The units whose traffic that is: those that are further than it keep theirs until the others have come as far. */
  readonly shifts: readonly string[];
  /** How many tasks of a unit are to be on the version then; units that stay as they are are left out. */
  readonly targets: ReadonlyMap<string, number>;
  /** Nothing is left to do after it. */
  readonly isLast: boolean;
}

/** The next stride of a phase towards its amount of each unit. */
export function strideForward(units: readonly LockstepUnit[], amount: PhaseAmount): Stride {
  const goals = goalsOf(units, amount);
  const carried = carriedBy(units, (unit) => unit.on);
  const level = units.filter((unit) => isAlone(unit) || neededBy([unit], gone) <= carried + ROUNDING);
  const next = (unit: LockstepUnit): number => {
    const goal = goals.get(unit.id) ?? 0;
    if (isAlone(unit)) return carried >= 1 ? Math.max(goal, unit.on) : unit.on;
    return Math.max(unit.on, Math.min(goal, freedBy(unit, carried)));
  };
  const fair = Math.min(1, ...judging(level).map(({ on, size }) => on / size));
  const isAll = units.every((unit) => next(unit) >= unit.size);
  return {
    percent: percentOf(
      isAll
        ? carried
        : Math.max(
            fair,
            neededBy(level, (unit) => Math.max(next(unit), gone(unit))),
          ),
      carried,
    ),
    shifts: level.map(({ id }) => id),
    targets: new Map(units.flatMap((unit) => (next(unit) > unit.on ? [[unit.id, next(unit)] as const] : []))),
    isLast: units.every((unit) => next(unit) >= (goals.get(unit.id) ?? 0)),
  };
}

/** How many tasks of a unit are not on its old version any more. */
const gone = ({ on, down = 0 }: LockstepUnit): number => on + down;

/** A unit that goes back: `left` are those of its tasks that this deploy updated and that are not back, whether or not they live. */
export interface LockstepUnitBack extends LockstepUnit {
  readonly left: number;
}

/**
 * The next stride of a revert. The targets are how many tasks of each unit are taken back. A unit of which nothing is left, but which
 * others had brought to the version, stays there with its traffic, and holds up no other. One with dead tasks, which carry nothing on
 * either side, goes back before the others as far as those of its tasks that live cannot carry what the others have to keep.
 */
export function strideBack(all: readonly LockstepUnitBack[]): Stride {
  const returning = all.filter(({ left, on }) => left > 0 || on === 0);
  const units = returning.some(({ left }) => left > 0) ? returning : all;
  const kept = neededBy(units, there);
  const weak = weakest(units, kept);
  const [going, share] = weak.length > 0 ? [weak, carriedBy(weak, ({ on }) => on)] : [units, kept];
  const level = going.filter((unit) => isAlone(unit) || share * builtFor(unit) <= unit.on + ROUNDING);
  const taken = (unit: LockstepUnitBack): number => {
    if (isAlone(unit)) return kept <= 0 ? unit.left : 0;
    return Math.min(unit.left, there(unit) - Math.ceil(share * builtFor(unit) - ROUNDING));
  };
  return {
    percent: percentOf(share, weak.length > 0 ? share : 1),
    shifts: level.map(({ id }) => id),
    targets: new Map(going.flatMap((unit) => (taken(unit) > 0 ? [[unit.id, taken(unit)] as const] : []))),
    isLast: weak.length === 0 && units.every((unit) => taken(unit) >= unit.left),
  };
}

const there = ({ left, on }: LockstepUnitBack): number => Math.max(left, on);

/** Of the units whose live tasks cannot carry a share, and that have dead ones, those that can go back together. */
function weakest(units: readonly LockstepUnitBack[], share: number): readonly LockstepUnitBack[] {
  const weak = judging(units).filter((unit) => unit.left > unit.on && share * builtFor(unit) > unit.on + ROUNDING);
  const least = carriedBy(weak, ({ on }) => on);
  const together = weak.filter((unit) => neededBy([unit], there) <= least + ROUNDING);
  return together.length > 0 ? together : weak;
}

/** How many tasks of each unit a stride is about, by unit; units that are not named are not touched. */
export type TaskCounts = Readonly<Record<string, number>>;

/**
 * What a stride sends of what is wanted in the end. The last one, where that has no amount (`isWhole`), sends all of it, so that
 * nothing is left behind: undefined.
 */
export const countsOf = ({ targets, isLast }: Stride, isWhole: boolean): TaskCounts | undefined =>
  isLast && isWhole ? undefined : Object.fromEntries(targets);

/** The targets as a stride limits them. */
export const counted = (targets: readonly PlannedTarget[], counts: TaskCounts | undefined): readonly PlannedTarget[] =>
  counts === undefined
    ? targets
    : targets.flatMap((target) => {
        const count = counts[target.unit];
        return count === undefined ? [] : [{ ...target, amount: { count } }];
      });

/** In lockstep the criterion holds for each unit by itself: none goes further before all have come as far. */
export function judgeEach(units: readonly UnitProgress[], success: Amount, unreachableOnes?: Unreachable): Progress {
  const judged = units.map((unit) => judgeProgress([unit], success, unreachableOnes));
  const ended = judged.find(({ kind }) => kind === 'not-live') ?? judged.find(({ kind }) => kind === 'stuck');
  return ended ?? judged.find(({ kind }) => kind === 'going') ?? { kind: 'met' };
}

/** Of a unit that does not say what it may lose. */
const USUAL_BUDGET: Amount = { percent: 5 };
const ROUNDING = 1e-6;

/** Its requests are lost while its only task is updated, so that comes last, and it says nothing about how fast others go. */
const isAlone = ({ size }: LockstepUnit): boolean => size === 1;

const budgetOf = ({ size, budget }: LockstepUnit): number =>
  Math.max(1, Math.min(size - 1, budget ?? tasksOf(USUAL_BUDGET, size)));

/** How many tasks of a unit carry all of its traffic. */
const builtFor = (unit: LockstepUnit): number => unit.size - budgetOf(unit);

const judging = <S extends LockstepUnit>(units: readonly S[]): S[] => units.filter(({ size }) => size > 1);

/** The share of the traffic (0 to 1) that so many tasks of each unit carry. */
const carriedBy = (units: readonly LockstepUnit[], tasks: (unit: LockstepUnit) => number): number =>
  Math.min(1, ...judging(units).map((unit) => tasks(unit) / builtFor(unit)));

/** The least share that so many tasks on the version must get, since the other tasks cannot carry more than the rest. */
const neededBy = <S extends LockstepUnit>(units: readonly S[], tasks: (unit: S) => number): number =>
  Math.max(0, ...judging(units).map((unit) => (tasks(unit) - budgetOf(unit)) / builtFor(unit)));

/** How many tasks of a unit may be on the version, or on their way, while it gets a share of the traffic. */
const freedBy = (unit: LockstepUnit, share: number): number =>
  Math.floor(budgetOf(unit) + share * builtFor(unit) + ROUNDING);

/** Where a phase brings each unit: to its amount, but where rounding would bring a small unit further than the traffic can follow. */
function goalsOf(units: readonly LockstepUnit[], amount: PhaseAmount): ReadonlyMap<string, number> {
  const wanted = ({ size }: LockstepUnit): number => ('units' in amount ? size : tasksOf(amount, size));
  const share = carriedBy(units, wanted);
  const isAll = judging(units).every((unit) => wanted(unit) >= unit.size);
  const goal = (unit: LockstepUnit): number => {
    if (isAlone(unit)) return isAll ? 1 : 0;
    return Math.min(wanted(unit), freedBy(unit, share));
  };
  return new Map(units.map((unit) => [unit.id, goal(unit)]));
}

/** Up to the next ten-thousandth, but no more than there may be. */
function percentOf(share: number, most: number): number {
  const units = 1e6;
  const up = Math.ceil(share * units - ROUNDING);
  return Math.max(0, Math.min(up, Math.floor(most * units + ROUNDING))) / 1e4;
}
