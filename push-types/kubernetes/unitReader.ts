import type { KubernetesApi } from './client/api';
import type { KubeObject } from './client/objects';
import type { PodsConfig, WorkloadKind } from './settings';
import { readReplacement } from './records';
import { writeLabelSelector } from './selectors';
import { settleTemplate } from './wantedTemplate';
import {
  viewBudget,
  viewNode,
  viewPod,
  viewRevisions,
  viewWorkload,
  type BudgetView,
  type NodeView,
  type PodView,
  type RevisionView,
  type WorkloadView,
} from './views';

/** The reads of a cluster: directly, or from a view that watches keep up to date. */
export type ClusterReader = Pick<KubernetesApi, 'get' | 'list'>;

/** A workload of one cluster, with the settings of the pipeline that deploys it. */
export interface KubeUnit extends UnitSettings {
  readonly cluster: string;
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

/** The settings that the workloads of a pipeline share; `image` is the repository. */
type UnitSettings = Pick<PodsConfig, 'drain' | 'minReadySeconds' | 'maxUnavailable' | 'image' | 'mode' | 'template'>;

export const pickUnitSettings = (config: PodsConfig): UnitSettings => {
  const { drain, minReadySeconds, maxUnavailable, image, mode, template } = config;
  return { drain, minReadySeconds, maxUnavailable, image, mode, template };
};

/** `eu-1/shop/deployment/web`. */
export const nameUnit = ({
  cluster,
  namespace,
  kind,
  name,
}: Pick<KubeUnit, 'cluster' | 'namespace' | 'kind' | 'name'>): string =>
  `${cluster}/${namespace}/${kind.toLowerCase()}/${name}`;

/** A unit as its cluster reports it. */
export interface UnitLook {
  readonly workload: WorkloadView;
  /** Without those that leave. */
  readonly pods: readonly PodView[];
  /** The uids of those that leave. */
  readonly leaving: ReadonlySet<string>;
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly budgets: readonly BudgetView[];
}

/** @returns undefined if there is no such workload */
export async function readUnit(reader: ClusterReader, unit: KubeUnit): Promise<UnitLook | undefined> {
  const { kind, namespace, name } = unit;
  const object = await reader.get({ kind, namespace, name });
  if (object === undefined) return undefined;
  const workload = settleTemplate(viewWorkload(kind, object));
  const [{ pods, leaving }, nodes, budgets] = await Promise.all([
    readAllPods(reader, unit, workload),
    reader.list('Node', {}),
    reader.list('PodDisruptionBudget', { namespace }),
  ]);
  return {
    ...{ workload, pods, leaving, budgets: budgets.items.map(viewBudget) },
    nodes: new Map(nodes.items.map(viewNode).map((node) => [node.name, node])),
  };
}

/** The pods that belong to a workload, and stay. */
export const readPods = async (...args: Parameters<typeof readAllPods>): Promise<readonly PodView[]> =>
  (await readAllPods(...args)).pods;

async function readAllPods(
  reader: ClusterReader,
  { namespace, container }: Pick<KubeUnit, 'namespace' | 'container'>,
  workload: WorkloadView,
): Promise<Pick<UnitLook, 'pods' | 'leaving'>> {
  const { items } = await reader.list('Pod', { namespace, labelSelector: writeLabelSelector(workload.selector) });
  const owners = await findOwners(reader, items, workload);
  const isOwn = ({ metadata }: KubeObject): boolean => !!metadata.ownerReferences?.some(({ uid }) => owners.has(uid));
  const own = items.filter(isOwn).flatMap((pod) => viewPodOnce(pod, container) ?? []);
  const leaving = own.filter(({ isLeaving }) => isLeaving).map(({ uid }) => uid);
  return { pods: own.filter(({ isLeaving }) => !isLeaving), leaving: new Set(leaving) };
}

/** An object is the same until it changes: of thousands of pods only those that did are checked again. */
const podViews = new WeakMap<KubeObject, { readonly container: string; readonly pod: PodView | undefined }>();

function viewPodOnce(object: KubeObject, container: string): PodView | undefined {
  const known = podViews.get(object);
  if (known?.container === container) return known.pod;
  const pod = viewPod(object, container);
  podViews.set(object, { container, pod });
  return pod;
}

/** The ReplicaSets of a Deployment, or the ControllerRevisions of a DaemonSet, and of a StatefulSet while its pods are replaced. */
export async function readRevisions(reader: ClusterReader, workload: WorkloadView): Promise<readonly RevisionView[]> {
  const { kind, namespace } = workload.ref;
  if (kind === 'StatefulSet' && readReplacement(workload.annotations) === undefined) return [];
  const revisionKind = kind === 'Deployment' ? 'ReplicaSet' : 'ControllerRevision';
  const options = { namespace, labelSelector: writeLabelSelector(workload.selector) };
  return viewRevisions(revisionKind, (await reader.list(revisionKind, options)).items, workload);
}

/** Why no pods of a Deployment come: a paused one, as ours is while its pods are replaced, does not show what its ReplicaSet says. */
export async function readReplicaFailure(reader: ClusterReader, workload: WorkloadView): Promise<string | undefined> {
  if (workload.ref.kind !== 'Deployment') return undefined;
  return (await readRevisions(reader, workload)).find(({ size, failure }) => size > 0 && failure !== undefined)
    ?.failure;
}

/** A Deployment has its pods by ReplicaSets. Their names do not tell whose they are: those of `web-api` begin with `web-` as well. */
async function findOwners(
  reader: ClusterReader,
  pods: readonly KubeObject[],
  { ref, uid }: WorkloadView,
): Promise<ReadonlySet<string>> {
  if (ref.kind !== 'Deployment') return new Set([uid]);
  const sets = [...new Set(pods.flatMap((pod) => listOwnerUids(pod, 'ReplicaSet')))];
  const known = findSetOwners(reader, ref.namespace);
  const isUnclear = (set: string): boolean => {
    const owner = known.owners.get(set);
    return owner === undefined || (owner !== uid && !known.asked.has(uid));
  };
  if (sets.some(isUnclear)) await (known.listing ??= listSetOwners(reader, ref.namespace, known));
  if (sets.every((set) => known.owners.has(set))) known.asked.add(uid);
  return new Set(sets.filter((set) => known.owners.get(set) === uid));
}

/** The Deployments of the ReplicaSets of a namespace, which is listed only when a look meets a new one. */
interface SetOwners {
  readonly owners: Map<string, string>;
  /** Deployments that have looked since: one that was created again adopts the ReplicaSets of before. */
  readonly asked: Set<string>;
  /** Looks at the same moment share a list. */
  listing: Promise<void> | undefined;
}

const setOwners = new WeakMap<ClusterReader, Map<string, SetOwners>>();

function findSetOwners(reader: ClusterReader, namespace: string): SetOwners {
  const namespaces = setOwners.get(reader) ?? new Map<string, SetOwners>();
  const known = namespaces.get(namespace) ?? { owners: new Map(), asked: new Set(), listing: undefined };
  setOwners.set(reader, namespaces.set(namespace, known));
  return known;
}

async function listSetOwners(reader: ClusterReader, namespace: string, known: SetOwners): Promise<void> {
  try {
    const { items } = await reader.list('ReplicaSet', { namespace });
    known.owners.clear();
    // One without an owner may be adopted in the next moment.
    for (const set of items)
      for (const owner of listOwnerUids(set, 'Deployment')) known.owners.set(set.metadata.uid, owner);
  } finally {
    known.listing = undefined;
  }
}

const listOwnerUids = ({ metadata }: KubeObject, kind: string): readonly string[] =>
  (metadata.ownerReferences ?? []).filter((owner) => owner.kind === kind).map(({ uid }) => uid);
