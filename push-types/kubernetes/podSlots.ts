import { countStart, newSlot, unitOf, type Slot, type State } from '../../sdk/updates';
import { hashUpdate, readPodRecord, type PodRecord, type UnitRecord } from './records';
import type { KubeUnit } from './unitReader';
import type { PodView } from './views';

/** The pods of a unit as slots of the memory: decisions about the state, without effects. */

/** The memory of this push type: that of the sdk, and what pods need besides. */
export interface KubeState extends State {
  /** Workloads that pipelines have named, by unit. */
  enrolled?: Record<string, KubeUnit>;
  /** The pod of each slot, by unit. */
  places?: Record<string, PodPlace[]>;
  /** The images of versions, by unit. A version without a row is an image. */
  images?: Record<string, Record<string, string>>;
  /** Templates that are to change, by unit. */
  moves?: Record<string, PendingMove>;
  /** The last template that has changed, by unit: pods that began before that come late. */
  moved?: Record<string, Pick<PendingMove, 'from'>>;
}

export interface PodPlace {
  pod: string;
  uid: string;
  node: string;
  /** A change that was decided, until the pod has it. */
  change?: SlotChange;
  /** The pod was replaced by an old one after its update had ended: it gets the version again. */
  again?: SlotChange;
  /** How often others have set its image back in the middle of an update, and the version of the pod at which they did it last. */
  setBacks?: { readonly count: number; readonly at: string };
  /** It came while pods of an update were made that did not mean it. */
  isStray?: boolean;
  /** Others have changed the template since: a pod that is replaced is left as it comes. */
  isOvertaken?: boolean;
}

export interface SlotChange {
  readonly version: string;
  readonly update: string;
  /** ms since the epoch: when the pod was taken out of service. */
  drainedAt?: number;
}

/** A template that is to get the image of a version. */
export interface PendingMove extends UnitRecord {
  readonly update: string;
  /** The image and the version that the template had. */
  readonly from: string;
  readonly before: { readonly version: string; readonly update: string | null };
}

export const listPodPlaces = (state: KubeState, unit: string): readonly PodPlace[] => state.places?.[unit] ?? [];

/** The image of a version in a unit. */
export const findImage = (state: KubeState, unit: string, version: string): string =>
  state.images?.[unit]?.[version] ?? version;

const MOST_IMAGES = 200;

/** Remembers the image of a version; those of the earliest versions are forgotten. */
export function noteImage(state: KubeState, unit: string, version: string, image: string): void {
  if (version === image) return;
  const images = ((state.images ??= {})[unit] ??= {});
  delete images[version];
  images[version] = image;
  for (const old of Object.keys(images).slice(0, -MOST_IMAGES)) delete images[old];
}

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

/**
 * Whether a pod that came back old gets the version of an update again: an update that was in order keeps its share of pods. One that has failed, was stopped or
 * taken back, or has come before that of the whole unit, gets none anew.
 */
function isStillDue(state: KubeState, name: string, { update }: { readonly update: string | null }): boolean {
  const unit = unitOf(state, name);
  if (update === null) return false;
  if (update === unit.update) return true;
  const ids = Object.keys(state.updates);
  const isUndone = ids.some((id) => state.updates[id]?.updatedBy.includes(update));
  const whole = unit.update === null ? undefined : state.updates[unit.update];
  const isPast =
    whole !== undefined && ids.indexOf(unit.update ?? '') > ids.indexOf(update) && !whole.exclude.includes(update);
  return state.updates[update]?.units[name]?.state === 'done' && !isUndone && !isPast;
}

/** The version of a slot is that of its pod: by the record, by the template, or else the image itself. */
function adoptPod(state: KubeState, name: string, index: number, pod: PodView): void {
  const unit = unitOf(state, name);
  const slot = unit.slots[index];
  const place = state.places?.[name]?.[index];
  if (slot === undefined || place === undefined) return;
  [place.pod, place.node] = [pod.name, pod.node ?? ''];
  const actual = readPodVersion(state, name, pod);
  const { change } = place;
  if (change !== undefined) {
    if (actual.version === change.version && readPodRecord(pod.annotations)?.update === change.update)
      delete place.change;
    else if (isWantedElsewhere(state, name, index, change) || giveUpPod(state, name, { pod, place }, change.update)) {
      delete place.change;
      Object.assign(slot, { ...actual, state: 'down' } satisfies Partial<Slot>);
    }
    return;
  }
  if (slot.version !== actual.version) giveUpPod(state, name, { pod, place }, slot.update);
  if (slot.version !== actual.version)
    Object.assign(slot, { ...actual, ...(slot.state === 'updating' && { state: 'down' }) });
  if (place.again && (place.again.version === slot.version || !isStillDue(state, name, place.again)))
    delete place.again;
}

const MOST_SET_BACKS = 3;

/** Counts others who set the image back of a pod that keeps the record of the update. They are not fought for long: then the update fails, and true is returned. */
function giveUpPod(
  state: KubeState,
  name: string,
  { pod, place }: { readonly pod: PodView; readonly place: PodPlace },
  id: string | null,
): boolean {
  const record = readPodRecord(pod.annotations);
  const update = state.updates[id ?? '']?.units[name];
  if (record === undefined || record.update !== id || record.image === pod.image) return false;
  const { count = 0, at } = place.setBacks ?? {};
  if (at !== pod.resourceVersion) place.setBacks = { count: count + 1, at: pod.resourceVersion };
  if (count + 1 < MOST_SET_BACKS || (update?.state !== 'active' && update?.state !== 'paused')) return false;
  delete place.setBacks;
  update.state = 'failed';
  update.reason = `others set the image of ${pod.name} back to ${pod.image} ${MOST_SET_BACKS} times: find them (kubectl get pod ${pod.name} -o yaml --show-managed-fields), and let them leave the image alone`;
  return true;
}

/** Another update wants another version for a slot whose change has not been made yet. */
const isWantedElsewhere = (state: KubeState, name: string, index: number, change: SlotChange): boolean =>
  Object.entries(state.updates).some(([id, { units }]) => {
    const update = units[name];
    return (
      id !== change.update &&
      update?.state === 'active' &&
      update.slots.includes(index) &&
      update.version !== change.version
    );
  });

/** The version that a pod runs, and the update that brought it. */
function readPodVersion(state: KubeState, name: string, pod: PodView): { version: string; update: string | null } {
  const { version, update } = unitOf(state, name);
  const record = readPodRecord(pod.annotations);
  if (record?.image === pod.image) return { version: record.version, update: record.update };
  if (pod.image === findImage(state, name, version)) return { version, update };
  const move = state.moves?.[name];
  if (pod.image === move?.from) return { ...move.before };
  const named = Object.entries(state.images?.[name] ?? {}).find(([, image]) => image === pod.image);
  return { version: named?.[0] ?? pod.image, update: null };
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

/**
 * Restores a unit of which the memory knows nothing from the records on its workload and pods. An update that is not there on all of its pods has ended:
 * whether it was paused or cancelled is unknown, and the deploy sends another.
 */
export function restoreUpdates(state: KubeState, name: string, pods: readonly PodView[]): void {
  const unit = unitOf(state, name);
  const indexes = new Map(listPodPlaces(state, name).map(({ uid }, index) => [uid, index]));
  const groups = new Map<string, { readonly record: PodRecord; readonly indexes: number[] }>();
  for (const pod of pods) {
    const record = readPodRecord(pod.annotations);
    const index = indexes.get(pod.uid);
    if (record?.image !== pod.image || index === undefined) continue;
    const group = groups.get(record.update) ?? { record, indexes: [] };
    group.indexes.push(index);
    groups.set(record.update, group);
  }
  for (const [id, { record, indexes }] of groups) {
    const isThere = indexes.length >= record.of && (!record.whole || unit.update === id);
    const reason = `the push type lost its memory while it brought ${record.version} to ${name}: ${indexes.length} of ${record.of} pods have it`;
    const known = (state.updates[id] ??= { updatedBy: record.updatedBy, exclude: [], units: {} });
    known.units[name] ??= {
      ...{ version: record.version, slots: indexes },
      ...(isThere ? { state: 'active' } : { state: 'ended', reason }),
    };
  }
}
