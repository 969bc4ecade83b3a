import { tasksOf, type Amount } from '../../domain/fleet/amount';
import type { TwineFleet } from './fleet';
import { DOWN, hasTask, RUNNING, jobSize, UPDATING, getLastUpdate, type Job } from './job';
import { activeUnits, wants } from './scheduler';
import { hasCrashed, isMachineUp } from './tasks';

/** The part of a target that concerns one job. */
export interface Wish {
  /** Index of the version. */
  readonly version: number;
  readonly amount: Amount | undefined;
  readonly updatedBy: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  readonly urgency: 'normal' | 'revert';
}

/**
 * The tasks that an update must bring to the version. With an amount: tasks already on the version count toward it, unless their start failed; of the
 * others the lowest slots are taken, first those that no other deploy brought to another version. With `updatedBy`: all tasks that these updates
 * touched last, or that inherited their version; with an amount as well, no more than that, counting those on their way. Tasks that are down come
 * first, since they cost no budget.
 */
export function chooseSlots(fleet: TwineFleet, job: Job, wish: Wish, now: number): Int32Array {
  const outdated = (slot: number): boolean => wants(job, { version: wish.version, acceptedAt: now }, slot);
  const slots = wish.updatedBy
    ? listTouchedSlots(job, findUpdateIndices(fleet, withReverts(fleet, wish.updatedBy)), outdated)
    : slotsLacking(fleet, job, wish, outdated);
  const ordered = inOrder(job, slots, wish.urgency);
  return Int32Array.from(wish.updatedBy ? ordered.slice(0, atMost(fleet, job, wish, ordered.length)) : ordered);
}

/** The most tasks that an update takes of those that it undoes. */
function atMost(fleet: TwineFleet, job: Job, wish: Wish, count: number): number {
  const coming = listArrivingSlots(fleet, job, wish).length;
  return Math.max(0, tasksOf(wish.amount ?? { all: true }, count + coming) - coming);
}

/** The tasks that are already on their way to the version. They do not count as done before they are up. */
export function listArrivingSlots(
  fleet: TwineFleet,
  job: Job,
  { version, updatedBy, exclude }: Omit<Wish, 'urgency'>,
): number[] {
  const isReserved = buildReservedCheck(fleet, job, exclude ?? []);
  const undone = updatedBy && findUpdateIndices(fleet, withReverts(fleet, updatedBy));
  const isMeant = (slot: number): boolean => (undone ? undone.has(getLastUpdate(job, slot)) : !isReserved(slot));
  const slots: number[] = [];
  for (let slot = 0; slot < job.size; slot += 1)
    if (job.tasks.state[slot] === UPDATING && job.tasks.version[slot] === version && isMeant(slot)) slots.push(slot);
  return slots;
}

/**
 * These updates and every revert of any of them, since a later try must find the tasks that an earlier one touched. For
 * the same reason, a deploy that is reverted must find the tasks that a canary left on the deploy's version.
 */
export function withReverts(fleet: TwineFleet, updatedBy: readonly string[]): string[] {
  const found = new Set(updatedBy);
  // Both appear later in the map than the updates they refer to, so one pass finds them all.
  for (const { id, updatedBy: undone, inherits } of fleet.updates.values())
    if ([...undone, ...inherits].some((update) => found.has(update))) found.add(id);
  return [...found];
}

/** The indices of the update ids that the fleet knows. */
export const findUpdateIndices = (fleet: TwineFleet, updateIds: readonly string[]): Set<number> =>
  new Set(updateIds.flatMap((id) => fleet.indices.get(id) ?? []));

type SlotPredicate = (slot: number) => boolean;

function listTouchedSlots(job: Job, updates: ReadonlySet<number>, outdated: SlotPredicate): number[] {
  const slots: number[] = [];
  for (let slot = 0; slot < job.size; slot += 1)
    if (updates.has(getLastUpdate(job, slot)) && outdated(slot)) slots.push(slot);
  return slots;
}

function slotsLacking(fleet: TwineFleet, job: Job, wish: Wish, outdated: SlotPredicate): number[] {
  const isReserved = buildReservedCheck(fleet, job, wish.exclude ?? []);
  const failed: number[] = [];
  const others: number[] = [];
  const brought: number[] = [];
  const lost: number[] = [];
  let current = 0;
  const isLost = (slot: number): boolean => job.tasks.state[slot] === DOWN && !isMachineUp({ fleet }, job, slot);
  for (let slot = 0; slot < job.size; slot += 1) {
    if (!hasTask(job, slot) || isReserved(slot)) continue;
    if (!outdated(slot)) current += 1;
    else if (hasCrashed(job, slot)) failed.push(slot);
    else if (isLost(slot)) lost.push(slot);
    else (job.tasks.version[slot] === job.version ? others : brought).push(slot);
  }
  const missing = Math.max(0, tasksOf(wish.amount ?? { all: true }, jobSize(job)) - current);
  return [...failed, ...others, ...brought, ...lost].slice(0, missing);
}

/** Tasks that excluded updates touched or are about to touch: they do not count, and are not taken. */
function buildReservedCheck(fleet: TwineFleet, job: Job, exclude: readonly string[]): (slot: number) => boolean {
  const ids = withReverts(fleet, exclude);
  const updates = findUpdateIndices(fleet, ids);
  const chosen = activeUnits({ fleet }, job).flatMap(([id, unit]) => (ids.includes(id) ? [...unit.slots] : []));
  const coming = new Set(chosen);
  return (slot) => updates.has(getLastUpdate(job, slot)) || coming.has(slot);
}

/**
 * First the tasks whose new task a revert gives up while the old one still runs, which costs nothing; then those that are down, which may come back
 * by themselves on the target version; then those that run. Tasks in flight for another update come last, unless a revert cannot wait for them.
 */
function inOrder(job: Job, slots: readonly number[], urgency: Wish['urgency']): number[] {
  const rank = (slot: number): number => {
    const state = job.tasks.state[slot];
    if (urgency === 'revert' && job.swaps.has(slot)) return 0;
    if (urgency === 'normal' && state === UPDATING) return 3;
    return state === RUNNING ? 2 : 1;
  };
  return [0, 1, 2, 3].flatMap((wanted) => slots.filter((slot) => rank(slot) === wanted));
}
