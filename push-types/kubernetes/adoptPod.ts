import { unitOf, type Slot } from '../../sdk/updates';
import { findImage, type KubeState, type PodPlace, type SlotChange } from './memory';
import { readPodRecord } from './records';
import type { PodView } from './views';

/** The version of a slot is that of its pod: by the record, by the template, or else the image itself. */
export function adoptPod(state: KubeState, name: string, index: number, pod: PodView): void {
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

/**
 * Whether a pod that came back old gets the version of an update again: an update that was in order keeps its share of pods. One that has failed, was stopped or
 * taken back, or has come before that of the whole unit, gets none anew.
 */
export function isStillDue(state: KubeState, name: string, { update }: { readonly update: string | null }): boolean {
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
