import type { Unit } from '../fleet/unit';
import { deployId, releaseId } from '../ids';
import type { StepCall, StepSpec } from '../spec/deploy';
import type { DeployPlan, PhasePlan } from './plan';
import { partOf, type Selection, type Snapshot } from './snapshot';
import type { DeployInput, DeployRecord, DeployResult, StepToUndo } from './state';

/** Steps run before the updates of a phase (`pre`) and after its bake (`post`): docs/reference/pipelines.md#before-and-after-a-phase. */
export type StepTime = 'pre' | 'post';

/** A step of a phase, or its undoing, as it is to be run. */
export interface StepRun {
  /** The same for every repetition of an attempt, and for no other. */
  readonly runId: string;
  /** `half: before the updates: shift-traffic` */
  readonly title: string;
  readonly phase: PhasePlan;
  readonly call: StepCall;
  readonly attempt: number;
  /** ms; null: as long as it takes. */
  readonly timeoutMs: number | null;
  /** It undoes what another did. */
  readonly back?: true;
}

/** A step in its phase. */
export interface StepPlace {
  readonly phase: PhasePlan;
  readonly time: StepTime;
  readonly index: number;
  readonly step: StepSpec;
}

/** The name of its service or program. */
export const stepName = (call: StepCall): string => ('service' in call ? call.service : (call.command[0] ?? ''));

/** The same, with what it is. */
export const stepWords = (call: StepCall): string => `${'service' in call ? 'service' : 'command'} ${stepName(call)}`;

export const stepsOf = (phase: PhasePlan, time: StepTime): StepPlace[] =>
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

/** With a step that begins; one that begins again stands once. */
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

/** What is to be undone, the last that began first: of one phase, or of all. */
export const dueUndos = (stepsToUndo: readonly StepToUndo[], phase?: number): StepToUndo[] =>
  stepsToUndo.filter((each) => !each.failed && (phase === undefined || each.phase === phase)).reverse();

/** How long an undo may take whose step has no limit: it keeps a deploy that is over from ending, and others from their turn. */
const UNDO_MS = 300_000;

/** One try to undo a step, which takes no longer than the step itself may. */
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

/** The result of a deploy, saying also what of it is still there although it should not be. */
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

/** What a step receives about its phase; a script gets it as `CONVEYOR_*`, a service beside what is written under `with`. */
export interface StepFacts {
  readonly pipeline: string;
  readonly release: string;
  readonly deploy: string;
  readonly phase: string;
  readonly version: string;
  /** The units that the phase touches, without those that are left out. */
  readonly selection: Selection;
  /** What counts as the version before where the units ran several, or none. */
  readonly lastGood: string | null;
}

/** What a step gets to know of its units. */
export interface StepUnits {
  /** Left out where the units ran several versions, or none, and no good one is known. */
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
    selection: { snapshot, parts: [partOf(phase, skipped)] },
    lastGood,
  };
}
