import { splitImage } from './images';
import { readPodRecord, type PodRecord } from './records';
import type { ContainerView, PodView } from './views';

/** The state of one pod that has, or is to get, the image of a version. Pure. */

/**
 * `live`: runs the image and is ready. `starting`: not yet. `failed`: it will not come up by itself. `unreachable`: its node is silent.
 */
export type PodState =
  | { readonly state: 'live' }
  | { readonly state: 'starting'; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'unreachable'; readonly reason: string };

/** The state of a pod with the image in its spec. It counts as ready only from `settled` on, which the caller measures. */
export function judgePod(
  pod: PodView,
  { isNodeSilent, isSettled }: { readonly isNodeSilent: boolean; readonly isSettled: boolean },
): PodState {
  if (isNodeSilent) return { state: 'unreachable', reason: `node ${pod.node} does not report` };
  if (pod.unschedulable !== undefined)
    return { state: 'failed', reason: `${pod.name} cannot be scheduled (Unschedulable): ${pod.unschedulable}` };
  const record = readPodRecord(pod.annotations);
  const own = record?.image === pod.image ? record : undefined;
  const failure = explainPodFailure(pod, own);
  if (failure !== undefined) return { state: 'failed', reason: failure };
  const { status } = pod;
  if (status === undefined || !hasStarted(status, own))
    return { state: 'starting', reason: `${pod.name} has not started ${pod.image} yet` };
  if (isOldImage(status, own))
    return { state: 'starting', reason: `${pod.name} was restarted, and still runs ${status.imageID}` };
  if (!pod.isReady) return { state: 'starting', reason: `${pod.name} is not ready` };
  return isSettled ? { state: 'live' } : { state: 'starting', reason: `${pod.name} is ready, but not for long enough` };
}

/** Whether the container of a pod was started after the patch that gave it its image. */
export function hasStartedSince(pod: PodView): boolean {
  const record = readPodRecord(pod.annotations);
  const own = record?.image === pod.image ? record : undefined;
  return pod.status !== undefined && hasStarted(pod.status, own) && !isOldImage(pod.status, own);
}

/** Whether the container was started after the patch. A patch that leaves the image as it is restarts nothing. */
function hasStarted(status: ContainerView, record: PodRecord | undefined): boolean {
  if (!status.isRunning) return false;
  if (record === undefined || record.before.image === record.image) return true;
  const { before } = record;
  return status.restarts > before.restarts || status.containerID !== before.containerID;
}

/**
 * Runtimes rewrite `image`, and `imageID` may be the digest of a platform. Only a digest that has not changed although another was demanded shows that the
 * node kept the old image.
 */
function isOldImage(status: ContainerView, record: PodRecord | undefined): boolean {
  if (record === undefined || record.before.image === record.image) return false;
  const wanted = splitImage(record.image).digest;
  if (wanted === undefined || wanted === splitImage(record.before.image).digest) return false;
  return status.imageID !== '' && status.imageID === record.before.imageID && !status.imageID.endsWith(wanted);
}

const PULL_FAILURES = new Set(['ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const START_FAILURES = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

/** A reason of the time before the patch does not count against the new image. */
function explainPodFailure({ name, image, status }: PodView, record: PodRecord | undefined): string | undefined {
  const waiting = status?.waiting;
  if (status === undefined || waiting === undefined) return undefined;
  const { reason } = waiting;
  const words = `${name} does not come up with ${image} (${reason})${waiting.message === '' ? '' : `: ${waiting.message}`}`;
  const isOurs = record === undefined || record.before.image === record.image;
  const isAnother =
    isOurs || status.restarts > record.before.restarts || status.containerID !== record.before.containerID;
  if (reason === 'CrashLoopBackOff') return isAnother ? words : undefined;
  if (!PULL_FAILURES.has(reason) && !START_FAILURES.has(reason)) return undefined;
  const isNew = isAnother || record.before.waiting !== reason || waiting.message.includes(image);
  return isNew ? words : undefined;
}
