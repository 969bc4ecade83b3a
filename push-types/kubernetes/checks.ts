import { z } from 'zod';
import type { KubernetesApi } from './client/api';
import { isKubernetesError } from './client/errors';
import { enrollConfig, listMistakes, type PodsConfigProblem, type EnrolledUnit } from './enroll';
import type { KubeFleet } from './fleet';
import type { KubeCluster } from './kubeCluster';
import { explainOwner } from './ownership';
import { explainRival } from './rivals';
import {
  CLUSTER_RIGHTS,
  explainMode,
  explainOldCluster,
  explainUnfit,
  hasServingGate,
  listNeededRights,
  type NeededVerb,
} from './refusals';
import { podsConfigSchema, type PodsConfig } from './settings';
import { explainBusy } from './unitMoves';
import { SERVING_GATE } from './records';
import { shareReads } from './sharedReads';
import type { ClusterReader } from './unitReader';

/** The checks before a deploy: mistakes in the config, workloads that cannot change in place, and missing rights. */

export async function findPodProblems(
  fleet: KubeFleet,
  config: Readonly<Record<string, unknown>>,
): Promise<{ readonly problems: readonly PodsConfigProblem[]; readonly units: readonly EnrolledUnit[] }> {
  const parsed = podsConfigSchema.safeParse(config);
  if (!parsed.success) return { problems: listMistakes(parsed.error), units: [] };
  const mode = explainMode(parsed.data);
  if (mode !== undefined) return { problems: [{ path: 'config.mode', message: mode }], units: [] };
  const { units, problems } = await enrollConfig(fleet, parsed.data);
  const readers = chooseReaders(units);
  const unfit = await Promise.all(
    units.map((unit) => findUnfit(unit, { config: parsed.data, readers, owner: fleet.owner })),
  );
  const clusters = [...new Set(units.map(({ cluster }) => cluster))];
  const rights = await Promise.all(clusters.map((cluster) => findClusterProblems(cluster, units, parsed.data)));
  return { problems: [...problems, ...unfit.flat(), ...rights.flat()], units };
}

/** Workloads of a namespace are read together; a single one by itself, since its namespace may have thousands. */
function chooseReaders(units: readonly EnrolledUnit[]): ReadonlyMap<EnrolledUnit, ClusterReader> {
  const nameNamespace = ({ cluster, unit }: EnrolledUnit): string => `${cluster.name} ${unit.namespace}`;
  const groups = new Map<string, EnrolledUnit[]>();
  for (const unit of units) groups.set(nameNamespace(unit), [...(groups.get(nameNamespace(unit)) ?? []), unit]);
  return new Map(
    [...groups.values()].flatMap((group) => {
      const [{ api }] = group.map(({ cluster }) => cluster) as [KubeCluster];
      const reader = group.length > 1 ? shareReads(api) : api;
      return group.map((unit) => [unit, reader] as const);
    }),
  );
}

interface UnfitContext {
  readonly config: PodsConfig;
  readonly readers: ReadonlyMap<EnrolledUnit, ClusterReader>;
  readonly owner: string | undefined;
}

async function findUnfit(
  enrolled: EnrolledUnit,
  { config: { drain }, readers, owner }: UnfitContext,
): Promise<PodsConfigProblem[]> {
  const { unit, workload, cluster, name } = enrolled;
  if (workload === undefined) return [];
  const objects = readers.get(enrolled) ?? cluster.api;
  const path = `config.workloads (${name})`;
  const reason =
    explainOwner(workload, owner) ??
    explainUnfit(workload, unit.container) ??
    (await ifAnswered(() => explainRival(objects, unit))) ??
    (await ifAnswered(() => explainBusy({ objects, pods: cluster.reader }, unit)));
  const gate = `drain needs the readiness gate ${SERVING_GATE} in the pod template of ${workload.ref.name}: add it, or leave drain out`;
  return [
    ...(reason === undefined ? [] : [{ path, message: reason }]),
    ...(drain === undefined || hasServingGate(workload) ? [] : [{ path: 'config.drain', message: gate }]),
  ];
}

/** Its version, and each verb that its account lacks. */
async function findClusterProblems(
  cluster: KubeCluster,
  units: readonly EnrolledUnit[],
  config: PodsConfig,
): Promise<PodsConfigProblem[]> {
  const path = `config.clusters (${cluster.name})`;
  const own = units.filter((unit) => unit.cluster === cluster);
  const rows = new Map<string, { readonly right: NeededVerb; readonly namespace: string | undefined }>();
  for (const right of CLUSTER_RIGHTS) rows.set(JSON.stringify(right), { right, namespace: undefined });
  for (const {
    unit: { kind, namespace },
    workload,
  } of own)
    for (const right of listNeededRights(kind, { ...config, hasGate: !!workload && hasServingGate(workload) }))
      rows.set(JSON.stringify([namespace, right]), { right, namespace });
  const found = await ifAnswered(async () => {
    const old = explainOldCluster(await cluster.readVersion());
    const lacking = await Promise.all(
      [...rows.values()].map(({ right, namespace }) => listLacking(cluster, right, namespace)),
    );
    return [...(old === undefined ? [] : [old]), ...lacking.flat()];
  });
  return (found ?? []).map((message) => ({ path, message }));
}

async function listLacking(
  { api, name }: KubeCluster,
  { group, resource, subresource, verbs }: NeededVerb,
  namespace: string | undefined,
): Promise<string[]> {
  const granted = findGranted(api);
  const lacking = await Promise.all(
    verbs.map(async (verb) => {
      const attributes = {
        group,
        resource,
        verb,
        ...(subresource && { subresource }),
        ...(namespace && { namespace }),
      };
      const key = JSON.stringify(attributes);
      if (Date.now() - (granted.get(key) ?? 0) < GRANTED_MS) return [];
      const answer = await api.create('SelfSubjectAccessReview', { spec: { resourceAttributes: attributes } });
      if (!reviewSchema.safeParse(answer.status).data?.allowed) return [verb];
      granted.set(key, Date.now());
      return [];
    }),
  );
  const missing = lacking.flat();
  if (missing.length === 0) return [];
  const what = `${resource}${subresource ? `/${subresource}` : ''}${group ? ` of ${group}` : ''}`;
  const place = namespace === undefined ? 'in the whole cluster' : `in namespace ${namespace}`;
  return [
    `the account of Conveyor in ${name} lacks the verbs ${missing.join(', ')} for ${what} ${place}: apply examples/kubernetes/rbac.yaml`,
  ];
}

/** A right that was there a moment ago is not read again; one that lacks is, since a person may just have given it. */
const GRANTED_MS = 60_000;

/** When each right of an account was seen, in ms since the epoch. */
const grantedByCluster = new WeakMap<KubernetesApi, Map<string, number>>();

function findGranted(api: KubernetesApi): Map<string, number> {
  const known = grantedByCluster.get(api) ?? new Map<string, number>();
  grantedByCluster.set(api, known);
  return known;
}

const reviewSchema = z.looseObject({ allowed: z.boolean() });

/** A cluster that does not answer is left to its deploy, which leaves its units out. */
async function ifAnswered<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isKubernetesError(error, 'Unavailable', 'TooMany')) return undefined;
    throw error;
  }
}
