import type { RequestOf } from '../protocol/common';
import type { PushTypeProtocol } from '../protocol/pushType';
import { busyWith, pendingSlots, progressOf, unitOf } from './choose';
import { newSlot, type Slot, type State, type UnitUpdate } from './memory';
import { passFence, refusal, refuseUnknown, refuseUpdate, supersede, type LockHeld } from './turns';

/** Units that are removed with all of their tasks, and brought back by a later update. */

/**
 * Accepts a removal: remembers that the tasks of these units are to be stopped for good; the caller stops them afterwards, as `beginStops` lists them.
 * All or nothing, and a known removal begins nothing again. Without units it does nothing.
 *
 * @throws ExtensionError 400: `invalid-request`; 404: `unknown-unit`; 409: `unit-busy`, `cancelled`, `fenced`
 */
export function acceptRemoval(
  { state }: { readonly state: State },
  { updateId, units }: RequestOf<PushTypeProtocol['removeUnits']>,
  held?: LockHeld,
): void {
  if (units.length === 0 || state.updates[updateId]) return;
  refuseUpdate(state, updateId, units);
  for (const unit of units) refuseRemoval(state, updateId, unit);
  passFence(state, held);
  const accepted = Object.fromEntries(units.map((unit) => [unit, acceptInUnit(state, updateId, unit)]));
  state.updates[updateId] = { updatedBy: [], exclude: [], removes: true, units: accepted };
}

/** Whether an update is a removal. */
export const isRemoval = (state: State, updateId: string): boolean => state.updates[updateId]?.removes === true;

/** Takes all tasks that a removal still has to stop, unless it is paused or over. @returns the indexes of their slots, to stop them now */
export function beginStops(state: State, unit: string, updateId: string): number[] {
  if (state.updates[updateId]?.units[unit]?.state !== 'active') return [];
  const { slots } = unitOf(state, unit);
  const pending = pendingSlots(state, unit, updateId);
  for (const slot of pending.map((index) => slots[index]))
    if (slot) Object.assign(slot, { state: 'updating', update: updateId });
  return pending;
}

/** Forgets the slots of the tasks that a removal took, which are stopped by now. The removal is done once none is left. */
export function endStops(state: State, unit: string, updateId: string): void {
  const { slots, starts } = unitOf(state, unit);
  slots.forEach((slot, index) => {
    if (slot.update !== updateId || slot.state !== 'updating') return;
    starts[index] = Math.max(starts[index] ?? 0, slot.start);
    Object.assign(slot, { state: 'down', gone: true } satisfies Partial<Slot>);
  });
  while (slots.at(-1)?.gone) slots.pop();
  const update = state.updates[updateId]?.units[unit];
  if (update?.state === 'active' && pendingSlots(state, unit, updateId).length === 0) update.state = 'done';
}

/** A unit as `fetchDeployUnits` lists it: a removed one has no tasks and no version. */
export function describeUnit(state: State, unit: string): { size: number; version: string | null; mixed: boolean } {
  const { slots, version, removed } = unitOf(state, unit);
  const there = slots.filter(({ gone }) => !gone);
  const versions = new Set(there.flatMap((slot) => (slot.version === '' ? [] : [slot.version])));
  return { size: there.length, version: removed && there.length === 0 ? null : version, mixed: versions.size > 1 };
}

/** Gives a removed unit its slots again, in which this update is to start tasks. The counts of its removals stay as they are. */
export function bringBack(state: State, name: string, id: string): void {
  const unit = unitOf(state, name);
  const { slots, removed } = unit;
  for (const [removal, { removes, units }] of Object.entries(state.updates)) {
    const update = units[name];
    if (removes && update) update.gone ??= progressOf(state, name, removal).gone;
  }
  for (let index = 0; index < Math.max(slots.length, removed?.size ?? 0); index += 1) {
    const slot = slots[index];
    const isStopping = slot?.state === 'updating' && isRemoval(state, slot.update ?? '');
    if (slot === undefined || slot.gone || isStopping) slots[index] = newSlot('', id);
  }
  delete unit.removed;
}

function refuseRemoval(state: State, updateId: string, unit: string): void {
  refuseUnknown(state, unit);
  const other = busyWith(state, updateId, { unit });
  if (other !== undefined) throw refusal('unit-busy', `${unit} is being updated by ${other}`);
}

function acceptInUnit(state: State, updateId: string, name: string): UnitUpdate {
  supersede(state, name, updateId);
  const unit = unitOf(state, name);
  const slots = unit.slots.flatMap(({ gone }, index) => (gone ? [] : [index]));
  unit.removed ??= { size: slots.length };
  return { version: '', slots, state: slots.length === 0 ? 'done' : 'active' };
}
