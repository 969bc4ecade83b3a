import { isKubernetesError } from './client/errors';
import type { ClusterWriter } from './kubeCluster';
import { UNIT_OWNER } from './records';
import type { UnitRound } from './round';
import { isUnitOpen } from './roundEnd';
import type { WorkloadView } from './views';

/** Two Conveyors on one workload would undo the changes of each other: the one whose name is on it changes it. */

/** Why the Conveyor of this name must not change a workload, and what to do. */
export function explainOwner({ ref, annotations }: WorkloadView, name: string | undefined): string | undefined {
  const known = annotations[UNIT_OWNER];
  if (known === undefined || known === name) return undefined;
  const remove = `kubectl annotate ${ref.kind} ${ref.name} -n ${ref.namespace} ${UNIT_OWNER}-`;
  return `the Conveyor ${known} deploys ${ref.name}: deploy by that one, or take its name off the workload once it is gone (${remove})`;
}

/** Writes the name to a workload before anything of it changes; of two that do so at once, the server refuses one. Returns why nothing may change now. */
export async function claimWorkload(
  { state, name, look }: UnitRound,
  { api }: ClusterWriter,
  owner: string | undefined,
): Promise<string | undefined> {
  const { ref, resourceVersion, annotations } = look.workload;
  const foreign = explainOwner(look.workload, owner);
  if (foreign !== undefined || owner === undefined || annotations[UNIT_OWNER] === owner) return foreign;
  if (!isUnitOpen(state, name)) return undefined;
  try {
    const metadata = { resourceVersion, annotations: { [UNIT_OWNER]: owner } };
    await api.patch(ref, { metadata }, { type: 'merge' });
    return undefined;
  } catch (error) {
    if (!isKubernetesError(error)) throw error;
    return error.message;
  }
}
