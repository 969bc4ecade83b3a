import { readTemplateGeneration } from '../admission';
import { isFields, type Json, type Thing } from '../json';
import type { FakeStore } from '../store';
import {
  countToAvailable,
  createPod,
  fieldsIn,
  isActive,
  isEnding,
  isReady,
  numberIn,
  ownedBy,
  resolveAmount,
} from './pods';
import { earliest } from './replicaSet';
import { removeOldRevisions, REVISION_LABEL, takeRevision } from './revisions';

const GENERATION_LABEL = 'pod-template-generation';

/** The controller of DaemonSets: one pod for each node that fits. */
export function reconcileDaemonSets(store: FakeStore): number | undefined {
  return earliest(store.list('DaemonSet').map((set) => reconcile(store, set)));
}

function reconcile(store: FakeStore, set: Thing): number | undefined {
  const hash = takeRevision(store, set).metadata.labels?.[REVISION_LABEL] ?? '';
  const nodes = store.list('Node').filter((node) => doesFit(set, node));
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const pods = ownedBy(store, 'Pod', set);
  for (const pod of pods) if (isActive(pod) && !names.has(String(pod.spec['nodeName']))) store.remove(pod);
  const busy = new Set(pods.map(({ spec }) => spec['nodeName']));
  for (const nodeName of names)
    if (!busy.has(nodeName))
      createPod(store, set, {
        ...{ template: fieldsIn(set.spec, 'template'), nodeName },
        labels: { [REVISION_LABEL]: hash, [GENERATION_LABEL]: String(readTemplateGeneration(set)) },
      });
  if (fieldsIn(set.spec, 'updateStrategy')['type'] !== 'OnDelete') replaceOutdated(store, set, hash, names.size);
  return writeStatus(store, set, hash, names.size);
}

/** Tolerates cordoned nodes and those that are not ready, as pods of DaemonSets do. */
function doesFit(set: Thing, node: Thing): boolean {
  const podSpec = fieldsIn(fieldsIn(set.spec, 'template'), 'spec');
  const selector = fieldsIn(podSpec, 'nodeSelector');
  return (
    Object.entries(selector).every(([key, value]) => node.metadata.labels?.[key] === value) &&
    isTolerated(podSpec['tolerations'], node)
  );
}

function isTolerated(tolerations: Json | undefined, { spec }: Thing): boolean {
  const taints = Array.isArray(spec['taints']) ? spec['taints'].filter(isFields) : [];
  const known = Array.isArray(tolerations) ? tolerations.filter(isFields) : [];
  return taints
    .filter(({ key, effect }) => effect !== 'PreferNoSchedule' && !String(key).startsWith('node.kubernetes.io/'))
    .every((taint) =>
      known.some(({ key, operator }) => key === taint['key'] || (operator === 'Exists' && key === undefined)),
    );
}

/** Either label is enough, the hash of the revision or the generation of the template. */
const isUpdated = (set: Thing, { metadata }: Thing, hash: string): boolean =>
  metadata.labels?.[REVISION_LABEL] === hash ||
  metadata.labels?.[GENERATION_LABEL] === String(readTemplateGeneration(set));

function replaceOutdated(store: FakeStore, set: Thing, hash: string, desired: number): void {
  const { maxUnavailable } = fieldsIn(fieldsIn(set.spec, 'updateStrategy'), 'rollingUpdate');
  const most = Math.max(1, resolveAmount(maxUnavailable, desired, 'up', 1));
  const pods = ownedBy(store, 'Pod', set);
  const old = pods.filter((pod) => !isEnding(pod) && !isUpdated(set, pod, hash));
  // Those that are not ready cost no availability.
  for (const pod of old) if (!isReady(pod)) store.remove(pod);
  let out = desired - pods.filter((pod) => isReady(pod) && !isEnding(pod)).length;
  for (const pod of old.filter(isReady)) {
    if (out >= most) return;
    out += 1;
    store.remove(pod);
  }
}

function writeStatus(store: FakeStore, set: Thing, hash: string, desired: number): number | undefined {
  const pods = ownedBy(store, 'Pod', set).filter(isActive);
  const waits = pods.map((pod) => countToAvailable(store, pod, numberIn(set.spec, 'minReadySeconds')));
  const available = waits.filter((wait) => wait === 0).length;
  store.setStatus(set, {
    ...{ observedGeneration: set.metadata.generation ?? 0, desiredNumberScheduled: desired, numberMisscheduled: 0 },
    ...{ currentNumberScheduled: pods.length, numberReady: pods.filter(isReady).length, numberAvailable: available },
    ...{ updatedNumberScheduled: pods.filter((pod) => isUpdated(set, pod, hash)).length },
    numberUnavailable: desired - available,
  });
  const live = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? '')]);
  removeOldRevisions(store, set, live);
  return earliest(waits);
}
