import { isDeepStrictEqual } from 'node:util';
import type { ObjectRef } from '../client/resources';
import {
  MOVE_INTENT,
  readIntent,
  readReplacement,
  readUnitRecord,
  SAVED_TEMPLATE,
  UNIT_RECORD,
  type MoveIntent,
  type SavedTemplate,
  type UnitRecord,
} from '../records';
import { readTemplateImage, type PodTemplate, type PodView, type RevisionView, type WorkloadView } from '../views';

/**
 * A change of the template of a workload that restarts no pod. Each step is decided from the objects as they are now, so that a procedure that was killed at
 * any request continues; its intent is written to the workload first.
 */

/** The next step. `wait` ends by itself, `refuse` by a person. */
export type MoveStep =
  | { readonly step: 'patch'; readonly type: 'strategic' | 'merge'; readonly patches: readonly MovePatch[] }
  | { readonly step: 'remove'; readonly ref: ObjectRef; readonly uid: string }
  | { readonly step: 'wait'; readonly reason: string }
  | { readonly step: 'refuse'; readonly reason: string }
  | { readonly step: 'done' };

/** Patches of one step may be sent in any order. */
interface MovePatch {
  readonly ref: ObjectRef;
  readonly patch: object;
}

/** The objects as they are now, and the version that new pods are to start on. */
export interface MoveSituation {
  readonly workload: WorkloadView;
  readonly container: string;
  readonly target: UnitRecord;
  /** The whole template of the target where more than its image differs. */
  readonly wanted?: PodTemplate | undefined;
  /** The template of before, if a revert could need it. */
  readonly saved?: SavedTemplate | undefined;
  /** Without those that are being deleted. */
  readonly pods: readonly PodView[];
  /** The ReplicaSets of a Deployment, the ControllerRevisions of a DaemonSet, and of a StatefulSet while its pods are replaced. */
  readonly revisions: readonly RevisionView[];
}

/** The parts of a move that differ by kind. */
export interface MoveKind {
  /** Why a move may not begin now: a rollout under way, or a workload that a person has paused. */
  readonly refuse: (situation: MoveSituation) => string | undefined;
  /** Saved in the intent, to be put back at the end. */
  readonly saveStrategy: (workload: WorkloadView) => MoveIntent['strategy'];
  /** The next step once the intent is written. */
  readonly advance: (situation: MoveSituation, intent: MoveIntent) => MoveStep;
}

export function planMove(situation: MoveSituation, kind: MoveKind): MoveStep {
  const { workload, target } = situation;
  const intent = readIntent(workload.annotations);
  if (readReplacement(workload.annotations) !== undefined)
    return { step: 'wait', reason: `pods of ${workload.ref.name} are being replaced` };
  if (intent === undefined) {
    if (isTarget(workload.template, situation)) return recordUnit(situation);
    if (!workload.isObserved)
      return { step: 'wait', reason: `its controller has not seen the last change of ${workload.ref.name}` };
    const reason = kind.refuse(situation);
    if (reason !== undefined) return { step: 'refuse', reason };
    return writeIntent(situation, { ...target, strategy: kind.saveStrategy(workload) });
  }
  const { strategy, ...begun } = intent;
  // A revert in the middle of a completion turns it round.
  if (!isDeepStrictEqual(begun, target)) return writeIntent(situation, { ...target, strategy });
  return kind.advance(situation, intent);
}

/** The template is already there: only the record may be missing. */
function recordUnit({ workload, target }: MoveSituation): MoveStep {
  if (isDeepStrictEqual(readUnitRecord(workload.annotations), target)) return { step: 'done' };
  return patchWorkload(workload, { annotations: { [UNIT_RECORD]: JSON.stringify(target) } }, {}, 'merge');
}

const writeIntent = ({ workload, saved }: MoveSituation, intent: MoveIntent): MoveStep =>
  patchWorkload(
    workload,
    {
      annotations: {
        [MOVE_INTENT]: JSON.stringify(intent),
        ...(saved && { [SAVED_TEMPLATE]: JSON.stringify(saved) }),
      },
    },
    {},
    'merge',
  );

/** A patch of the workload that is refused if it has changed since. */
export const patchWorkload = (
  { ref, resourceVersion }: WorkloadView,
  metadata: object,
  spec: object,
  type: 'strategic' | 'merge' = 'strategic',
): MoveStep => ({
  ...{ step: 'patch', type },
  patches: [
    { ref, patch: { metadata: { resourceVersion, ...metadata }, ...(Object.keys(spec).length > 0 && { spec }) } },
  ],
});

/** The end of a move, in one patch: no intent any more, and the record of the unit. */
export const finishMove = ({ workload, target }: MoveSituation, spec: object): MoveStep =>
  patchWorkload(workload, { annotations: { [MOVE_INTENT]: null, [UNIT_RECORD]: JSON.stringify(target) } }, spec);

/** The spec that gives a template another image, or replaces it as a whole. */
export const writeTemplate = ({
  container,
  target,
  wanted,
}: Pick<MoveSituation, 'container' | 'target' | 'wanted'>): object =>
  wanted === undefined
    ? { template: { spec: { containers: [{ name: container, image: target.image }] } } }
    : replaceTemplate(wanted);

/** For strategic patches. */
export const replaceTemplate = (template: object): object => ({ template: { ...template, $patch: 'replace' } });

/** The template of a ReplicaSet has a label that tells its pods from those of others. */
export function labelSetTemplate(template: PodTemplate, { template: own }: RevisionView): PodTemplate {
  const hash = own.metadata?.labels?.[HASH_LABEL];
  const labels = { ...template.metadata?.labels, ...(hash !== undefined && { [HASH_LABEL]: hash }) };
  return { ...template, metadata: { ...template.metadata, labels } };
}

const HASH_LABEL = 'pod-template-hash';

/** By which controllers know the revision of a pod. */
export const REVISION_LABEL = 'controller-revision-hash';
const LABELS_AT_ONCE = 100;

/** Gives all pods these labels; controllers then take them for pods of the newest template. */
export function labelPods(pods: readonly PodView[], labels: Readonly<Record<string, string>>): MoveStep | undefined {
  const lacking = pods.filter((pod) => Object.entries(labels).some(([key, value]) => pod.labels[key] !== value));
  const patches = lacking.slice(0, LABELS_AT_ONCE).map(({ ref, resourceVersion }) => ({
    ref,
    patch: { metadata: { resourceVersion, labels } },
  }));
  return patches.length === 0 ? undefined : { step: 'patch', type: 'merge', patches };
}

/** Whether a template is that of the target. */
export const isTarget = (
  template: PodTemplate,
  { container, target, wanted }: Pick<MoveSituation, 'container' | 'target' | 'wanted'>,
): boolean =>
  readTemplateImage(template, container) === target.image &&
  (wanted === undefined || isSameTemplate(template, wanted, container));

/** Whether two templates are equal but for the image of the container and the label that ReplicaSets add. */
export const isSameTemplate = (one: PodTemplate, other: PodTemplate, container: string): boolean =>
  isDeepStrictEqual(normalizeTemplate(one, container), normalizeTemplate(other, container));

function normalizeTemplate({ metadata, spec, $patch: _patch, ...rest }: PodTemplate, container: string): object {
  const { [HASH_LABEL]: _, ...labels } = metadata?.labels ?? {};
  const { labels: _labels, creationTimestamp: _time, ...others } = { creationTimestamp: null, ...metadata };
  const containers = spec.containers.map((one) => (one.name === container ? { ...one, image: '' } : one));
  return { ...rest, metadata: { ...others, labels }, spec: { ...spec, containers } };
}
