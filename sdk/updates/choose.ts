import { tasksOf } from '../../domain/fleet/amount';
import type { Target } from '../protocol/pushType';
import { newSlot, type Slot, type State, type UnitState, type UnitUpdate } from './memory';

/** Which tasks an update means: decisions about the state, without effects. */

/**
 * The slots that a target must bring to its version: those that are not live on it, the cheapest first, as many as it lacks; among slots of the same cost
 * those with the lowest `rank`. For all tasks of a removed unit these are the slots that an update would make.
 */
export function slotsOf(
  state: State,
  { unit, version, amount, updatedBy, exclude = [] }: Target,
  isConcerned: (index: number) => boolean = () => true,
  rank: (index: number) => number = (index) => index,
): number[] {
  const { slots, version: own } = withSlotsBack(unitOf(state, unit), { amount, updatedBy });
  const outdated = (slot: Slot): boolean => slot.version !== version || slot.state !== 'live';
  const all = slots.map((slot, index) => ({ slot, index })).filter(({ slot }) => !slot.gone);
  if (updatedBy) {
    const undone = withReverts(state, updatedBy);
    const meant = all.filter(({ slot }) => undone.has(slot.update ?? '') && outdated(slot));
    return takeFirst(meant, amount, version).map(({ index }) => index);
  }
  const reserved = reservedSlots(state, unit, exclude);
  const free = all.filter(({ slot, index }) => !reserved(slot, index));
  const lacking = free.filter(({ slot }) => outdated(slot));
  const missing = tasksOf(amount ?? { all: true }, all.length) - (free.length - lacking.length);
  const cost = ({ slot, index }: { slot: Slot; index: number }): number => {
    if (slot.version === version && slot.state === 'updating') return 0; // on its way already
    if (slot.isUnreachable) return 5; // it changes once its machine answers
    if (!isConcerned(index)) return 4; // if the version makes no difference, nothing can be learnt from it
    if (slot.state === 'down') return 1; // it serves no requests
    return slot.version === own ? 2 : 3; // slots that another deploy brought to another version come last
  };
  return lacking
    .sort((one, other) => cost(one) - cost(other) || rank(one.index) - rank(other.index) || one.index - other.index)
    .slice(0, Math.max(0, missing))
    .map(({ index }) => index);
}

/** The tasks of a revert with an amount, which is the most that it takes: those on their way first, then those that are down. */
function takeFirst<T extends { readonly slot: Slot }>(
  meant: readonly T[],
  amount: Target['amount'],
  version: string,
): readonly T[] {
  if (amount === undefined || 'all' in amount) return meant;
  const cost = ({ slot }: T): number => {
    if (slot.state === 'updating' && slot.version === version) return 0;
    return slot.state === 'down' ? 1 : 2;
  };
  return [...meant].sort((one, other) => cost(one) - cost(other)).slice(0, tasksOf(amount, meant.length));
}

/** The unit as an update of all tasks finds it: with those that a removal has taken. */
function withSlotsBack(unit: UnitState, target: Pick<Target, 'amount' | 'updatedBy'>): UnitState {
  if (unit.removed === undefined || !isOfAll(target)) return unit;
  const { slots, removed } = unit;
  const length = Math.max(slots.length, removed.size);
  const back = Array.from({ length }, (_, index) => {
    const slot = slots[index];
    return slot === undefined || slot.gone ? newSlot('') : slot;
  });
  return { ...unit, slots: back };
}

/** Whether an update is of all tasks of its unit. */
export const isOfAll = ({ amount, updatedBy }: Pick<Target, 'amount' | 'updatedBy'>): boolean =>
  updatedBy === undefined && (amount === undefined || 'all' in amount);

/** Slots that excluded updates touched or are about to touch: they do not count, and are not taken. */
export function reservedSlots(state: State, unit: string, exclude: readonly string[]) {
  const ids = withReverts(state, exclude);
  const chosen = [...ids].flatMap((id) => {
    const update = state.updates[id]?.units[unit];
    return update && isUnfinished(update.state) ? update.slots : [];
  });
  return (slot: Slot, index: number): boolean => ids.has(slot.update ?? '') || chosen.includes(index);
}

/** These updates and every revert of any of them: a second try must find the slots that the first one left. */
export function withReverts(state: State, ids: readonly string[]): ReadonlySet<string> {
  const found = new Set(ids);
  for (const [id, { updatedBy }] of Object.entries(state.updates))
    if (updatedBy.some((undone) => found.has(undone))) found.add(id);
  return found;
}

/** The unfinished update of another deploy that keeps a target off its unit, unless one of them excludes the other. */
export function busyWith(
  state: State,
  id: string,
  { unit, exclude = [], updatedBy = [] }: Pick<Target, 'unit' | 'exclude' | 'updatedBy'>,
): string | undefined {
  const excluded = withReverts(state, exclude);
  return unfinished(state, unit).find((other) => {
    const theirs = withReverts(state, state.updates[other]?.exclude ?? []);
    const keepsOff = excluded.has(other) || (updatedBy.length > 0 && updatedBy.every((undone) => theirs.has(undone)));
    return deployOf(other) !== deployOf(id) && !keepsOff;
  });
}

/** The updates of a unit that have not ended. */
export const unfinished = (state: State, unit: string): string[] =>
  Object.keys(state.updates).filter((id) => isUnfinished(state.updates[id]?.units[unit]?.state));

/** An update id is `<deploy>/<phase>/<try>`. */
export const deployOf = (updateId: string): string => updateId.split('/').slice(0, -2).join('/');

/** The slots of a unit that an update still has to bring to its version; of a removal, those whose tasks it still has to stop. */
export function pendingSlots(state: State, unit: string, updateId: string): number[] {
  const update = state.updates[updateId]?.units[unit];
  const { slots } = unitOf(state, unit);
  return (update?.slots ?? []).filter((index) => {
    const slot = slots[index];
    return slot !== undefined && !slot.gone && (slot.version !== update?.version || slot.state !== 'live');
  });
}

/** The state of one unit in the answer of `trackUpdates`. */
export function progressOf(state: State, unit: string, updateId: string) {
  const update = state.updates[updateId]?.units[unit];
  if (update === undefined) throw new Error(`${updateId} does not concern ${unit}`);
  if (state.updates[updateId]?.removes) return removalProgress(state, unit, updateId, update);
  const chosen = update.slots.map((index) => unitOf(state, unit).slots[index]);
  const there = chosen.filter((slot): slot is Slot => slot !== undefined && !slot.gone);
  const count = (holds: (slot: Slot) => boolean): number => there.filter(holds).length;
  const onVersion = (slot: Slot): boolean =>
    slot.version === update.version && slot.state !== 'updating' && !slot.isUnreachable;
  const inFlight = count((slot) => slot.update === updateId && slot.state === 'updating') > 0;
  const touched = count((slot) => slot.update === updateId) > 0;
  const words = { active: touched ? 'updating' : 'pending', ended: inFlight ? 'updating' : 'failed' } as const;
  return {
    id: unit,
    state: update.state === 'active' || update.state === 'ended' ? words[update.state] : update.state,
    targeted: chosen.length,
    updated: count(onVersion),
    live: count((slot) => onVersion(slot) && slot.state === 'live'),
    failed: count((slot) => onVersion(slot) && slot.state === 'down'),
    unreachable: count(({ isUnreachable }) => isUnreachable === true),
    gone: chosen.length - there.length,
    ...(update.reason !== undefined && { reason: update.reason }),
  };
}

function removalProgress({ units }: State, unit: string, updateId: string, update: UnitUpdate) {
  const slots = units[unit]?.slots ?? [];
  const there = update.slots.flatMap((index) => slots[index] ?? []).filter((slot) => !slot.gone);
  const isStopping = there.some((slot) => slot.update === updateId && slot.state === 'updating');
  const targeted = update.slots.length;
  const gone = update.gone ?? targeted - there.length;
  const words = {
    active: isStopping || gone > 0 ? 'updating' : 'pending',
    ended: isStopping ? 'updating' : 'failed',
  } as const;
  return {
    id: unit,
    state: update.state === 'active' || update.state === 'ended' ? words[update.state] : update.state,
    ...{ targeted, updated: 0, live: 0, failed: 0, gone },
    unreachable: there.filter(({ isUnreachable }) => isUnreachable).length,
    ...(update.reason !== undefined && { reason: update.reason }),
  };
}

const isUnfinished = (state: string | undefined): boolean => state === 'active' || state === 'paused';

/** The remembered unit and its slots. @throws Error for a unit that the memory lacks; refuse unknown units from outside before */
export function unitOf(state: State, unit: string): UnitState {
  const found = state.units[unit];
  if (found === undefined) throw new Error(`there is no unit ${unit}`);
  return found;
}
