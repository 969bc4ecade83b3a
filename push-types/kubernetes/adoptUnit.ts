import { syncPods } from './podSlots';
import { restoreUpdates } from './restoreUpdates';
import { beginRestored, type UnitRound } from './round';
import { adoptTemplate, readUnitVersion } from './unitMoves';

/** Brings the memory up to date with the objects. A unit that it does not know is restored from the records on them. */
export function adoptUnit(round: UnitRound): void {
  const { state, name, unit, look, now } = round;
  const isNew = state.units[name] === undefined;
  if (isNew) {
    const { version, update } = readUnitVersion(look.workload, unit.container);
    state.units[name] = { version, update, starts: [], slots: [] };
  }
  adoptTemplate(state, name, look.workload, unit.container);
  syncPods(state, name, look.pods, { unit, now, size: look.workload.size });
  if (!isNew) return;
  restoreUpdates(state, name, look.pods);
  beginRestored(round);
}
