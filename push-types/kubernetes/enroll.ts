import type { ZodError } from 'zod';
import { ExtensionError } from '../../sdk';
import { isKubernetesError } from './client/errors';
import type { KubeFleet } from './fleet';
import type { KubeCluster } from './kubeCluster';
import { findContainer } from './refusals';
import { parseLabelSelector } from './selectors';
import { podsConfigSchema, type PodsConfig, type WorkloadFields } from './settings';
import { nameUnit, pickUnitSettings, type KubeUnit } from './unitReader';
import { viewWorkload, type WorkloadView } from './views';

/** The units of a pipeline: its workloads in its clusters. */

export interface PodsConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** A workload of a cluster. */
export interface EnrolledUnit {
  readonly name: string;
  readonly unit: KubeUnit;
  readonly cluster: KubeCluster;
  /** Undefined while the cluster does not answer. */
  readonly workload: WorkloadView | undefined;
}

export interface Enrolment {
  readonly units: readonly EnrolledUnit[];
  readonly problems: readonly PodsConfigProblem[];
}

/** The config of a pipeline. @throws ExtensionError with the first mistake */
export function parsePodsConfig(config: Readonly<Record<string, unknown>>): PodsConfig {
  const parsed = podsConfigSchema.safeParse(config);
  if (parsed.success) return parsed.data;
  const [problem] = listMistakes(parsed.error);
  throw new ExtensionError('invalid-config', `${problem?.path}: ${problem?.message}`, { status: 400 });
}

export const listMistakes = ({ issues }: ZodError): readonly PodsConfigProblem[] =>
  issues.map(({ path, message }) => ({ path: ['config', ...path.map(String)].join('.'), message }));

/** Finds the units of a config, and takes over those that are not known. A cluster that does not answer keeps the units that are known of it. */
export async function enrollConfig(fleet: KubeFleet, config: PodsConfig): Promise<Enrolment> {
  const { clusters, problems } = chooseClusters(fleet, config);
  const found = await Promise.all(
    config.workloads.flatMap((fields, index) =>
      clusters.map((cluster) => enrollWorkload(fleet, cluster, { config, fields, path: `config.workloads.${index}` })),
    ),
  );
  const units = found.flatMap((one) => one.units);
  for (const { name, unit } of units) fleet.enroll(name, unit);
  await Promise.all(units.map(({ name }) => fleet.learn(name)));
  return {
    units,
    problems: [...problems, ...found.flatMap((one) => one.problems), ...findMissing(config, clusters, found)],
  };
}

function chooseClusters(
  fleet: KubeFleet,
  { clusters: wanted }: PodsConfig,
): { clusters: KubeCluster[]; problems: PodsConfigProblem[] } {
  const all = [...fleet.clusters.values()];
  const path = 'config.clusters';
  const names = all.map(({ name }) => name).join(', ');
  if (wanted === undefined) return { clusters: all, problems: [] };
  if (Array.isArray(wanted)) {
    const unknown = wanted.filter((name) => !fleet.clusters.has(name));
    const problems = unknown.map((name) => ({ path, message: `there is no cluster ${name}; there are ${names}` }));
    return { clusters: all.filter(({ name }) => wanted.includes(name)), problems };
  }
  const matches = parseLabelSelector(wanted.label);
  const clusters = all.filter(({ labels }) => matches?.(labels));
  const problem = { path, message: `no cluster has the labels ${wanted.label}; the clusters are ${names}` };
  return { clusters, problems: clusters.length === 0 ? [problem] : [] };
}

interface WorkloadRequest {
  readonly config: PodsConfig;
  readonly fields: WorkloadFields;
  readonly path: string;
}

/** The workloads of one row of the config in one cluster; those that are known if it does not answer. */
async function enrollWorkload(fleet: KubeFleet, cluster: KubeCluster, request: WorkloadRequest): Promise<Enrolment> {
  try {
    const workloads = await readWorkloads(cluster, request.fields);
    const rows = workloads.map((workload) => describeWorkload(cluster, request, workload));
    return { units: rows.flatMap((row) => row.units), problems: rows.flatMap((row) => row.problems) };
  } catch (error) {
    if (isKubernetesError(error, 'Forbidden', 'Unauthorized'))
      return { units: listKnown(fleet, cluster, request), problems: [{ path: request.path, message: error.message }] };
    return { units: listKnown(fleet, cluster, request), problems: [] };
  }
}

async function readWorkloads({ reader }: KubeCluster, fields: WorkloadFields): Promise<readonly WorkloadView[]> {
  const { kind, namespace, name, selector } = fields;
  if (name === undefined)
    return (
      await reader.list(kind, { namespace, ...(selector !== undefined && { labelSelector: selector }) })
    ).items.map((object) => viewWorkload(kind, object));
  const object = await reader.get({ kind, namespace, name });
  return object === undefined ? [] : [viewWorkload(kind, object)];
}

function describeWorkload(
  cluster: KubeCluster,
  { config, fields, path }: WorkloadRequest,
  workload: WorkloadView,
): Enrolment {
  const found = findContainer(workload, fields.container);
  if ('problem' in found) return { units: [], problems: [{ path: `${path}.container`, message: found.problem }] };
  const unit: KubeUnit = {
    ...{ cluster: cluster.name, kind: fields.kind, namespace: fields.namespace, name: workload.ref.name },
    ...{ container: found.container, ...pickUnitSettings(config) },
  };
  return { units: [{ name: nameUnit(unit), unit, cluster, workload }], problems: [] };
}

function listKnown(fleet: KubeFleet, cluster: KubeCluster, { fields, config }: WorkloadRequest): EnrolledUnit[] {
  const { kind, namespace, name } = fields;
  return Object.entries(fleet.state.enrolled ?? {}).flatMap(([id, unit]) => {
    const isMeant = unit.cluster === cluster.name && unit.kind === kind && unit.namespace === namespace;
    if (!isMeant || (name !== undefined && unit.name !== name)) return [];
    return [{ name: id, unit: { ...unit, ...pickUnitSettings(config) }, cluster, workload: undefined }];
  });
}

/** A known unit with the settings of a config, without a read: its cluster may be away. */
export function chooseSettings(
  fleet: KubeFleet,
  name: string,
  { workloads, ...config }: PodsConfig,
): KubeUnit | undefined {
  const known = fleet.state.enrolled?.[name];
  if (known === undefined) return undefined;
  const workload = fleet.lastUnitLook(name)?.workload;
  const row = workloads.find(
    ({ kind, namespace, name: own, selector }) =>
      kind === known.kind &&
      namespace === known.namespace &&
      (own === undefined ? parseLabelSelector(selector ?? '')?.(workload?.labels ?? {}) : own === known.name),
  );
  const found = row && workload && findContainer(workload, row.container);
  const container = found && 'container' in found ? found.container : (row?.container ?? known.container);
  return { ...known, container, ...pickUnitSettings({ workloads, ...config }) };
}

/** A workload that is in no cluster that answers is probably misspelt. */
const findMissing = (
  { workloads }: PodsConfig,
  clusters: readonly KubeCluster[],
  found: readonly Enrolment[],
): readonly PodsConfigProblem[] =>
  workloads.flatMap(({ kind, namespace, name, selector }, index) => {
    const rows = found.slice(index * clusters.length, (index + 1) * clusters.length);
    if (clusters.length === 0 || rows.some(({ units, problems }) => units.length + problems.length > 0)) return [];
    const words = name === undefined ? `with the labels ${selector}` : name;
    const names = clusters.map((cluster) => cluster.name).join(', ');
    return [
      {
        path: `config.workloads.${index}`,
        message: `there is no ${kind} ${words} in namespace ${namespace} of ${names}`,
      },
    ];
  });
