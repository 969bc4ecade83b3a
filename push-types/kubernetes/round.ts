import {
  beginChange,
  endChange,
  nextChanges,
  pendingSlots,
  unfinished,
  unitOf,
  type Change,
  type Slot,
} from '../../sdk/updates';
import { countPodRoom, type BudgetRoom } from './budget';
import { hasStartedSince, judgePod, type PodState } from './podState';
import { findImage, listPodPlaces, type KubeState, type PodPlace } from './memory';
import { readPodRecord } from './records';
import { countUnavailable } from './settings';
import type { KubeUnit, UnitLook } from './unitReader';
import type { PodView } from './views';

/** The decisions of one round about the pods of a unit, without effects but on the memory. */

export interface UnitRound {
  readonly state: KubeState;
  readonly name: string;
  readonly unit: KubeUnit;
  readonly look: UnitLook;
  /** ms since the epoch. */
  readonly now: number;
  readonly clock: SettleClock;
  /** How long a pod may take until it is live. */
  readonly startTimeoutMs: number;
  /** Why its controller can make no pods, where the workload itself does not say it. */
  readonly failure?: string | undefined;
}

/** A slot with its pod. */
export interface SeatedPod {
  readonly index: number;
  readonly slot: Slot;
  readonly place: PodPlace;
  readonly pod: PodView;
}

/** Since when pods are ready, as this process has seen it: clocks of clusters may differ from ours. */
export class SettleClock {
  private readonly since = new Map<string, { readonly container: string; readonly at: number }>();

  /** How long the pod has been ready, in ms; undefined while it is not. */
  measure({ uid, isReady, status }: PodView, now: number): number | undefined {
    const container = status?.containerID ?? '';
    const known = this.since.get(uid);
    if (!isReady) this.since.delete(uid);
    else if (known?.container !== container) this.since.set(uid, { container, at: now });
    const { at } = this.since.get(uid) ?? {};
    return at === undefined ? undefined : now - at;
  }

  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of this.since.keys()) if (!uids.has(uid)) this.since.delete(uid);
  }
}

export function listSeats({ state, name, look }: Pick<UnitRound, 'state' | 'name' | 'look'>): readonly SeatedPod[] {
  const pods = new Map(look.pods.map((pod) => [pod.uid, pod]));
  const { slots } = unitOf(state, name);
  return listPodPlaces(state, name).flatMap((place, index) => {
    const [slot, pod] = [slots[index], pods.get(place.uid)];
    return slot && pod && !slot.gone ? [{ index, slot, place, pod }] : [];
  });
}

/** Brings the states of slots up to date with their pods. A change ends when its pod is live, or will not come up. */
export function judgeSeats(round: UnitRound): void {
  const seats = listSeats(round);
  const starting = seats.filter(({ slot }) => slot.state === 'updating');
  for (const seat of seats) judgeSeat(round, seat);
  // In an ordered StatefulSet each pod waits for the one before, and has its own time from then on.
  if (round.look.workload.isOrdered && starting.some(({ slot }) => slot.state === 'live'))
    for (const { slot } of listAbsent(round)) slot.startedAt = round.now;
  judgeAwaited(round);
}

/** A pod that was replaced has to come in time. That of before may need long to end. */
function judgeAwaited(round: UnitRound): void {
  const { look, now, failure } = round;
  for (const { slot, place } of listAbsent(round)) if (look.leaving.has(place.uid)) slot.startedAt = now;
  for (const { slot, place, index, change } of listOverdue(round)) {
    delete place.change;
    const { kind, namespace, name } = look.workload.ref;
    const why = failure ?? look.workload.failure ?? `kubectl describe ${kind} ${name} -n ${namespace} may say why`;
    const update = { id: change.update, version: change.version };
    failChange(round, { slot, index, update }, `no pod came in the place of ${place.pod}: ${why}`);
  }
}

/** Whether pods that were replaced have not come in time, so that the reason is needed. */
export const isPodOverdue = (round: UnitRound): boolean => listOverdue(round).length > 0;

const listOverdue = (round: UnitRound) =>
  listAbsent(round).filter(
    ({ slot, place }) => !round.look.leaving.has(place.uid) && round.now - slot.startedAt >= round.startTimeoutMs,
  );

/** Changes of pods that have gone, and whose next ones are not there. */
function listAbsent({ state, name, look }: UnitRound) {
  const there = new Set(look.pods.map(({ uid }) => uid));
  return listPodPlaces(state, name).flatMap((place, index) => {
    const [slot, change] = [unitOf(state, name).slots[index], place.change];
    return slot && change && !slot.gone && !there.has(place.uid) ? [{ slot, place, index, change }] : [];
  });
}

/** The pods of a unit that was read for the first time: those that are ready are live, and those that a patch restarts are on their way. */
export function beginRestored(round: UnitRound): void {
  for (const { slot, pod } of listSeats(round)) {
    const isStarting = readPodRecord(pod.annotations)?.image === pod.image && !(hasStartedSince(pod) && pod.isReady);
    slot.state = isStarting ? 'updating' : 'live';
    if (isStarting) slot.startedAt = round.now;
  }
  judgeSeats(round);
}

function judgeSeat(round: UnitRound, seat: SeatedPod): void {
  const { slot, pod, place } = seat;
  const node = pod.node === undefined ? undefined : round.look.nodes.get(pod.node);
  const minReadyMs = (round.unit.minReadySeconds ?? round.look.workload.minReadySeconds) * 1000;
  const readyMs = round.clock.measure(pod, round.now);
  // A pod that was live stays so when this process begins anew.
  const isSettled = slot.state === 'live' || (readyMs !== undefined && readyMs >= minReadyMs);
  const verdict = judgePod(pod, { isNodeSilent: node?.isSilent ?? pod.node !== undefined, isSettled });
  if (verdict.state === 'unreachable') {
    Object.assign(slot, { state: 'down', isUnreachable: true } satisfies Partial<Slot>);
    return;
  }
  delete slot.isUnreachable;
  if (place.change !== undefined) return;
  if (slot.state === 'updating') settleChange(round, seat, verdict);
  else slot.state = verdict.state === 'live' ? 'live' : 'down';
}

function settleChange(
  { state, name, now, startTimeoutMs }: UnitRound,
  { slot, index }: SeatedPod,
  verdict: PodState,
): void {
  const change: Change = { slot, index, update: { id: slot.update ?? '', version: slot.version } };
  if (verdict.state === 'live') endChange(state, name, change, undefined, now);
  else if (verdict.state === 'failed') failChange({ state, name, now }, change, verdict.reason);
  else if (now - slot.startedAt >= startTimeoutMs) {
    const reason = verdict.state === 'starting' ? verdict.reason : '';
    failChange({ state, name, now }, change, `not live within ${startTimeoutMs / 1000} s: ${reason}`);
  }
}

export function failChange(
  { state, name, now }: Pick<UnitRound, 'state' | 'name' | 'now'>,
  change: Change,
  why: string,
): void {
  endChange(state, name, change, `${change.slot.version} did not come up in ${name}: ${why}`, now);
}

/** Pods that change in one round at most; the next round takes more. */
const MOST_CHANGES = 100;

/** Begins the next changes of pods: those of updates, and of pods that have come back old. Dead pods cost no budget. */
export function chooseSeats(round: UnitRound): void {
  const { state, name, now } = round;
  freeSuperseded(round);
  const seats = new Map(listSeats(round).map((seat) => [seat.index, seat]));
  const room = countRound(round);
  const { slots } = unitOf(state, name);
  const out = slots.filter((slot) => !slot.gone && slot.state !== 'live').length;
  const changes = nextChanges(state, name, { atOnce: MOST_CHANGES, mostOut: out + room.room, now }).filter(
    ({ update, index }) => update !== undefined && seats.has(index),
  );
  explainWaits(round, changes, room);
  const taken = changes.filter(({ slot }) => slot.state === 'live').length;
  const again = chooseAgain(round, new Set(changes.map(({ index }) => index)), room.room - taken);
  for (const change of [...changes, ...again]) beginSeat(round, change);
}

function beginSeat({ state, name, now }: UnitRound, change: Change): void {
  const place = listPodPlaces(state, name)[change.index];
  if (place === undefined || change.update === undefined) return;
  beginChange(unitOf(state, name), change, now);
  delete change.slot.task;
  delete place.again;
  place.change = { version: change.update.version, update: change.update.id };
}

/** A pod on its way to another version is out of service already: an update that wants another version need not wait for it. */
function freeSuperseded({ state, name }: UnitRound): void {
  const { slots } = unitOf(state, name);
  for (const id of unfinished(state, name)) {
    const update = state.updates[id]?.units[name];
    if (update?.state !== 'active') continue;
    for (const index of pendingSlots(state, name, id)) {
      const slot = slots[index];
      if (slot?.state === 'updating' && slot.version !== update.version && !listPodPlaces(state, name)[index]?.change)
        slot.state = 'down';
    }
  }
}

function chooseAgain(round: UnitRound, busy: ReadonlySet<number>, room: number): readonly Change[] {
  let left = room;
  return listSeats(round).flatMap(({ slot, index, place: { again, change } }) => {
    if (!again || change || busy.has(index) || slot.isUnreachable || slot.state === 'updating') return [];
    if (slot.state === 'live') left -= 1;
    if (slot.state === 'live' && left < 0) return [];
    return [{ slot, index, update: { id: again.update, version: again.version } }];
  });
}

/** How many more pods may be taken out of service now. */
export function countRound(round: UnitRound): BudgetRoom {
  const { look, unit } = round;
  return countPodRoom({
    mostOut: countUnavailable(unit.maxUnavailable, look.workload.size),
    size: look.workload.size,
    pods: listSeats(round).map(({ pod, slot }) => ({ pod, isLive: slot.state === 'live' })),
    budgets: look.budgets,
  });
}

/** An update that cannot begin the next pod says for what it waits. */
function explainWaits({ state, name }: UnitRound, changes: readonly Change[], { room, reason }: BudgetRoom): void {
  for (const id of unfinished(state, name)) {
    const update = state.updates[id]?.units[name];
    if (update?.state !== 'active') continue;
    const waits =
      changes.length === 0 && room === 0 && pendingSlots(state, name, id).some((index) => isLiveAt(state, name, index));
    if (waits) update.reason = `waits: ${reason}`;
    else delete update.reason;
  }
}

const isLiveAt = (state: KubeState, name: string, index: number): boolean =>
  unitOf(state, name).slots[index]?.state === 'live';

/** The record that a pod gets with a change. */
export function describeChange({ state, name }: Pick<UnitRound, 'state' | 'name'>, update: string, version: string) {
  const known = state.updates[update];
  return {
    ...{ update, version, image: findImage(state, name, version), updatedBy: [...(known?.updatedBy ?? [])] },
    ...{ of: known?.units[name]?.slots.length ?? 1, whole: unitOf(state, name).update === update },
  };
}
