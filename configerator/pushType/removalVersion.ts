import type { UnitProgress } from '../../domain/fleet/unit';
import type { Slot } from '../../sdk/updates/memory';

/** The version of a removal, in which no path has a value, and the units that have it. */

const REMOVAL = 'removed@';

export const toRemovalVersion = (updateId: string): string => `${REMOVAL}${updateId}`;

export const isRemovalVersion = (version: string): boolean => version.startsWith(REMOVAL);

/** Whether a unit has been removed, or is being removed. */
export const isRemoved = ({ version, slots }: { readonly version: string; readonly slots: readonly Slot[] }): boolean =>
  isRemovalVersion(version) && slots.every((slot) => slot.gone || slot.version === version);

/** The hosts of a unit that count as its tasks: those of a removed one only as long as they have a value. */
export function countHosts(unit: { readonly version: string; readonly slots: readonly Slot[] }): number {
  const there = unit.slots.filter(({ gone }) => !gone);
  return isRemoved(unit) ? there.filter(({ state }) => state !== 'live').length : there.length;
}

/** In the progress of a removal, a host without the values is one that is gone. */
export function toDeletionProgress<P extends UnitProgress>(version: string | undefined, progress: P): P {
  if (version === undefined || !isRemovalVersion(version)) return progress;
  const { state, targeted, live } = progress;
  const gone = state === 'done' ? targeted : Math.min(targeted, progress.gone + live);
  return { ...progress, updated: 0, live: 0, failed: 0, gone };
}
