import type { Unit } from '../fleet/unit';
import { cumulativeShares } from './pattern';
import type { DeployPlan } from './plan';

/**
 * How far a deploy that did not succeed had got (Conveyor §6.4, Figure 9): of the tasks that all phases were to update, the
 * share of those until the end of the phase in which it ended, from 0 to 1. Null where that says nothing: a plan of a
 * single phase that updates anything, or none that had begun.
 */
export function failurePoint({
  plan,
  snapshot,
  cursor,
}: {
  plan: DeployPlan | null;
  snapshot: readonly Unit[];
  cursor: number;
}): number | null {
  if (plan === null || cursor < 0) return null;
  const shares = cumulativeShares(plan, snapshot);
  const steps = shares.filter((share, index) => share > (shares[index - 1] ?? 0));
  if (steps.length < 2) return null;
  return Math.round((shares[cursor] ?? 1) * 1000) / 1000;
}
