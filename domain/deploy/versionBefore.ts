import type { Unit } from '../fleet/unit';

/** What a revert goes by, besides the units. */
export interface RevertRules {
  readonly lastGood: string | null;
  /** What is to be got rid of. */
  readonly deployed: string;
}

/**
 * What a unit goes back to: its version before; when it ran several, or none, the last good one of this action, unless that is
 * the one to get rid of. Null: nobody knows.
 */
export const versionBefore = (unit: Unit, { lastGood, deployed }: RevertRules): string | null =>
  (unit.mixed ? null : unit.version) ?? (lastGood === deployed ? null : lastGood);

/** The one version that units run; null where they run several, or none. */
export function versionOfAll(units: readonly Unit[]): string | null {
  const [version = null, ...others] = new Set(units.map((unit) => (unit.mixed ? null : unit.version)));
  return others.length === 0 ? version : null;
}
