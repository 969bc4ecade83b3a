import type { Unit } from '../fleet/unit';
import { plannedTasks, unitsOf, type DeployPlan } from './plan';

/** The deployment patterns of Conveyor §6.5.2, in the order in which they take precedence. */
export type Pattern = 'single parallel' | 'single' | 'region-by-region' | 'linear' | 'super-linear' | 'misc';

/**
 * Which of the usual ways of deploying a plan is: everything at once, a whole region at a time, or shares of the fleet
 * that grow by the same amount or faster. The completion phase counts only where it still updates something.
 */
export function patternOf(plan: DeployPlan, units: readonly Unit[], mode: 'sequential' | 'parallel'): Pattern {
  const shares = cumulativeShares(plan, units);
  const steps = shares.map((share, index) => share - (shares[index - 1] ?? 0)).filter((step) => step > 1e-9);
  if (steps.length <= 1) return mode === 'parallel' ? 'single parallel' : 'single';
  if (isByRegion(plan)) return 'region-by-region';
  const growth = steps.slice(1).map((step, index) => step - (steps[index] ?? 0));
  if (growth.every((more) => Math.abs(more) < TOLERANCE)) return 'linear';
  return growth.every((more) => more > 0) ? 'super-linear' : 'misc';
}

/** How much of the fleet's tasks is on the version after each phase, from 0 to 1. */
export function cumulativeShares(plan: DeployPlan, units: readonly Unit[]): number[] {
  const total = units.reduce((sum, unit) => sum + unit.size, 0);
  const reached = new Map<string, number>();
  return plan.phases.map((phase) => {
    for (const unit of unitsOf(phase, units))
      reached.set(unit.id, Math.max(reached.get(unit.id) ?? 0, plannedTasks(phase, unit)));
    return total === 0 ? 1 : [...reached.values()].reduce((sum, tasks) => sum + tasks, 0) / total;
  });
}

/** Steps that differ by rounding to whole tasks still count as equal. */
const TOLERANCE = 0.02;

const isByRegion = (plan: DeployPlan): boolean => {
  const written = plan.phases.filter(({ kind }) => kind === 'partial');
  return written.length > 0 && written.every(({ scope, amount }) => scope.startsWith('region:') && 'all' in amount);
};
