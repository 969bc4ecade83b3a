import { deployOf, pendingSlots, withReverts } from '../../sdk/updates/choose';
import type { Served } from './served';
import { refusalOf } from './subscribers';

/** How far the updates of a unit are: which slots have their version, who refuses it, and what is through. */

/** So much of a unit gets a version at a time: a value that hosts refuse does not reach all of a phase. */
const BATCHES = 4;

/** The next slots of each update get its version: a part of the unit at a time, but for what goes back or lands. */
export function begin(served: Served, unit: string): void {
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

/** An update one of whose hosts refuses its version has failed. */
export function failRefused(served: Served, unit: string): void {
  const { slots } = served.unit(unit);
  for (const id of served.activeIn(unit)) {
    const index = slots.findIndex((slot) => slot.update === id && slot.state === 'down' && !slot.gone);
    const slot = slots[index];
    if (slot === undefined) continue;
    const why = refusalOf(served.service, slot, served.subscriberOf(unit, index));
    if (why === undefined) continue;
    served.fail(unit, `${served.hostOf(unit, index)} refuses ${slot.version}: ${why}`.slice(0, 500), [id]);
  }
}

/** Units that came after an update have its version from it, and go back with those that it meant. */
export function takeAlong(served: Served, id: string): void {
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

/** What is for the whole unit is through once it is committed, if all units are to be on it. Nothing is while another version may land. */
export function finishUpdates(served: Served, unit: string): void {
  const { state, service } = served;
  for (const id of served.activeIn(unit)) {
    const update = state.updates[id]?.units[unit];
    if (update === undefined) continue;
    const isLanding = served.unit(unit).update === id && service.committed !== update.version;
    if (!isLanding && !served.mayLandOther(update.version) && pendingSlots(state, unit, id).length === 0)
      update.state = 'done';
  }
}
