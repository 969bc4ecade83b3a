import type { Amount } from '../fleet/amount';
import type { UnitProgress } from '../fleet/unit';
import { plural } from '../text';
import { judgeEach } from './lockstep';
import { judgeProgress, countMissingTasks, type Progress, type Unreachable } from './progress';

/** Compares the progress that a push type reports for an update with its count of outdated tasks: the progress alone is not believed. */

/** The condition under which an update has brought its version. */
interface Criterion {
  readonly success: Amount;
  /** Lockstep: each unit has to meet it. */
  readonly each?: boolean;
  readonly unreachable?: Unreachable;
}

/** The distance of a unit from its wanted version, according to `needsPush`. */
export interface OutdatedUnit {
  readonly id: string;
  readonly outdated: number;
  readonly down?: number | undefined;
}

/**
 * The number of tasks that an update has brought to their version according to its progress, but that count as
 * outdated.
 */
export function countDenied(units: readonly UnitProgress[], needs: readonly OutdatedUnit[]): number {
  const missing = new Map(units.map((unit) => [unit.id, countMissingTasks(unit)]));
  return needs.reduce((sum, { id, outdated }) => sum + Math.max(0, outdated - (missing.get(id) ?? outdated)), 0);
}

/**
 * The same number for an update that was seen running and meets its criterion; 0 if it meets the criterion even without these tasks. Tasks that
 * have left their old version and are down were restarted meanwhile, and do not count.
 */
export function countDeniedUnderWay(
  units: readonly UnitProgress[],
  needs: readonly OutdatedUnit[],
  { success, each, unreachable }: Criterion,
): number {
  const old = new Map(needs.map(({ id, outdated, down = 0 }) => [id, Math.max(0, outdated - down)]));
  const deniedIn = (unit: UnitProgress): number => Math.max(0, (old.get(unit.id) ?? 0) - countMissingTasks(unit));
  const honest = units.map((unit) => {
    const denied = deniedIn(unit);
    if (denied === 0) return unit;
    const targeted = Math.max(unit.targeted, unit.gone + (old.get(unit.id) ?? 0));
    return { ...unit, targeted, live: Math.max(0, unit.live - denied) };
  });
  const isMet = (each ? judgeEach : judgeProgress)(honest, success, unreachable).kind === 'met';
  return isMet ? 0 : units.reduce((sum, unit) => sum + deniedIn(unit), 0);
}

/** The result of an update whose own push type contradicts it. */
export const judgeDenied = (updateIds: readonly string[], tasks: number, wasUnderWay: boolean): Progress => ({
  kind: 'stuck',
  denied: true,
  reason: `${updateIds.join(', ')} counts as done, but ${plural(tasks, 'task')} of it as outdated: others have come, or the push type ${wasUnderWay ? 'has not done what it says' : 'knows that id from a release that a restore has lost'}`,
});
