import { unitOf, type Slot } from '../../sdk/updates';
import { isKubernetesError } from './client/errors';
import type { ClusterWriter } from './kubeCluster';
import { findImage, listPodPlaces, type PodPlace, type SlotChange } from './memory';
import { explainWait, isPassingFailure } from './podChanges';
import { readReplacement } from './records';
import { countRound, describeChange, failChange, listSeats, type SeatedPod, type UnitRound } from './round';
import { beginReplacement, endReplacement } from './unitMoves';
import type { PodView } from './views';

/** Replaces the pods whose change is decided, for units with `mode: recreate`. */

interface AwaitedChange {
  readonly index: number;
  readonly slot: Slot;
  readonly place: PodPlace;
  readonly change: SlotChange;
}

export async function replacePods(round: UnitRound, writer: ClusterWriter): Promise<void> {
  const { look } = round;
  const begun = readReplacement(look.workload.annotations);
  const due = listAwaited(round);
  const first = due.find(({ change }) => change.update === begun?.update) ?? due[0];
  if (first === undefined) return begun === undefined ? evictStrays(round, writer) : putBack(round, writer);
  try {
    const group = due.filter(({ change }) => change.update === first.change.update);
    await replaceGroup(round, group, writer);
  } catch (error) {
    if (!isKubernetesError(error)) throw error;
    if (isPassingFailure(error)) return explainWait(round, first.change.update, error.message);
    for (const { place, slot, index, change } of due) {
      if (change.update !== first.change.update) continue;
      delete place.change;
      failChange(round, { slot, index, update: { id: change.update, version: change.version } }, error.message);
    }
  }
}

/** Puts the workload back as it was before its pods were replaced. A refusal is tried again in the next round. */
export async function putBack({ name, unit }: UnitRound, { api, log }: ClusterWriter): Promise<void> {
  await endReplacement(api, unit).catch((error: unknown) => {
    if (!isKubernetesError(error)) throw error;
    log(`${name}: it is not put back as it was: ${error.message}`);
  });
}

/** Changes of pods that are there, or that have gone and are not replaced yet. */
function listAwaited({ state, name }: UnitRound): readonly AwaitedChange[] {
  const { slots } = unitOf(state, name);
  return listPodPlaces(state, name).flatMap((place, index) => {
    const [slot, change] = [slots[index], place.change];
    return slot && change && !slot.gone && !slot.isUnreachable ? [{ index, slot, place, change }] : [];
  });
}

async function replaceGroup(round: UnitRound, group: readonly AwaitedChange[], writer: ClusterWriter): Promise<void> {
  const { state, name, unit, look } = round;
  const [first] = group;
  if (first === undefined) return;
  const { version, update } = first.change;
  const seats = listSeats(round).filter(({ index }) => group.some((one) => one.index === index));
  const [seat] = seats;
  // A workload is not held for a budget that would refuse the first pod.
  if (readReplacement(look.workload.annotations) === undefined && seat) await removePod(seat.pod, writer, true);
  const before = { image: '', imageID: '', containerID: '', restarts: 0, waiting: '' };
  const record = { ...describeChange({ state, name }, update, version), before };
  const target = { version, update, image: findImage(state, name, version) };
  const outcome = await beginReplacement(writer.api, unit, target, record);
  if (!outcome.isDone) return explainWait(round, update, outcome.reason ?? '');
  await Promise.all(seats.map(({ pod }) => removePod(pod, writer)));
}

/**
 * Budgets guard pods that serve. They refuse to evict one that does not once others are missing too, so its revert would wait for them; it is deleted.
 * @throws KubernetesError, of kind `TooMany` if a disruption budget refuses it
 */
async function removePod(pod: PodView, writer: ClusterWriter, dryRun = false): Promise<void> {
  try {
    if (pod.isReady) await evictPod(pod, writer, dryRun);
    else if (!dryRun) await writer.api.remove(pod.ref, { uid: pod.uid });
  } catch (error) {
    // Another pod of this name is already there.
    if (!isKubernetesError(error, 'NotFound', 'Conflict')) throw error;
  }
}

async function evictPod({ ref, uid }: PodView, { api }: ClusterWriter, dryRun: boolean): Promise<void> {
  const { namespace = '', name } = ref;
  const eviction = {
    ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
    deleteOptions: { preconditions: { uid } },
  };
  await api.create('Pod', eviction, { namespace, name, subresource: 'eviction', dryRun });
}

/** Pods that came while those of an update were made, and that it did not mean: their workload has its own template again, and replaces them. */
async function evictStrays(round: UnitRound, writer: ClusterWriter): Promise<void> {
  let { room } = countRound(round);
  const due = listSeats(round).filter(({ place, slot }: SeatedPod) => {
    if (!place.isStray || slot.isUnreachable) return false;
    if (slot.state === 'live') room -= 1;
    return slot.state !== 'live' || room >= 0;
  });
  await Promise.all(
    due.map(async ({ pod }) => {
      await removePod(pod, writer).catch((error: unknown) => {
        if (!isKubernetesError(error)) throw error;
        writer.log(`${round.name}: ${pod.name} is not replaced: ${error.message}`);
      });
    }),
  );
}
