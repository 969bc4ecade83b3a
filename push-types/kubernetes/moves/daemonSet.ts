import type { RevisionView, WorkloadView } from '../views';
import type { MoveIntent } from '../records';
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
 * A DaemonSet: change the template while pods are only replaced when they are deleted, give each pod the labels of the new revision, then put the strategy
 * back. The controller takes every pod for updated, and does nothing.
 */
export const DAEMON_SET_MOVE: MoveKind = {
  refuse: ({ workload, pods, revisions }) => {
    const hash = findNewest(revisions)?.labels[REVISION_LABEL];
    if (pods.every(({ labels }) => labels[REVISION_LABEL] === hash)) return undefined;
    return `a rollout of ${workload.ref.name} is under way: let it end, or undo it (kubectl rollout undo)`;
  },
  saveStrategy: ({ strategy }) => ({ ...strategy }),
  advance: advanceDaemonSet,
};

function advanceDaemonSet(situation: MoveSituation, { strategy }: MoveIntent): MoveStep {
  const { workload, pods, revisions } = situation;
  const isThere = isTarget(workload.template, situation);
  if (!isThere || workload.strategy['type'] !== 'OnDelete') {
    const hold = { updateStrategy: { type: 'OnDelete', rollingUpdate: null } };
    return patchWorkload(workload, {}, { ...hold, ...(!isThere && writeTemplate(situation)) });
  }
  const newest = findNewest(revisions);
  const hash = newest?.labels[REVISION_LABEL];
  if (!workload.isObserved || !newest || hash === undefined || !isTarget(newest.template, situation))
    return { step: 'wait', reason: 'the daemonset controller has not seen the last change' };
  const label = labelPods(pods, { [REVISION_LABEL]: hash, ...readGeneration(workload) });
  return label ?? finishMove(situation, { updateStrategy: strategy ?? { type: 'RollingUpdate' } });
}

export const findNewest = (revisions: readonly RevisionView[]): RevisionView | undefined =>
  revisions.reduce<RevisionView | undefined>(
    (best, one) => (best && best.revision >= one.revision ? best : one),
    undefined,
  );

/** The older of two labels by which the controller recognizes its newest pods. */
export function readGeneration({ annotations }: WorkloadView): Readonly<Record<string, string>> {
  const generation = annotations['deprecated.daemonset.template.generation'];
  return generation === undefined ? {} : { 'pod-template-generation': generation };
}
