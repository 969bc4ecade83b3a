import { z } from 'zod';
import { isKubernetesError } from './client/errors';
import type { ResourceKind } from './client/resources';
import type { ClusterReader, KubeUnit } from './unitReader';
import type { WorkloadKind } from './settings';

/** Controllers that roll out a workload by their own rules, and name it in an object of theirs instead of owning it. */

interface Rival {
  readonly kind: Extract<ResourceKind, 'Rollout' | 'Canary'>;
  readonly words: string;
  readonly field: 'workloadRef' | 'targetRef';
  readonly workloads: readonly WorkloadKind[];
}

const RIVALS: readonly Rival[] = [
  { kind: 'Rollout', words: 'the Argo Rollout', field: 'workloadRef', workloads: ['Deployment'] },
  { kind: 'Canary', words: 'the Flagger canary', field: 'targetRef', workloads: ['Deployment', 'DaemonSet'] },
];

/** The kinds that could name a workload of this kind. */
export const listRivals = (kind: WorkloadKind): readonly Rival[] =>
  RIVALS.filter(({ workloads }) => workloads.includes(kind));

const reference = z.looseObject({ kind: z.string(), name: z.string() }).nullish();
const rivalSchema = z.looseObject({ workloadRef: reference, targetRef: reference });

/**
 * Who else rolls out a workload, and what to do. A cluster without their kinds has none of them, and a missing right is reported among the rights.
 * @throws KubernetesError
 */
export async function explainRival(
  api: Pick<ClusterReader, 'list'>,
  { kind, namespace, name }: Pick<KubeUnit, 'kind' | 'namespace' | 'name'>,
): Promise<string | undefined> {
  for (const rival of listRivals(kind)) {
    const owner = (await listOrNone(api, rival.kind, namespace)).find(({ spec }) => {
      const named = rivalSchema.safeParse(spec ?? {}).data?.[rival.field];
      return named?.kind === kind && named.name === name;
    });
    if (owner !== undefined)
      return `${rival.words} ${owner.metadata.name} rolls out ${name} (${rival.field}), and would undo every change: deploy by that, or delete it`;
  }
  return undefined;
}

async function listOrNone(api: Pick<ClusterReader, 'list'>, kind: Rival['kind'], namespace: string) {
  try {
    return (await api.list(kind, { namespace })).items;
  } catch (error) {
    if (isKubernetesError(error, 'NotFound', 'Forbidden')) return [];
    throw error;
  }
}
