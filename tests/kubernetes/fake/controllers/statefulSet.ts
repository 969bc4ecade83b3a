import { copy, type Fields, type Thing } from '../json';
import { Refusal, type FakeStore } from '../store';
import { countToAvailable, createPod, isEnding, isReady, numberIn, ownedBy, resolveAmount } from './pods';
import { earliest } from './replicaSet';
import { listRevisions, removeOldRevisions, REVISION_LABEL, takeRevision } from './revisions';

/** The controller of StatefulSets, in the order of the real one (pkg/controller/statefulset of Kubernetes 1.37). */
export function reconcileStatefulSets(store: FakeStore): number | undefined {
  return earliest(store.list('StatefulSet').map((set) => reconcile(store, set)));
}

function reconcile(store: FakeStore, given: Thing): number | undefined {
  const update = takeRevision(store, given);
  const currentName = String(given.status['currentRevision'] ?? update.metadata.name);
  const set = store.setStatus(given, { currentRevision: currentName, updateRevision: update.metadata.name }) ?? given;
  const current = listRevisions(store, set).find(({ metadata }) => metadata.name === currentName) ?? update;
  try {
    keepSize(store, set, { current, update });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return writeStatus(store, set);
}

interface Revisions {
  readonly current: Thing;
  readonly update: Thing;
}

const readOrdinal = ({ metadata }: Thing): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);
const readRevisionLabel = ({ metadata }: Thing): string => metadata.labels?.[REVISION_LABEL] ?? '';

function keepSize(store: FakeStore, set: Thing, revisions: Revisions): void {
  const size = numberIn(set.spec, 'replicas', 1);
  const isOrdered = set.spec['podManagementPolicy'] !== 'Parallel';
  const settle = numberIn(set.spec, 'minReadySeconds');
  const pods = (): Thing[] => ownedBy(store, 'Pod', set).sort((a, b) => readOrdinal(a) - readOrdinal(b));
  for (let ordinal = 0; ordinal < size; ordinal += 1) {
    const pod = pods().find((one) => readOrdinal(one) === ordinal);
    if (pod === undefined) create(store, set, ordinal, revisions);
    // In order: one that is not ready keeps all later ones, and the update, waiting.
    if (isOrdered && (pod === undefined || isEnding(pod) || countToAvailable(store, pod, settle) !== 0)) return;
  }
  const surplus = pods()
    .filter((one) => readOrdinal(one) >= size)
    .reverse();
  for (const pod of surplus) {
    store.remove(pod);
    if (isOrdered) return;
  }
  if (surplus.length === 0) replaceOutdated(store, set, pods(), revisions.update.metadata.name);
}

/** A lost pod comes back with the current revision below the partition, and with the new one otherwise; with OnDelete always with the new one. */
function create(store: FakeStore, set: Thing, ordinal: number, { current, update }: Revisions): void {
  const { type, rollingUpdate } = set.spec['updateStrategy'] as { type?: string; rollingUpdate?: Fields };
  const partition =
    rollingUpdate === undefined ? numberIn(set.status, 'currentReplicas') : numberIn(rollingUpdate, 'partition');
  const revision = type !== 'OnDelete' && ordinal < partition ? current : update;
  const { spec } = revision.data as unknown as { spec: { template: Fields } };
  const name = `${set.metadata.name}-${ordinal}`;
  createPod(store, set, {
    ...{ name, template: copy(spec.template) },
    labels: {
      [REVISION_LABEL]: revision.metadata.name,
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
    },
  });
}

/**
 * From the highest ordinal down to the partition, and at most `maxUnavailable` at a time. Outdated pods that are not available go first and all at
 * once where pods are managed in parallel.
 */
function replaceOutdated(store: FakeStore, set: Thing, pods: readonly Thing[], revision: string): void {
  const { type, rollingUpdate = {} } = set.spec['updateStrategy'] as { type?: string; rollingUpdate?: Fields };
  if (type === 'OnDelete') return;
  const isOut = (pod: Thing): boolean =>
    isEnding(pod) || countToAvailable(store, pod, numberIn(set.spec, 'minReadySeconds')) !== 0;
  let budget =
    Math.max(1, resolveAmount(rollingUpdate['maxUnavailable'], pods.length, 'up', 1)) - pods.filter(isOut).length;
  const outdated = [...pods]
    .reverse()
    .filter((pod) => readOrdinal(pod) >= numberIn(rollingUpdate, 'partition'))
    .filter((pod) => readRevisionLabel(pod) !== revision && !isEnding(pod));
  for (const pod of outdated.filter(isOut)) store.remove(pod);
  for (const pod of outdated.filter((one) => !isOut(one))) {
    if (budget <= 0) return;
    store.remove(pod);
    budget -= 1;
  }
}

function writeStatus(store: FakeStore, given: Thing): number | undefined {
  const pods = ownedBy(store, 'Pod', given).filter((pod) => !isEnding(pod));
  const size = numberIn(given.spec, 'replicas', 1);
  const waits = pods.map((pod) => countToAvailable(store, pod, numberIn(given.spec, 'minReadySeconds')));
  const set = store.edit(given, ({ status }) => {
    const countWith = (revision: unknown): number => pods.filter((pod) => readRevisionLabel(pod) === revision).length;
    const [ready, updated] = [pods.filter(isReady).length, countWith(status['updateRevision'])];
    Object.assign(status, {
      ...{ observedGeneration: given.metadata.generation ?? 0, replicas: pods.length, readyReplicas: ready },
      ...{ availableReplicas: waits.filter((wait) => wait === 0).length, updatedReplicas: updated },
      currentReplicas: countWith(status['currentRevision']),
    });
    // Once all pods carry the new revision, it is the current one; the labels decide, and no pod is replaced for it.
    if (updated === size && pods.length === size && ready === size)
      Object.assign(status, { currentRevision: status['updateRevision'], currentReplicas: updated });
  });
  const named = [set?.status['currentRevision'], set?.status['updateRevision'], ...pods.map(readRevisionLabel)];
  removeOldRevisions(store, given, new Set(named.map(String)));
  return earliest(waits);
}
