import { SERVING_GATE, writePodRecord, type PodRecord } from './records';
import type { PodView } from './views';

/** The patches of pods. Each has the resource version that was read, so that a stale one is refused. */

/** The image and the record of a pod, in one patch. */
export function writePodPatch(pod: PodView, container: string, change: Omit<PodRecord, 'before'>): object {
  const { image, imageID = '', containerID = '', restarts = 0 } = { ...pod.status, image: pod.image };
  const before = { image, imageID, containerID, restarts, waiting: pod.status?.waiting?.reason ?? '' };
  return {
    metadata: { resourceVersion: pod.resourceVersion, ...writePodRecord({ ...change, before }) },
    ...(pod.image !== change.image && { spec: { containers: [{ name: container, image: change.image }] } }),
  };
}

/** A record of its own update for a pod that has the image already. The container of before stays, so that its start is still recognized. */
export const writeRestamp = (pod: PodView, record: PodRecord): object => ({
  metadata: { resourceVersion: pod.resourceVersion, ...writePodRecord(record) },
});

/** The readiness gate, for the subresource `status`. */
export const writeGate = (isServing: boolean, now: Date): object => ({
  status: {
    conditions: [
      {
        ...{ type: SERVING_GATE, status: isServing ? 'True' : 'False' },
        lastTransitionTime: now.toISOString().replace(/\.\d+Z$/, 'Z'),
      },
    ],
  },
});
