import { unfinished, type Change } from '../../sdk/updates';
import { isKubernetesError, type KubernetesError, type KubernetesErrorKind } from './client/errors';
import type { ClusterWriter } from './kubeCluster';
import { writeGate, writePodPatch, writeRestamp } from './podPatch';
import { hasStartedSince } from './podState';
import { readPodRecord } from './records';
import { describeChange, failChange, listSeats, type SeatedPod, type UnitRound } from './round';

/** The patches of one round: those of pods that change, and of pods that come into service. */

/** Failures of a patch that another look or time ends. */
const PASSING_FAILURES: ReadonlySet<KubernetesErrorKind> = new Set([
  'Conflict',
  'NotFound',
  'TooMany',
  'Unavailable',
  'Unauthorized',
]);

/** Whether another look, time, or a person who gives a right ends a failure. */
export const isPassingFailure = ({ kind, isMissingRight }: KubernetesError): boolean =>
  PASSING_FAILURES.has(kind) || isMissingRight;

/** Patches the pods whose change is decided. */
export async function changePods(round: UnitRound, { api }: ClusterWriter): Promise<void> {
  const due = listSeats(round).filter(({ place, slot }) => place.change !== undefined && !slot.isUnreachable);
  await Promise.all(due.map((seat) => changePod(round, seat, api)));
}

/** Renews records that name an earlier update. */
export async function restampPods(round: UnitRound, { api }: ClusterWriter): Promise<void> {
  const stale = listSeats(round).filter(isStalePodRecord);
  await Promise.all(stale.map((seat) => restampPod(round, seat, api)));
}

/** Pods with the gate are in service once their containers are ready: also new ones, which no other program puts into service. */
export async function setPodGates(round: UnitRound, { api, log }: ClusterWriter): Promise<void> {
  const { state, name, unit, now } = round;
  const due = listSeats(round).filter(
    ({ pod, place, slot }) =>
      pod.hasGate &&
      pod.isServing !== true &&
      !slot.isUnreachable &&
      (place.change === undefined || unit.drain === undefined) &&
      pod.areContainersReady &&
      hasStartedSince(pod),
  );
  await Promise.all(
    due.map(async ({ pod }) => {
      const patching = api.patch(pod.ref, writeGate(true, new Date(now)), { type: 'strategic', subresource: 'status' });
      await patching.catch((error: unknown) => {
        if (!isKubernetesError(error)) throw error;
        log(`${name}: ${pod.name} is not in service: ${error.message}`);
        if (error.kind === 'Conflict' || error.kind === 'NotFound') return;
        for (const id of unfinished(state, name)) explainWait(round, id, `${pod.name}: ${error.message}`);
      });
    }),
  );
}

type Api = ClusterWriter['api'];

/** Patches one pod, out of service if it has the gate and the config says so. A stale patch is repeated in the next round, after another look. */
async function changePod(round: UnitRound, { pod, place, slot, index }: SeatedPod, api: Api): Promise<void> {
  const { unit, name, state } = round;
  const { change } = place;
  if (change === undefined) return;
  try {
    if (unit.drain !== undefined && pod.hasGate && !(await drainPod(round, { pod, place, slot, index }, api))) return;
    const record = describeChange({ state, name }, change.update, change.version);
    await api.patch(pod.ref, writePodPatch(pod, unit.container, record), { type: 'strategic' });
    // It may have waited long for a right, or for its drain.
    slot.startedAt = round.now;
  } catch (error) {
    if (!isKubernetesError(error)) throw error;
    // Another look ends a conflict; everything else may last, such as a webhook that is down.
    if (isPassingFailure(error)) {
      if (error.kind !== 'Conflict' && error.kind !== 'NotFound') explainWait(round, change.update, error.message);
      return;
    }
    delete place.change;
    const failed: Change = { slot, index, update: { id: change.update, version: change.version } };
    failChange(round, failed, error.message);
  }
}

/** An update says for what it waits until its next round. */
export function explainWait({ state, name }: UnitRound, id: string, reason: string): void {
  const update = state.updates[id]?.units[name];
  if (update?.state === 'active') update.reason = `waits: ${reason}`;
}

/** Takes a pod out of service and returns true once that was long enough. */
async function drainPod({ unit, now }: UnitRound, { pod, place }: SeatedPod, api: Api): Promise<boolean> {
  const { change } = place;
  if (change === undefined) return false;
  if (pod.isServing !== false || change.drainedAt === undefined) {
    if (pod.isServing !== false)
      await api.patch(pod.ref, writeGate(false, new Date(now)), { type: 'strategic', subresource: 'status' });
    change.drainedAt ??= now;
    return false;
  }
  return now - change.drainedAt >= (unit.drain ?? 0);
}

/** The update that has taken a pod over is not yet the one of its record. */
const isStalePodRecord = ({ pod, slot, place }: SeatedPod): boolean => {
  const record = readPodRecord(pod.annotations);
  if (record?.image !== pod.image || place.change !== undefined || slot.isUnreachable) return false;
  return record.version === slot.version && slot.update !== null && record.update !== slot.update;
};

async function restampPod({ name, state }: UnitRound, { pod, slot }: SeatedPod, api: Api): Promise<void> {
  const record = readPodRecord(pod.annotations);
  if (record === undefined || slot.update === null) return;
  const { before } = record;
  const next = { ...describeChange({ state, name }, slot.update, slot.version), before };
  await api.patch(pod.ref, writeRestamp(pod, next), { type: 'strategic' }).catch((error: unknown) => {
    if (!isKubernetesError(error)) throw error;
  });
}
