import { readTemplateImage, type RevisionView } from '../views';
import {
  finishMove,
  isSameTemplate,
  isTarget,
  labelSetTemplate,
  patchWorkload,
  writeTemplate,
  type MoveKind,
  type MoveSituation,
  type MoveStep,
} from './move';

/**
 * A Deployment: pause it, delete scaled-down ReplicaSets that equal the new template, give the live ReplicaSet the new image, then change the template and
 * resume in one patch. The controller finds a ReplicaSet that equals the template, and does nothing.
 */
export const DEPLOYMENT_MOVE: MoveKind = {
  refuse: (situation) =>
    situation.workload.isPaused
      ? `a person has paused ${situation.workload.ref.name}: resume it (kubectl rollout resume) when its template may change`
      : explainRollout(situation),
  saveStrategy: () => null,
  advance: (situation) => (situation.workload.isPaused ? advancePaused(situation) : pauseDeployment(situation)),
};

/** Before the pause, and after a person has resumed the Deployment in the middle, which rolls its pods back. */
function pauseDeployment(situation: MoveSituation): MoveStep {
  const { workload } = situation;
  if (isTarget(workload.template, situation)) return finishMove(situation, {});
  if (!workload.isObserved) return waitForController;
  const reason = explainRollout(situation);
  if (reason !== undefined) return { step: 'refuse', reason };
  return patchWorkload(workload, {}, { paused: true });
}

function advancePaused(situation: MoveSituation): MoveStep {
  const { workload, container, wanted, revisions } = situation;
  if (!workload.isObserved) return waitForController;
  const live = revisions.filter(({ size }) => size > 0);
  const [current] = live;
  const isOurs = ({ template }: RevisionView): boolean =>
    isSameTemplate(template, workload.template, container) ||
    (wanted !== undefined && isSameTemplate(template, wanted, container));
  if (live.length > 1 || (current && !isOurs(current)))
    return {
      step: 'refuse',
      reason: `another change than its image was made to ${workload.ref.name} while it was paused: undo that change`,
    };
  const twin = revisions.find((one) => isTwinReplicaSet(one, situation));
  // The controller prefers the oldest ReplicaSet that equals the template, and would replace every pod by new ones of that.
  if (current && twin) return { step: 'remove', ref: twin.ref, uid: twin.uid };
  if (current && !isTarget(current.template, situation)) {
    const labelled = wanted && labelSetTemplate(wanted, current);
    return patchSet(current, writeTemplate({ ...situation, wanted: labelled }));
  }
  return finishMove(situation, { paused: false, ...writeTemplate(situation) });
}

/** A patch of a ReplicaSet that is refused if it has changed since. */
export const patchSet = ({ ref, resourceVersion }: RevisionView, spec: object): MoveStep => ({
  ...{ step: 'patch', type: 'strategic' },
  patches: [{ ref, patch: { metadata: { resourceVersion }, spec } }],
});

const isTwinReplicaSet = ({ size, template }: RevisionView, situation: MoveSituation): boolean =>
  size === 0 &&
  isTarget(template, situation) &&
  (situation.wanted !== undefined || isSameTemplate(template, situation.workload.template, situation.container));

/** A rollout of others: more than one ReplicaSet has pods, or the one that has is not that of the template. */
function explainRollout({ workload, container, revisions }: MoveSituation): string | undefined {
  const live = revisions.filter(({ size }) => size > 0);
  const isCurrent = ({ template }: RevisionView): boolean =>
    isSameTemplate(template, workload.template, container) &&
    readTemplateImage(template, container) === readTemplateImage(workload.template, container);
  if (live.length <= 1 && live.every(isCurrent)) return undefined;
  return `a rollout of ${workload.ref.name} is under way: let it end, or undo it (kubectl rollout undo)`;
}

const waitForController: MoveStep = { step: 'wait', reason: 'the deployment controller has not seen the last change' };
