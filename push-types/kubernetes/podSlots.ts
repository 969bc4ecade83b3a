import { countStart, newSlot, unitOf, type Slot } from '../../sdk/updates';
import { adoptPod, isStillDue } from './adoptPod';
import { listPodPlaces, noteImage, type KubeState } from './memory';
import { hashUpdate, readPodRecord, type PodRecord } from './records';
import type { KubeUnit } from './unitReader';
import type { PodView } from './views';

/** The pods of a unit as slots of the memory: decisions about the state, without effects. */

/** The identifier of a task in metrics: another for each update. Prometheus can build it from the labels of the pod. */
const identifyTask = ({ cluster, namespace }: KubeUnit, pod: string, update: string | null): string =>
  `${cluster}/${namespace}/${pod}@${update === null ? '' : hashUpdate(update)}`;

export interface SyncContext {
  readonly unit: KubeUnit;
  readonly now: number;
  /** The pods that the workload should have. */
  readonly size: number;
}

/** Gives each pod a slot, and each slot the version that its pod has. The order of the pods is that of their slots. */
export function syncPods(state: KubeState, name: string, pods: readonly PodView[], context: SyncContext): void {
  const places = ((state.places ??= {})[name] ??= []);
  const { slots } = unitOf(state, name);
  for (const pod of pods) noteRecord(state, name, pod);
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  const known = new Set<string>();
  places.forEach((place, index) => {
    const pod = byUid.get(place.uid);
    const slot = (slots[index] ??= newSlot('', null));
    if (pod === undefined) Object.assign(slot, { gone: true, state: 'down' } satisfies Partial<Slot>);
    else {
      known.add(pod.uid);
      delete slot.gone;
      adoptPod(state, name, index, pod);
    }
  });
  for (const pod of pods) if (!known.has(pod.uid)) seatPod(state, name, pod, context);
  if (context.unit.mode === 'recreate') keepAwaited(state, name, context.size - pods.length);
  listPodPlaces(state, name).forEach(({ uid }, index) => {
    const pod = byUid.get(uid);
    if (pod) noteTaskName(state, name, { pod, index }, context);
  });
  forgetPlaces(state, name);
}

/** The place of a pod that is being replaced waits for the next one, unless the workload has become smaller. */
function keepAwaited(state: KubeState, name: string, missing: number): void {
  let left = missing;
  listPodPlaces(state, name).forEach(({ change }, index) => {
    const slot = unitOf(state, name).slots[index];
    if (!slot?.gone || change === undefined || left <= 0) return;
    left -= 1;
    delete slot.gone;
    delete slot.isUnreachable;
    slot.state = 'updating';
  });
}

/** Records tell the images of versions that the memory has lost. */
function noteRecord(state: KubeState, name: string, pod: PodView): void {
  const record = readPodRecord(pod.annotations);
  if (record && state.images?.[name]?.[record.version] === undefined)
    noteImage(state, name, record.version, record.image);
}

/** A new pod takes the place of the one that it replaces: by its name, by its node, or else a free one, first of those that an update has changed. */
function seatPod(state: KubeState, name: string, pod: PodView, { unit: { kind }, now }: SyncContext): void {
  const record = readPodRecord(pod.annotations);
  const brought = record?.image === pod.image ? record : undefined;
  const places = state.places?.[name] ?? [];
  const unit = unitOf(state, name);
  const { slots } = unit;
  const free = places.flatMap((place, index) => (slots[index]?.gone ? [{ place, index }] : []));
  const same = free.find(({ place }) => (kind === 'DaemonSet' ? place.node === pod.node : place.pod === pod.name));
  const awaited = brought && free.find(({ place }) => place.change?.update === brought.update);
  const other =
    kind === 'Deployment'
      ? (awaited ?? free.find(({ index }) => slots[index]?.update !== unit.update) ?? free[0])
      : undefined;
  const index = (same ?? other)?.index ?? places.length;
  const slot = (slots[index] ??= newSlot('', null));
  const earlier = { version: slot.version, update: slot.update };
  const { change, again = change, isOvertaken, isStray } = places[index] ?? {};
  places[index] = { pod: pod.name, uid: pod.uid, node: pod.node ?? '' };
  if (slot.task !== undefined) countStart(unit, index, now);
  delete slot.task;
  delete slot.gone;
  delete slot.isUnreachable;
  slot.state = 'down';
  adoptPod(state, name, index, pod);
  if (brought && change?.update === brought.update) Object.assign(slot, { state: 'updating', startedAt: now });
  else if (brought && isUnmeant(state, name, index, brought)) places[index].isStray = true;
  if (brought || isOvertaken) return;
  const moved = state.moves?.[name] ?? state.moved?.[name];
  const joined =
    pod.image === moved?.from && unit.update !== null ? { version: unit.version, update: unit.update } : undefined;
  const wanted = [again, isStray ? undefined : earlier, joined].find(
    (one) => one !== undefined && isStillDue(state, name, one),
  );
  if (wanted?.update && slot.version !== wanted.version)
    places[index].again = { version: wanted.version, update: wanted.update };
}

/** A pod with the record of an update that does not mean its slot. */
function isUnmeant(state: KubeState, name: string, index: number, { update }: PodRecord): boolean {
  const meant = state.updates[update]?.units[name]?.slots;
  return meant !== undefined && !meant.includes(index);
}

function noteTaskName(
  state: KubeState,
  name: string,
  { pod, index }: { readonly pod: PodView; readonly index: number },
  { unit, now }: SyncContext,
): void {
  const slot = unitOf(state, name).slots[index];
  const task = identifyTask(unit, pod.name, readPodRecord(pod.annotations)?.update ?? null);
  // A change has counted its start already, and its name comes with the patch.
  if (slot === undefined || slot.task === task || listPodPlaces(state, name)[index]?.change !== undefined) return;
  if (slot.task !== undefined || slot.start === 0) countStart(unitOf(state, name), index, now);
  slot.task = task;
}

/** Places at the end without a pod are forgotten, unless an update that is not over counts them. */
function forgetPlaces(state: KubeState, name: string): void {
  const { slots } = unitOf(state, name);
  const counted = Object.values(state.updates).flatMap(({ units }) => units[name]?.slots ?? []);
  const last = Math.max(-1, ...counted);
  while (slots.length - 1 > last && slots.at(-1)?.gone) {
    slots.pop();
    state.places?.[name]?.pop();
  }
}
