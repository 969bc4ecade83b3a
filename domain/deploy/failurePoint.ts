import type { DeployRecord } from './state';

/**
 * How far a deploy that did not succeed had got (Conveyor §6.4, Figure 9): of the tasks that all phases were to update, the
 * share of those until the end of the phase in which it ended, from 0 to 1. Null where that says nothing: a plan of a
 * single phase that updates anything, or none that had begun.
 */
export function failurePoint({ fleet, cursor }: Pick<DeployRecord, 'fleet' | 'cursor'>): number | null {
  if (fleet === null || cursor < 0) return null;
  const { shares } = fleet;
  const steps = shares.filter((share, index) => share > (shares[index - 1] ?? 0));
  if (steps.length < 2) return null;
  return Math.round((shares[cursor] ?? 1) * 1000) / 1000;
}
