import { isFields, type Thing } from '../json';
import { readSelector } from '../selectors';
import type { FakeStore } from '../store';
import { fieldsIn, findCondition, isActive, isReady, numberIn, ownerUid, resolveAmount, withCondition } from './pods';

/** The budgets: how many ready pods each may lose at present. */
export function reconcileBudgets(store: FakeStore): undefined {
  for (const budget of store.list('PodDisruptionBudget')) {
    const matches = readSelector(budget.spec['selector']);
    const pods = store
      .list('Pod', budget.metadata.namespace)
      .filter((pod) => isActive(pod) && matches(pod.metadata.labels));
    const expected = countExpected(store, pods);
    const { minAvailable, maxUnavailable } = budget.spec;
    const desired =
      minAvailable === undefined
        ? Math.max(0, expected - resolveAmount(maxUnavailable, expected, 'up', 0))
        : resolveAmount(minAvailable, expected, 'up', 0);
    const healthy = pods.filter(isReady).length;
    store.setStatus(budget, {
      ...{ expectedPods: expected, desiredHealthy: desired, currentHealthy: healthy },
      disruptionsAllowed: expected === 0 ? 0 : Math.max(0, healthy - desired),
      observedGeneration: budget.metadata.generation ?? 0,
    });
  }
}

/** The sizes of the workloads that own the pods, not the pods that happen to be there. */
function countExpected(store: FakeStore, pods: readonly Thing[]): number {
  const owners = new Set(pods.map(ownerUid));
  const sized = ['ReplicaSet', 'StatefulSet']
    .flatMap((kind) => store.list(kind))
    .filter(({ metadata }) => owners.has(metadata.uid));
  const sizedUids = new Set(sized.map(({ metadata }) => metadata.uid));
  const single = pods.filter((pod) => !sizedUids.has(ownerUid(pod) ?? '')).length;
  return sized.reduce((sum, { spec }) => sum + numberIn(spec, 'replicas', 1), single);
}

/** Pods go to the node with the fewest. */
export function schedulePods(store: FakeStore): undefined {
  const waiting = store.list('Pod').filter((pod) => isActive(pod) && pod.spec['nodeName'] === undefined);
  if (waiting.length === 0) return;
  const load = new Map<string, number>();
  for (const { spec } of store.list('Pod')) {
    const name = String(spec['nodeName']);
    load.set(name, (load.get(name) ?? 0) + 1);
  }
  for (const pod of waiting) {
    const [node] = store
      .list('Node')
      .filter((one) => canTake(one, pod))
      .sort((a, b) => (load.get(a.metadata.name) ?? 0) - (load.get(b.metadata.name) ?? 0));
    if (node === undefined) {
      store.edit(pod, (draft) => {
        draft.status['conditions'] = withCondition(store, draft, 'PodScheduled', 'False', 'Unschedulable');
      });
      continue;
    }
    const { name } = node.metadata;
    load.set(name, (load.get(name) ?? 0) + 1);
    store.edit(pod, (draft) => {
      draft.spec['nodeName'] = name;
      draft.status['conditions'] = withCondition(store, draft, 'PodScheduled', 'True', '');
    });
  }
}

function canTake(node: Thing, pod: Thing): boolean {
  const taints = Array.isArray(node.spec['taints']) ? node.spec['taints'].filter(isFields) : [];
  const selector = fieldsIn(pod.spec, 'nodeSelector');
  return (
    node.spec['unschedulable'] !== true &&
    taints.every(({ effect }) => effect === 'PreferNoSchedule') &&
    findCondition(node, 'Ready')?.['status'] === 'True' &&
    Object.entries(selector).every(([key, value]) => node.metadata.labels?.[key] === value)
  );
}

const OWNED = ['ReplicaSet', 'Pod', 'ControllerRevision'];
const OWNERS = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'];

/** Objects whose owner is gone follow it. */
export function collectGarbage(store: FakeStore): undefined {
  const alive = new Set(OWNERS.flatMap((kind) => store.list(kind)).map(({ metadata }) => metadata.uid));
  for (const object of OWNED.flatMap((kind) => store.list(kind))) {
    const uid = ownerUid(object);
    const isKnownKind = object.metadata.ownerReferences?.some(({ kind }) => OWNERS.includes(kind));
    if (uid !== undefined && isKnownKind && !alive.has(uid)) store.remove(object);
  }
}
