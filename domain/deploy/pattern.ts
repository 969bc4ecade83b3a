import type { Unit } from '../fleet/unit';
import { countPlannedTasks, pickPhaseUnits, type DeployPlan, type PhasePlan } from './plan';
import { sum } from '../health/series';

/** The deployment patterns of Conveyor §6.5.2, in the order in which they take precedence. */
export const PATTERNS = ['single parallel', 'single', 'region-by-region', 'linear', 'super-linear', 'misc'] as const;
export type Pattern = (typeof PATTERNS)[number];

/**
 * The usual pattern that a plan follows: everything at once (in parallel, if that is several units), a whole region at a time, or
 * shares of the fleet that grow by equal or by increasing amounts. A phase that reaches nothing new, as is often true of the
 * completion, is not a step.
 */
export function classifyPattern(plan: DeployPlan, units: readonly Unit[]): Pattern {
  const steps = patternSteps(plan, units).filter(({ reached }) => reached.length > 0);
  const [only] = steps;
  if (only === undefined || steps.length === 1) return (only?.reached.length ?? 0) > 1 ? 'single parallel' : 'single';
  if (isByRegion(steps, units)) return 'region-by-region';
  const shares = steps.map(({ share }) => share);
  if (Math.max(...shares) - Math.min(...shares) <= (TOLERANCE * sum(shares)) / shares.length) return 'linear';
  const grows = shares.every((share, index) => index === 0 || share > (shares[index - 1] ?? 0));
  return grows ? 'super-linear' : 'misc';
}

/** The share of the fleet's tasks that is on the version after each phase, from 0 to 1. */
export function cumulativeShares(plan: DeployPlan, units: readonly Unit[]): number[] {
  const total = sum(units.map(({ size }) => size));
  const reached = new Map<string, number>();
  return plan.phases.map((phase) => {
    for (const unit of pickPhaseUnits(phase, units))
      reached.set(unit.id, Math.max(reached.get(unit.id) ?? 0, countPlannedTasks(phase, unit)));
    return total === 0 ? 1 : sum([...reached.values()]) / total;
  });
}

/** The units in which each phase updates tasks that no phase before it did; none if its tasks are already current. */
export function findReachedUnits(plan: DeployPlan, units: readonly Unit[]): (readonly Unit[])[] {
  return patternSteps(plan, units).map(({ reached }) => reached);
}

/** Shares are of the fleet, as written: rounding to whole tasks of small units would hide the intent. */
interface Step {
  readonly reached: readonly Unit[];
  readonly share: number;
  /** Units that it began and finished. */
  readonly whole: number;
}

function patternSteps(plan: DeployPlan, units: readonly Unit[]): Step[] {
  const total = sum(units.map(({ size }) => size));
  const tasks = new Map<string, number>();
  const written = new Map<string, number>();
  return plan.phases.map((phase) => {
    const reached = pickPhaseUnits(phase, units).filter(
      (unit) => countPlannedTasks(phase, unit) > (tasks.get(unit.id) ?? 0),
    );
    const whole = reached.filter((unit) => !tasks.has(unit.id) && countPlannedTasks(phase, unit) === unit.size).length;
    const grown = reached.map((unit) => {
      const [before, after] = [written.get(unit.id) ?? 0, countWrittenTasks(phase, unit)];
      tasks.set(unit.id, countPlannedTasks(phase, unit));
      written.set(unit.id, Math.max(before, after));
      return Math.max(0, after - before);
    });
    return { reached, whole, share: sum(grown) / total };
  });
}

const countWrittenTasks = (phase: PhasePlan, unit: Unit): number =>
  'percent' in phase.amount ? (phase.amount.percent * unit.size) / 100 : countPlannedTasks(phase, unit);

/** Steps that differ by this share of their mean count as equal: thirds are 33%, 33% and 34%. */
const TOLERANCE = 0.2;

/** Each step is exactly one region. */
const isByRegion = (steps: readonly Step[], units: readonly Unit[]): boolean =>
  steps.every(({ reached, whole }) => {
    const region = reached[0]?.labels['region'];
    const there = units.filter(({ labels, size }) => labels['region'] === region && size > 0);
    return (
      region !== undefined &&
      whole === reached.length &&
      reached.length === there.length &&
      reached.every(({ labels }) => labels['region'] === region)
    );
  });
