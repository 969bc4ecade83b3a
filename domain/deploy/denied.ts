import type { Amount } from '../fleet/amount';
import type { UnitProgress } from '../fleet/unit';
import { plural } from '../text';
import { judgeEach } from './lockstep';
import { judgeProgress, missingOf, type Progress, type Unreachable } from './progress';

/** What a push type says of an update, held against what it counts as outdated: what it brings is not believed by its progress alone. */

/** When an update has brought what it is to bring. */
interface Criterion {
  readonly success: Amount;
  /** Lockstep: each unit has to meet it. */
  readonly each?: boolean;
  readonly unreachable?: Unreachable;
}

/** How far a unit is from what it is to have, as `needsPush` says. */
export interface UnitOutdated {
  readonly id: string;
  readonly outdated: number;
  readonly down?: number | undefined;
}

/** Tasks that are outdated, of those that an update has brought to their version as far as its progress says. */
export function deniedOf(units: readonly UnitProgress[], needs: readonly UnitOutdated[]): number {
  const missing = new Map(units.map((unit) => [unit.id, missingOf(unit)]));
  return needs.reduce((sum, { id, outdated }) => sum + Math.max(0, outdated - (missing.get(id) ?? outdated)), 0);
}

/**
 * The same of an update that was seen under way and meets its criterion; 0 where it does so also without these tasks. Those that have left
 * their old version and are down came and went meanwhile: they deny nothing.
 */
export function deniedUnderWay(
  units: readonly UnitProgress[],
  needs: readonly UnitOutdated[],
  { success, each, unreachable }: Criterion,
): number {
  const old = new Map(needs.map(({ id, outdated, down = 0 }) => [id, Math.max(0, outdated - down)]));
  const deniedIn = (unit: UnitProgress): number => Math.max(0, (old.get(unit.id) ?? 0) - missingOf(unit));
  const honest = units.map((unit) => {
    const denied = deniedIn(unit);
    if (denied === 0) return unit;
    const targeted = Math.max(unit.targeted, unit.gone + (old.get(unit.id) ?? 0));
    return { ...unit, targeted, live: Math.max(0, unit.live - denied) };
  });
  const isMet = (each ? judgeEach : judgeProgress)(honest, success, unreachable).kind === 'met';
  return isMet ? 0 : units.reduce((sum, unit) => sum + deniedIn(unit), 0);
}

/** Its own push type denies what an update has come to. */
export const judgeDenied = (updateIds: readonly string[], tasks: number, wasUnderWay: boolean): Progress => ({
  kind: 'stuck',
  denied: true,
  reason: `${updateIds.join(', ')} counts as done, but ${plural(tasks, 'task')} of it as outdated: others have come, or the push type ${wasUnderWay ? 'has not done what it says' : 'knows that id from a release that a restore has lost'}`,
});
