import { isFields, type Thing } from '../json';
import { readSelector } from '../selectors';
import { Refusal, type FakeStore } from '../store';
import {
  countToAvailable,
  createPod,
  fieldsIn,
  findCondition,
  isActive,
  isReady,
  numberIn,
  ownedBy,
  ownerReference,
  ownerUid,
  withCondition,
} from './pods';

/** The controller of ReplicaSets: counts pods, whatever their images are. */
export function reconcileReplicaSets(store: FakeStore): number | undefined {
  const waits = store.list('ReplicaSet').map((set) => reconcile(store, set));
  return earliest(waits);
}

export const earliest = (waits: readonly (number | undefined)[]): number | undefined => {
  const known = waits.filter((wait): wait is number => wait !== undefined && wait > 0);
  return known.length === 0 ? undefined : Math.min(...known);
};

function reconcile(store: FakeStore, set: Thing): number | undefined {
  claimPods(store, set);
  const pods = ownedBy(store, 'Pod', set).filter(isActive);
  const missing = numberIn(set.spec, 'replicas', 1) - pods.length;
  let refused: Refusal | undefined;
  try {
    for (let count = 0; count < missing; count += 1)
      createPod(store, set, { template: fieldsIn(set.spec, 'template') });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused = error;
  }
  for (const pod of sortForRemoval(store, pods).slice(0, Math.max(0, -missing))) store.remove(pod);
  return writeStatus(store, set, refused);
}

/** The name of the pod that was refused is another with each try. */
const omitPodName = ({ message }: Refusal): string => message.replace(/^pods "[^"]*"/, 'pods');

/** A pod whose labels no longer match is let go, and one without an owner whose labels match is taken in. */
function claimPods(store: FakeStore, set: Thing): void {
  const matches = readSelector(set.spec['selector']);
  for (const pod of store.list('Pod', set.metadata.namespace)) {
    const isOurs = ownerUid(pod) === set.metadata.uid;
    if (isOurs && !matches(pod.metadata.labels)) store.edit(pod, ({ metadata }) => delete metadata.ownerReferences);
    else if (ownerUid(pod) === undefined && isActive(pod) && matches(pod.metadata.labels))
      store.edit(pod, ({ metadata }) => (metadata.ownerReferences = [ownerReference(set)]));
  }
}

/**
 * In the order of the real controller: those without a node, those that do not run or are not ready, by their cost, from crowded nodes, those that became
 * ready last, restarted most, or are youngest. Times count by their order of magnitude alone.
 */
function sortForRemoval(store: FakeStore, pods: readonly Thing[]): Thing[] {
  const countBeside = (pod: Thing): number =>
    pods.filter((one) => isReady(one) && one.spec['nodeName'] === pod.spec['nodeName']).length;
  const magnitude = (time: unknown): number =>
    Math.floor(Math.log2(Math.max(1, store.now() - Date.parse(String(time)))));
  const rank = (pod: Thing): number[] => [
    pod.spec['nodeName'] === undefined ? 0 : 1,
    pod.status['phase'] === 'Running' ? 1 : 0,
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0),
    -countBeside(pod),
    isReady(pod) ? magnitude(findCondition(pod, 'Ready')?.['lastTransitionTime']) : 0,
    -countRestarts(pod),
    magnitude(pod.metadata.creationTimestamp),
  ];
  return [...pods].sort((a, b) => {
    const [one, other] = [rank(a), rank(b)];
    const at = one.findIndex((value, index) => value !== other[index]);
    return at < 0 ? a.metadata.uid.localeCompare(b.metadata.uid) : (one[at] ?? 0) - (other[at] ?? 0);
  });
}

const countRestarts = ({ status }: Thing): number =>
  (Array.isArray(status['containerStatuses']) ? status['containerStatuses'] : [])
    .filter(isFields)
    .reduce((most, container) => Math.max(most, numberIn(container, 'restartCount')), 0);

function writeStatus(store: FakeStore, set: Thing, refused: Refusal | undefined): number | undefined {
  const pods = ownedBy(store, 'Pod', set).filter(isActive);
  const waits = pods.map((pod) => countToAvailable(store, pod, numberIn(set.spec, 'minReadySeconds')));
  store.edit(set, (draft) => {
    Object.assign(draft.status, {
      ...{ replicas: pods.length, fullyLabeledReplicas: pods.length, readyReplicas: pods.filter(isReady).length },
      ...{ availableReplicas: waits.filter((wait) => wait === 0).length },
      observedGeneration: set.metadata.generation ?? 0,
    });
    if (refused)
      draft.status['conditions'] = withCondition(
        store,
        draft,
        'ReplicaFailure',
        'True',
        'FailedCreate',
        omitPodName(refused),
      );
    else delete draft.status['conditions'];
  });
  return earliest(waits);
}
