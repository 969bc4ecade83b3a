import type { Unit } from '../fleet/unit';

/** The rules of a revert, in addition to the units. */
export interface RevertRules {
  readonly lastGood: string | null;
  /** The version to remove. */
  readonly deployed: string;
}

/**
 * The version to which a unit goes back: its version before. If it ran several, or none, the last good version of this action, unless
 * that is the version to remove. Null if unknown.
 */
export const versionBefore = (unit: Unit, { lastGood, deployed }: RevertRules): string | null =>
  (unit.mixed ? null : unit.version) ?? (lastGood === deployed ? null : lastGood);

/** The one version that units run; null if they run several, or none. */
export function versionOfAll(units: readonly Unit[]): string | null {
  const [version = null, ...others] = new Set(units.map((unit) => (unit.mixed ? null : unit.version)));
  return others.length === 0 ? version : null;
}
