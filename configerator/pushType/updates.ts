import { deployOf, pendingSlots, withReverts } from '../../sdk/updates/choose';
import type { ConfigServiceState } from './serviceState';
import { isRemovalVersion } from './removalVersion';
import { findSlotRefusal } from './subscribers';

/**
 * The progress of a unit's updates: which slots have their version, which hosts refuse it, and which updates are
 * complete.
 */

/** A unit gets a version in this many batches, so that a refused value does not reach a whole phase. */
const BATCHES = 4;

/** Gives the next slots of each update its version: one batch at a time, but all at once for a revert or a landing. */
export function begin(served: ConfigServiceState, unit: string): void {
  const { state } = served;
  const it = served.unit(unit);
  const there = it.slots.filter(({ gone }) => !gone).length;
  for (const id of served.activeIn(unit)) {
    const update = state.updates[id];
    const version = update?.units[unit]?.version;
    if (update === undefined || version === undefined) continue;
    const pending = pendingSlots(state, unit, id).flatMap((index) => it.slots[index] ?? []);
    const inFlight = pending.filter((slot) => slot.update === id && slot.version === version).length;
    const isFast = update.updatedBy.length > 0 || it.update === id;
    const most = isFast ? Infinity : Math.ceil(there / BATCHES) - inFlight;
    const next = pending.filter((slot) => slot.update !== id || slot.version !== version).slice(0, Math.max(0, most));
    for (const slot of next) Object.assign(slot, { version, update: id, state: 'updating' });
  }
}

/** Fails an update if one of its hosts refuses the version. */
export function failRefused(served: ConfigServiceState, unit: string): void {
  const { slots } = served.unit(unit);
  for (const id of served.activeIn(unit)) {
    const index = slots.findIndex((slot) => slot.update === id && slot.state === 'down' && !slot.gone);
    const slot = slots[index];
    if (slot === undefined) continue;
    const why = findSlotRefusal(served.service, slot, served.subscriberOf(unit, index));
    if (why === undefined) continue;
    served.fail(unit, `${served.hostOf(unit, index)} refuses ${slot.version}: ${why}`.slice(0, 500), [id]);
  }
}

/** Units that appeared after an update got its version from it, and are reverted with its own units. */
export function takeAlong(served: ConfigServiceState, id: string): void {
  const { state } = served;
  const { updatedBy = [], units = {} } = state.updates[id] ?? {};
  const [version, ...others] = [...new Set(Object.values(units).map((unit) => unit.version))];
  if (updatedBy.length === 0 || version === undefined || others.length > 0) return;
  const undone = withReverts(state, updatedBy);
  const named = Object.entries(state.updates)
    .filter(([other]) => undone.has(other) || deployOf(other) === deployOf(id))
    .flatMap(([, update]) => Object.keys(update.units));
  for (const unit of served.units.filter((one) => !named.includes(one)).map((one) => served.unit(one))) {
    if (undone.has(unit.update ?? '')) Object.assign(unit, { version, update: id });
    for (const slot of unit.slots)
      if (undone.has(slot.update ?? '')) Object.assign(slot, { version, update: id, state: 'updating' });
  }
}

/**
 * An update of the whole unit is complete once its version is committed, if all units are to get it. No update
 * completes while another version may land.
 */
export function finishUpdates(served: ConfigServiceState, unit: string): void {
  const { state, service } = served;
  for (const id of served.activeIn(unit)) {
    const update = state.updates[id]?.units[unit];
    if (update === undefined) continue;
    // A removal of some units of a service does not land.
    const isBinding = isRemovalVersion(update.version)
      ? served.bound?.version === update.version
      : served.unit(unit).update === id;
    const isLanding = isBinding && service.committed !== update.version;
    if (!isLanding && !served.mayLandOther(update.version) && pendingSlots(state, unit, id).length === 0)
      update.state = 'done';
  }
}
