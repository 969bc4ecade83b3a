import { KUBERNETES_LIMITS } from '../../sdk';
import { pendingSlots, unitOf } from '../../sdk/updates';
import type { KubernetesApi } from './client/api';
import { isKubernetesError } from './client/errors';
import { DAEMON_SET_MOVE } from './moves/daemonSet';
import { DEPLOYMENT_MOVE } from './moves/deployment';
import { planMove, type MoveKind, type MoveSituation, type MoveStep } from './moves/move';
import { STATEFUL_SET_MOVE } from './moves/statefulSet';
import { findImage, noteImage, type KubeState, type PendingMove } from './memory';
import { planBegin, planEnd } from './moves/replacement';
import { readIntent, readReplacement, readUnitRecord, type PodRecord, type UnitRecord } from './records';
import type { WorkloadKind } from './settings';
import { readPods, readRevisions, type ClusterReader, type KubeUnit } from './unitReader';
import { readTemplateImage, viewWorkload, type WorkloadView } from './views';
import { findWantedTemplate, saveTemplate } from './wantedTemplate';

/** The templates of workloads: which of them are to change, and their changes. */

const MOVE_KINDS: Readonly<Record<WorkloadKind, MoveKind>> = {
  Deployment: DEPLOYMENT_MOVE,
  StatefulSet: STATEFUL_SET_MOVE,
  DaemonSet: DAEMON_SET_MOVE,
};

/** The version on which a new pod of a workload starts, as the workload records it. */
export function readUnitVersion(workload: WorkloadView, container: string): { version: string; update: string | null } {
  const image = readTemplateImage(workload.template, container) ?? '';
  const record = readUnitRecord(workload.annotations);
  return record?.image === image
    ? { version: record.version, update: record.update }
    : { version: image, update: null };
}

/** Remembers that the template is to follow an update that has set the version of its unit. */
export function notePendingMove(state: KubeState, name: string, before: PendingMove['before']): void {
  const { version, update } = unitOf(state, name);
  if (update === null || (version === before.version && update === before.update)) return;
  const earlier = state.moves?.[name];
  (state.moves ??= {})[name] = {
    ...{ version, update, image: findImage(state, name, version) },
    ...{ from: earlier?.from ?? findImage(state, name, before.version), before: earlier?.before ?? before },
  };
}

/** Compares the template with the memory: a change by others counts, and ends the updates under way. */
export function adoptTemplate(state: KubeState, name: string, workload: WorkloadView, container: string): void {
  const image = readTemplateImage(workload.template, container) ?? '';
  const unit = unitOf(state, name);
  const move = state.moves?.[name];
  const intent = readIntent(workload.annotations);
  const record = readUnitRecord(workload.annotations);
  if (record) noteImage(state, name, record.version, record.image);
  if (intent) {
    noteImage(state, name, intent.version, intent.image);
    if (move === undefined) resumeIntent(state, name, intent, image);
    return;
  }
  if (move && image === move.from && !isMoveWanted(state, name, move)) {
    [unit.version, unit.update] = [move.before.version, move.before.update];
    delete state.moves?.[name];
    return;
  }
  if (move && (image === move.image || image === move.from)) return;
  if (move === undefined && image === findImage(state, name, unit.version)) return;
  delete state.moves?.[name];
  delete state.moved?.[name];
  const actual = readUnitVersion(workload, container);
  [unit.version, unit.update] = [actual.version, actual.update];
  for (const place of state.places?.[name] ?? []) {
    delete place.again;
    place.isOvertaken = true;
  }
  for (const { units } of Object.values(state.updates)) {
    const update = units[name];
    if (update?.state !== 'active' && update?.state !== 'paused') continue;
    update.state = 'failed';
    update.reason = `others have changed the template of ${workload.ref.name} to ${image} in the middle of ${update.version}`;
  }
}

/** The workload knows of a change that the memory has lost. */
function resumeIntent(
  state: KubeState,
  name: string,
  intent: NonNullable<ReturnType<typeof readIntent>>,
  from: string,
): void {
  const unit = unitOf(state, name);
  const { version, update, image } = intent;
  if (update === null) return;
  (state.moves ??= {})[name] = { version, update, image, from, before: { version: unit.version, update: unit.update } };
  [unit.version, unit.update] = [version, update];
}

/** A template does not follow an update that has failed or was stopped before its turn. */
function isMoveWanted(state: KubeState, name: string, { update }: PendingMove): boolean {
  const current = state.updates[update]?.units[name]?.state;
  return current === 'active' || current === 'paused' || current === 'done';
}

/** Whether the template goes before the pods: that of a revert, so that a pod that is replaced meanwhile comes back old. */
export const isTemplateFirst = (state: KubeState, { update }: PendingMove): boolean =>
  (state.updates[update]?.updatedBy.length ?? 0) > 0;

/** Whether all pods of the update that can be reached have its version. */
export function isTemplateDue(state: KubeState, name: string, move: PendingMove): boolean {
  if (state.updates[move.update]?.units[name]?.state === 'paused') return false;
  const { slots } = unitOf(state, name);
  return pendingSlots(state, name, move.update).every((index) => slots[index]?.isUnreachable);
}

export interface MoveOutcome {
  readonly isDone: boolean;
  readonly reason?: string;
  /** A person has to do something first. */
  readonly isRefused?: boolean;
}

/** Steps of one round; a kind has about ten, and one more for each hundred pods. */
const MOST_MOVE_STEPS = 200;

/** Takes the steps that are left, each from a fresh read. A change in between is read again. @throws KubernetesError */
export async function moveTemplate(api: KubernetesApi, unit: KubeUnit, move: PendingMove): Promise<MoveOutcome> {
  const { version, update, image } = move;
  return takeSteps(api, unit, { version, update, image }, (situation) => planMove(situation, MOVE_KINDS[unit.kind]));
}

/** Lets the controller make pods of the target. @throws KubernetesError */
export const beginReplacement = (
  api: KubernetesApi,
  unit: KubeUnit,
  target: UnitRecord,
  record: PodRecord,
): Promise<MoveOutcome> =>
  takeSteps(api, unit, target, (situation) => planBegin({ situation, kind: MOVE_KINDS[unit.kind], record }));

/** Puts the workload back as it was. @throws KubernetesError */
export const endReplacement = (api: KubernetesApi, unit: KubeUnit): Promise<MoveOutcome> =>
  takeSteps(api, { ...unit, mode: 'in-place' }, { version: '', update: null, image: '' }, (situation) => {
    const begun = readReplacement(situation.workload.annotations);
    return begun === undefined ? { step: 'done' } : planEnd(situation, begun);
  });

async function takeSteps(
  api: KubernetesApi,
  unit: KubeUnit,
  target: UnitRecord,
  plan: (situation: MoveSituation) => MoveStep,
): Promise<MoveOutcome> {
  const { kind, namespace, name, container } = unit;
  for (let count = 0; count < MOST_MOVE_STEPS; count += 1) {
    const object = await api.get({ kind, namespace, name });
    if (object === undefined) return { isDone: true };
    const workload = viewWorkload(kind, object);
    const [pods, revisions, wanted] = await Promise.all([
      readPods(api, unit, workload),
      readRevisions(api, workload),
      findWantedTemplate(api, unit, workload, target),
    ]);
    const saved = saveTemplate(unit, workload, target, readUnitVersion(workload, container).version);
    const step = plan({ workload, container, target, wanted, saved, pods, revisions });
    if (step.step === 'done') return { isDone: true };
    if (step.step === 'wait' || step.step === 'refuse')
      return { isDone: false, reason: step.reason, isRefused: step.step === 'refuse' };
    await takeStep(api, step);
  }
  return { isDone: false, reason: 'its template takes many steps' };
}

/** Why the template of a unit could not change now; read before a deploy begins. Views lack parts of templates, which are compared, so only pods may come from one. @throws KubernetesError */
export async function explainBusy(
  { objects, pods: view }: { readonly objects: ClusterReader; readonly pods: ClusterReader },
  unit: KubeUnit,
): Promise<string | undefined> {
  const { kind, namespace, name, container } = unit;
  const object = await objects.get({ kind, namespace, name });
  if (object === undefined) return undefined;
  const workload = viewWorkload(kind, object);
  if (readIntent(workload.annotations) !== undefined || readReplacement(workload.annotations) !== undefined)
    return undefined;
  const [pods, revisions] = await Promise.all([readPods(view, unit, workload), readRevisions(objects, workload)]);
  const size = JSON.stringify(workload.template).length;
  if (unit.mode === 'recreate' && size > KUBERNETES_LIMITS.savedTemplate.max)
    return `the pod template of ${name} has ${size} bytes, and pods can be replaced up to ${KUBERNETES_LIMITS.savedTemplate.max}: leave mode: recreate out, or make it smaller`;
  const target = { version: '', update: null, image: '' };
  return MOVE_KINDS[kind].refuse({ workload, container, target, pods, revisions });
}

async function takeStep(api: KubernetesApi, step: Extract<MoveStep, { step: 'patch' | 'remove' }>): Promise<void> {
  const ignoreChanged = (error: unknown): void => {
    if (!isKubernetesError(error, 'Conflict', 'NotFound')) throw error;
  };
  if (step.step === 'remove') await api.remove(step.ref, { uid: step.uid }).catch(ignoreChanged);
  else
    await Promise.all(
      step.patches.map(async ({ ref, patch }) => {
        await api.patch(ref, patch, { type: step.type }).catch(ignoreChanged);
      }),
    );
}
