import {
  POD_RECORD,
  REPLACEMENT,
  readIntent,
  readReplacement,
  writePodRecord,
  type PodRecord,
  type Replacement,
} from '../records';
import { readTemplateImage, type PodTemplate, type RevisionView, type WorkloadView } from '../views';
import type { WorkloadKind } from '../settings';
import { findNewest, readGeneration } from './daemonSet';
import { patchSet } from './deployment';
import {
  isSameTemplate,
  labelPods,
  labelSetTemplate,
  patchWorkload,
  replaceTemplate,
  REVISION_LABEL,
  type MoveKind,
  type MoveSituation,
  type MoveStep,
} from './move';

/**
 * Chosen pods are replaced by pods of another template: the controller gets that template, the pods are evicted, and once others are there, the workload is
 * put back as it was. Its controller takes all pods for those of its own template, so that it leaves them alone. A Deployment is paused meanwhile, and only
 * its ReplicaSet has the other template; a StatefulSet and a DaemonSet replace no pod by themselves meanwhile (OnDelete).
 *
 * Each step is decided from the objects as they are, as those of a move are.
 */

/** The template with the record that tells its pods; a pod that comes in this time has it, whether it was meant or not. */
const writeRecordedTemplate = (template: PodTemplate, record: PodRecord): PodTemplate => {
  const { labels, annotations } = writePodRecord(record);
  const { metadata } = template;
  const own = readTemplateAnnotations(template);
  return {
    ...template,
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels }, annotations: { ...own, ...annotations } },
  };
};

interface ReplacementPlan {
  readonly situation: MoveSituation;
  readonly kind: MoveKind;
  /** The record of the pods that come. */
  readonly record: PodRecord;
}

/** The next step until pods of the target come in the place of those that go; `done` from then on. */
export function planBegin({ situation, kind, record }: ReplacementPlan): MoveStep {
  const { workload, target, wanted } = situation;
  const begun = readReplacement(workload.annotations);
  if (readIntent(workload.annotations) !== undefined)
    return { step: 'wait', reason: `the template of ${workload.ref.name} is being changed` };
  if (begun === undefined) {
    if (!workload.isObserved) return waitFor(workload);
    const reason = kind.refuse(situation);
    if (reason !== undefined) return { step: 'refuse', reason };
    const isDeployment = workload.ref.kind === 'Deployment';
    const note: Replacement = {
      ...target,
      strategy: isDeployment ? null : { ...workload.strategy },
      template: isDeployment ? null : { ...workload.template },
    };
    return patchWorkload(workload, { annotations: { [REPLACEMENT]: JSON.stringify(note) } }, {}, 'merge');
  }
  if (begun.update !== target.update || begun.version !== target.version) return planEnd(situation, begun);
  const template = writeRecordedTemplate(wanted ?? workload.template, record);
  if (workload.ref.kind === 'Deployment') return beginDeployment(situation, template);
  const isThere = isEqualTemplate(workload.template, template, situation);
  if (!isThere || workload.strategy['type'] !== 'OnDelete')
    return patchWorkload(
      workload,
      {},
      {
        ...{ updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
        ...(!isThere && replaceTemplate(template)),
      },
    );
  return workload.isObserved ? { step: 'done' } : waitFor(workload);
}

function beginDeployment(situation: MoveSituation, template: PodTemplate): MoveStep {
  const { workload, revisions } = situation;
  if (!workload.isPaused) return patchWorkload(workload, {}, { paused: true });
  if (!workload.isObserved) return waitFor(workload);
  const [current, ...others] = revisions.filter(({ size }) => size > 0);
  if (others.length > 0) return { step: 'refuse', reason: `more than one ReplicaSet of ${workload.ref.name} has pods` };
  if (current === undefined || isEqualTemplate(current.template, template, situation)) return { step: 'done' };
  return patchSet(current, replaceTemplate(labelSetTemplate(template, current)));
}

/** The next step until the workload is as it was. */
export function planEnd(situation: MoveSituation, begun: Replacement): MoveStep {
  const { workload, pods, revisions } = situation;
  if (workload.ref.kind === 'Deployment') return endDeployment(situation);
  const own = begun.template as PodTemplate | null;
  if (own !== null && !isEqualTemplate(workload.template, own, situation))
    return patchWorkload(workload, {}, replaceTemplate(own));
  const labels = workload.isObserved ? findRevisionLabels(situation, revisions) : undefined;
  if (labels === undefined) return waitFor(workload);
  return (
    labelPods(pods, labels) ??
    forgetRevision(revisions, labels) ??
    finishReplacement(workload, { updateStrategy: begun.strategy ?? {} })
  );
}

/** `kubectl rollout undo` takes the revision before the newest: one of pods that were replaced, even of a version that was reverted, must not be it. */
function forgetRevision(
  revisions: readonly RevisionView[],
  present: Readonly<Record<string, string>>,
): MoveStep | undefined {
  const spent = revisions.find(
    ({ labels, template }) =>
      readTemplateAnnotations(template)?.[POD_RECORD] !== undefined &&
      labels[REVISION_LABEL] !== present[REVISION_LABEL],
  );
  return spent && { step: 'remove', ref: spent.ref, uid: spent.uid };
}

const readTemplateAnnotations = ({ metadata }: PodTemplate) =>
  (metadata as { annotations?: Readonly<Record<string, string>> } | null | undefined)?.annotations;

function endDeployment(situation: MoveSituation): MoveStep {
  const { workload, revisions } = situation;
  const changed = revisions.find(
    ({ size, template }) => size > 0 && !isEqualTemplate(template, workload.template, situation),
  );
  // Resumed by a person, the controller rolls out the template of the Deployment by itself.
  if (changed === undefined || !workload.isPaused) return finishReplacement(workload, { paused: false });
  return patchSet(changed, replaceTemplate(labelSetTemplate(workload.template, changed)));
}

const finishReplacement = (workload: WorkloadView, spec: object): MoveStep =>
  patchWorkload(workload, { annotations: { [REPLACEMENT]: null } }, spec);

/** The labels by which the controller takes a pod for one of its present template. */
function findRevisionLabels(
  { workload, container }: MoveSituation,
  revisions: readonly RevisionView[],
): Readonly<Record<string, string>> | undefined {
  if (workload.ref.kind === 'StatefulSet')
    return workload.updateRevision === '' ? undefined : { [REVISION_LABEL]: workload.updateRevision };
  const newest = findNewest(revisions);
  const hash = newest?.labels[REVISION_LABEL];
  if (newest === undefined || hash === undefined) return undefined;
  const isPresent = isEqualTemplate(newest.template, workload.template, { container });
  return isPresent ? { [REVISION_LABEL]: hash, ...readGeneration(workload) } : undefined;
}

/** Equal with its image. */
const isEqualTemplate = (
  one: PodTemplate,
  other: PodTemplate,
  { container }: Pick<MoveSituation, 'container'>,
): boolean =>
  isSameTemplate(one, other, container) && readTemplateImage(one, container) === readTemplateImage(other, container);

const CONTROLLERS: Readonly<Record<WorkloadKind, string>> = {
  Deployment: 'deployment',
  StatefulSet: 'statefulset',
  DaemonSet: 'daemonset',
};

const waitFor = ({ ref }: WorkloadView): MoveStep => ({
  step: 'wait',
  reason: `the ${CONTROLLERS[ref.kind]} controller has not seen the last change`,
});
