import type { Unit } from '../fleet/unit';
import { deployId, releaseId } from '../ids';
import type { StepCall, StepSpec } from '../spec/deploy';
import type { DeployPlan, PhasePlan } from './plan';
import { toPart, type Selection, type Snapshot } from './snapshot';
import type { DeployInput, DeployRecord, DeployResult, StepToUndo } from './state';

/** Steps run before the updates of a phase (`pre`) and after its bake (`post`): docs/reference/pipelines.md#before-and-after-a-phase. */
export type StepTime = 'pre' | 'post';

/** A run of a step of a phase, or of its undo. */
export interface StepRun {
  /** The same for every repetition of an attempt, and for no other attempt. */
  readonly runId: string;
  /** `half: before the updates: shift-traffic` */
  readonly title: string;
  readonly phase: PhasePlan;
  readonly call: StepCall;
  readonly attempt: number;
  /** ms; null: no limit. */
  readonly timeoutMs: number | null;
  /** It undoes another step. */
  readonly back?: true;
}

/** The place of a step in its phase. */
export interface StepPlace {
  readonly phase: PhasePlan;
  readonly time: StepTime;
  readonly index: number;
  readonly step: StepSpec;
}

/** The name of the service or program of a step. */
export const stepName = (call: StepCall): string => ('service' in call ? call.service : (call.command[0] ?? ''));

/** The same name, preceded by its kind. */
export const stepWords = (call: StepCall): string => `${'service' in call ? 'service' : 'command'} ${stepName(call)}`;

export const listPhaseSteps = (phase: PhasePlan, time: StepTime): StepPlace[] =>
  (phase[time] ?? []).map((step, index) => ({ phase, time, index, step }));

/** @param deploy the workflow id of the deploy. */
export const stepRun = (deploy: string, { phase, time, index, step }: StepPlace, attempt: number): StepRun => ({
  runId: `${deploy}/${phase.key}/${time}/${index}/${attempt}`,
  title: `${phase.name}: ${WHEN[time]}: ${stepName(step)}`,
  phase,
  call: step,
  attempt,
  timeoutMs: step.timeout ?? null,
});

const WHEN: Readonly<Record<StepTime, string>> = { pre: 'before the updates', post: 'after the bake' };

/** Adds a step that begins. A step that begins again is listed once. */
export function withStepToUndo(
  stepsToUndo: readonly StepToUndo[],
  { phase, time, index, step }: StepPlace,
  skipped: readonly string[] = [],
): readonly StepToUndo[] {
  const at = { phase: Number(phase.key), step: index };
  if (time !== 'pre' || step.undo === undefined || stepsToUndo.some(isAt(at))) return stepsToUndo;
  return [...stepsToUndo, { ...at, tries: 0, failed: false, ...(skipped.length > 0 ? { skipped } : {}) }];
}

const isAt =
  ({ phase, step }: Pick<StepToUndo, 'phase' | 'step'>) =>
  (other: StepToUndo): boolean =>
    other.phase === phase && other.step === step;

export const withTry = (stepsToUndo: readonly StepToUndo[], of: StepToUndo): readonly StepToUndo[] =>
  stepsToUndo.map((each) => (isAt(of)(each) ? { ...each, tries: each.tries + 1 } : each));

export const withFailed = (stepsToUndo: readonly StepToUndo[], of: StepToUndo): readonly StepToUndo[] =>
  stepsToUndo.map((each) => (isAt(of)(each) ? { ...each, failed: true } : each));

export const withoutStepToUndo = (stepsToUndo: readonly StepToUndo[], of: StepToUndo): readonly StepToUndo[] =>
  stepsToUndo.filter((each) => !isAt(of)(each));

/** The steps to undo, in reverse order of their beginnings: of one phase, or of all. */
export const dueUndos = (stepsToUndo: readonly StepToUndo[], phase?: number): StepToUndo[] =>
  stepsToUndo.filter((each) => !each.failed && (phase === undefined || each.phase === phase)).reverse();

/** The limit for the undo of a step without one: an undo keeps an ended deploy from closing, and others from their turn. */
const UNDO_MS = 300_000;

/** One try to undo a step, with the time limit of the step itself. */
export function undoRun(deploy: string, plan: DeployPlan, of: StepToUndo): StepRun | undefined {
  const phase = plan.phases[of.phase];
  const step = phase?.pre?.[of.step];
  if (phase === undefined || step?.undo === undefined) return undefined;
  const attempt = of.tries + 1;
  return {
    runId: `${deploy}/${phase.key}/undo/${of.step}/${attempt}`,
    title: `${phase.name}: undo of ${stepName(step)}`,
    phase,
    call: step.undo,
    attempt,
    timeoutMs: step.timeout ?? UNDO_MS,
    back: true,
  };
}

/** The result of a deploy, with the effects of steps that remain although they should not. */
export function withRemains(
  result: DeployResult,
  { plan, standing }: Pick<DeployRecord, 'plan' | 'standing'>,
): DeployResult {
  const remains = standing
    .filter(({ failed }) => failed)
    .flatMap(({ phase, step }) => {
      const of = plan?.phases[phase];
      const call = of?.pre?.[step];
      return of && call ? [`${stepName(call)} of ${of.name}`] : [];
    });
  return remains.length === 0 ? result : { ...result, reason: `${result.reason}; not undone: ${remains.join(', ')}` };
}

/** The facts about its phase that a step receives: a script as `CONVEYOR_*`, a service in addition to `with`. */
export interface StepFacts {
  readonly pipeline: string;
  readonly release: string;
  readonly deploy: string;
  readonly phase: string;
  readonly version: string;
  /** The units in the phase, without those that are left out. */
  readonly selection: Selection;
  /** The previous version if the units ran several, or none. */
  readonly lastGood: string | null;
}

/** The facts about its units that a step receives. */
export interface StepUnits {
  /** Left out if the units ran several versions, or none, and no good version is known. */
  readonly previousVersion?: string;
  readonly units: readonly string[];
}

export function stepUnits(units: readonly Unit[], lastGood: string | null): StepUnits {
  const before = [...new Set(units.map((unit) => (unit.mixed ? null : unit.version)))];
  const previousVersion = (before.length === 1 ? before[0] : null) ?? lastGood;
  return { ...(previousVersion === null ? {} : { previousVersion }), units: units.map(({ id }) => id) };
}

export function stepFacts(
  {
    pipeline,
    release,
    action,
    version,
    lastGood,
  }: Pick<DeployInput, 'pipeline' | 'release' | 'action' | 'version' | 'lastGood'>,
  phase: PhasePlan,
  snapshot: Snapshot,
  skipped: readonly string[] = [],
): StepFacts {
  return {
    pipeline,
    release: releaseId(pipeline, release),
    deploy: deployId(pipeline, release, action),
    phase: phase.name,
    version,
    selection: { snapshot, parts: [toPart(phase, skipped)] },
    lastGood,
  };
}
