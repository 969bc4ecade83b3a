import { backOff } from '../../domain/backoff';
import { pendingSlots, unfinished, unitOf } from './choose';
import type { Slot, State, UnitState } from './memory';
import { isRemoval } from './removals';

/** The next changes of a unit: decisions of a push type that brings its fleet to the desired state round by round. */

/** A slot that is to be started on a version. */
export interface Change {
  readonly slot: Slot;
  readonly index: number;
  /** The update that causes it; a task that is down by itself is started again without one. */
  readonly update?: { readonly id: string; readonly version: string };
}

/** How many tasks of a unit may change together. */
export interface Pace {
  readonly atOnce: number;
  /** The most tasks that may be out of service, for any reason. Default `atOnce`. */
  readonly mostOut?: number;
  /** Tasks that run, and that others took out of service. */
  readonly isOut?: (index: number) => boolean;
  /** Slots that are down for their version while their task still serves another one, such as after an outage of the network: they cost as much as live ones. */
  readonly isServing?: (index: number) => boolean;
  /** ms since the epoch. */
  readonly now: number;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const PAST_STARTS = 20;

/**
 * A task that is down costs nothing to restart; of those that serve only as many are taken as may be down together. Updates come first; tasks that
 * serve another version than their slot has wait for them.
 */
export function nextChanges(state: State, name: string, pace: Pace): Change[] {
  const { slots } = unitOf(state, name);
  const { isServing = () => false } = pace;
  const wanted = listWantedChanges(state, name);
  const supervised = slots.flatMap((slot, index) => {
    const isDue = slot.state === 'down' && slot.version !== '' && isRetryDue(slot, pace.now) && canStart(slot);
    return isDue && !isRemoval(state, slot.update ?? '') && !wanted.some((change) => change.index === index)
      ? [{ slot, index }]
      : [];
  });
  const costs = ({ slot, index }: Change): boolean =>
    slot.state === 'live' || (slot.state === 'down' && isServing(index));
  const down = wanted.filter((change) => change.slot.state === 'down' && !costs(change));
  const serving = [...wanted, ...supervised].filter(costs).slice(0, countRoom(slots, pace));
  return [...[...down, ...serving].slice(0, pace.atOnce), ...supervised.filter((change) => !costs(change))];
}

/** How many more live tasks may be taken out of service. */
export function countRoom(slots: readonly Slot[], { atOnce, mostOut = atOnce, ...pace }: Pace): number {
  return Math.max(0, mostOut - listOutOfService(slots, pace).length);
}

/** The indexes of the tasks that are out of service, for any reason. */
export function listOutOfService(
  slots: readonly Slot[],
  { isOut = () => false, isServing = () => false }: Pick<Pace, 'isOut' | 'isServing'>,
): number[] {
  const serves = ({ state, isUnreachable }: Slot, index: number): boolean =>
    state === 'live' || (state === 'down' && !isUnreachable && isServing(index));
  return slots.flatMap((slot, index) => (!slot.gone && (!serves(slot, index) || isOut(index)) ? [index] : []));
}

/** The next start of a slot, under a number that no start ever had, even if the unit was smaller for a while. */
export function beginChange(unit: UnitState, { slot, index, update }: Change, now: number): void {
  countStart(unit, index, now);
  slot.state = 'updating';
  if (update) [slot.update, slot.version] = [update.id, update.version];
}

/** A slot has another task from now on. */
export function countStart(unit: UnitState, index: number, now: number): void {
  const slot = unit.slots[index];
  if (slot === undefined) return;
  if (slot.start > 0) {
    const { start, update, task } = slot;
    const past = { start, update, from: slot.startedAt, to: now, ...(task !== undefined && { task }) };
    slot.past = [past, ...slot.past.slice(0, PAST_STARTS - 1)];
  }
  slot.start = unit.starts[index] = (unit.starts[index] ?? 0) + 1;
  slot.startedAt = now;
}

/** The result of a start. A task that does not come up fails its update in this unit. */
export function endChange(
  state: State,
  name: string,
  { slot, update }: Change,
  trouble: string | undefined,
  now: number,
): void {
  slot.state = trouble === undefined ? 'live' : 'down';
  slot.failures = trouble === undefined ? 0 : slot.failures + 1;
  slot.retryAt = now + backOff(FIRST_RETRY_MS, slot.failures + 1, LONGEST_RETRY_MS);
  const concerned = update && state.updates[update.id]?.units[name];
  if (trouble === undefined || !concerned || !unfinished(state, name).includes(update.id)) return;
  concerned.state = 'failed';
  concerned.reason = trouble;
}

/**
 * An update is done once nothing is pending. Tasks on unreachable machines do not hold it up: they get its version, and start on it when their machine
 * answers.
 */
export function finishUpdates(state: State, name: string): void {
  const { slots } = unitOf(state, name);
  for (const id of unfinished(state, name)) {
    const update = state.updates[id]?.units[name];
    const pending = pendingSlots(state, name, id).flatMap((index) => slots[index] ?? []);
    if (update?.state !== 'active' || !pending.every(({ isUnreachable }) => isUnreachable)) continue;
    if (isRemoval(state, id) && pending.length > 0) continue;
    for (const slot of pending) Object.assign(slot, { version: update.version, update: id, state: 'down' });
    update.state = 'done';
  }
}

/** The changes that the active updates of a unit still want. */
function listWantedChanges(state: State, name: string): Change[] {
  const { slots, version: own } = unitOf(state, name);
  const active = unfinished(state, name).filter(
    (id) => state.updates[id]?.units[name]?.state === 'active' && !isRemoval(state, id),
  );
  return active.flatMap((id) => {
    const version = state.updates[id]?.units[name]?.version ?? own;
    return pendingSlots(state, name, id).flatMap((index) => {
      const slot = slots[index];
      return slot && canStart(slot) ? [{ slot, index, update: { id, version } }] : [];
    });
  });
}

/** A retry that is further away than any ever is was planned before the clock was set back. */
const isRetryDue = ({ retryAt }: Slot, now: number): boolean => retryAt <= now || retryAt > now + LONGEST_RETRY_MS;

const canStart = ({ isUnreachable, gone }: Slot): boolean => !isUnreachable && !gone;
