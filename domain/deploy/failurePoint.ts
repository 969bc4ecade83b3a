import type { DeployRecord } from './state';

/**
 * The progress of a deploy that did not succeed (Conveyor §6.4, Figure 9): of the tasks that all phases were to update, the share
 * up to the end of the phase in which it ended, from 0 to 1. Null if the share has no meaning: fewer than two phases of the plan
 * update anything, or no phase had begun.
 */
export function failurePoint({ fleet, cursor }: Pick<DeployRecord, 'fleet' | 'cursor'>): number | null {
  if (fleet === null || cursor < 0) return null;
  const { shares } = fleet;
  const steps = shares.filter((share, index) => share > (shares[index - 1] ?? 0));
  if (steps.length < 2) return null;
  return Math.round((shares[cursor] ?? 1) * 1000) / 1000;
}
