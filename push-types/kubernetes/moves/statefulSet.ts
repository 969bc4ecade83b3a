import { z } from 'zod';
import type { MoveIntent } from '../records';
import type { WorkloadView } from '../views';
import {
  finishMove,
  isTarget,
  labelPods,
  patchWorkload,
  REVISION_LABEL,
  writeTemplate,
  type MoveKind,
  type MoveSituation,
  type MoveStep,
} from './move';

/**
 * A StatefulSet: change the template behind a partition that holds back all pods, give each pod the label of the new revision, then put the partition back.
 * The controller takes every pod for updated, and does nothing.
 */
export const STATEFUL_SET_MOVE: MoveKind = {
  refuse: ({ workload, pods }) =>
    pods.every(({ labels }) => labels[REVISION_LABEL] === workload.updateRevision)
      ? undefined
      : `a rollout of ${workload.ref.name} is under way, or held by its partition: let it end, or undo it (kubectl rollout undo)`,
  saveStrategy: ({ strategy }) => ({ ...strategy }),
  advance: advanceStatefulSet,
};

function advanceStatefulSet(situation: MoveSituation, { strategy }: MoveIntent): MoveStep {
  const { workload, pods } = situation;
  const isOnDelete = strategy?.['type'] === 'OnDelete';
  if (!isTarget(workload.template, situation)) {
    const hold = isOnDelete ? {} : { updateStrategy: { rollingUpdate: { partition: Math.max(1, workload.size) } } };
    return patchWorkload(workload, {}, { ...hold, ...writeTemplate(situation) });
  }
  if (!workload.isObserved || workload.updateRevision === '')
    return { step: 'wait', reason: 'the statefulset controller has not seen the last change' };
  const label = labelPods(pods, { [REVISION_LABEL]: workload.updateRevision });
  return label ?? finishMove(situation, isOnDelete ? {} : { updateStrategy: restorePartition(strategy) });
}

const partitionSchema = z.looseObject({
  rollingUpdate: z.looseObject({ partition: z.number().int().default(0) }).optional(),
});

const restorePartition = (strategy: WorkloadView['strategy'] | null): object => ({
  rollingUpdate: { partition: partitionSchema.safeParse(strategy).data?.rollingUpdate?.partition ?? 0 },
});
