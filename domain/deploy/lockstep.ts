import type { Amount } from '../fleet/amount';
import type { Unit, UnitProgress } from '../fleet/unit';
import { plannedTasks, type PhasePlan } from './plan';
import { judgeProgress, type Progress } from './progress';

/** In lockstep the criterion holds for each unit by itself: none goes further before all have come as far. */
export function judgeEach(units: readonly UnitProgress[], success: Amount): Progress {
  const judged = units.map((unit) => judgeProgress([unit], success));
  const ended = judged.find(({ kind }) => kind === 'not-live') ?? judged.find(({ kind }) => kind === 'stuck');
  return ended ?? judged.find(({ kind }) => kind === 'going') ?? { kind: 'met' };
}

/** How much of the traffic the new version gets once a phase is updated: what every unit has tasks for, in percent, rounded down. */
export function trafficOf(phase: Pick<PhasePlan, 'amount'>, units: readonly Unit[]): number {
  const { amount } = phase;
  if ('percent' in amount) return amount.percent;
  const shares = units.filter(({ size }) => size > 0).map((unit) => plannedTasks(phase, unit) / unit.size);
  return Math.floor(100 * Math.min(1, ...shares));
}
