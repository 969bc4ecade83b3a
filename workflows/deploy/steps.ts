import type { PhasePlan } from '../../domain/deploy/plan';
import {
  stepFacts,
  stepName,
  stepRun,
  stepsOf,
  withStanding,
  type StepFacts,
  type StepPlace,
  type StepRun,
  type StepTime,
} from '../../domain/deploy/steps';
import { change } from '../../domain/deploy/state';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { summaryOf } from '../../domain/markdown';
import { patientActions } from '../proxies';
import { resumed } from './dependable';
import { whileHalted } from './gates';
import { waitWatching, whilePaused } from './pause';
import type { DeployRun } from './run';
import { abandonStep, actionRun, performStep, type StepEnd } from './stepCalls';

/**
 * Runs the steps before the updates of a phase, or after its bake, one after the other. None begins while the deploy is paused, or
 * before the updates outside of its window; one that runs goes on. Returns also when the phase is left, and then what ran is
 * stopped. What the steps before did is undone by `undoSteps`.
 */
export async function runSteps(run: DeployRun, phase: PhasePlan, time: StepTime): Promise<void> {
  const steps = stepsOf(phase, time);
  if (steps.length === 0 || isLeft(run)) return;
  const { snapshot } = phaseUnits(run.record, phase);
  const facts = stepFacts(run.input, phase, snapshot, run.record.skipped);
  for (const place of steps) {
    await untilPassed(run, place, facts);
    if (isLeft(run)) return;
  }
  if (time === 'pre') run.enter('updating');
  else await whilePaused(run);
}

const isLeft = (run: DeployRun): boolean => run.stop() !== null || run.record.control.skipPhase !== null;

/** A step that failed is run again when a person resumes, under a run id of its own. */
async function untilPassed(run: DeployRun, place: StepPlace, facts: StepFacts): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await (place.time === 'pre' ? whileHalted(run, () => isLeft(run)) : whilePaused(run));
    if (isLeft(run)) return;
    const of = stepRun(run.workflowId, place, attempt);
    begin(run, place, of);
    const end = await insisted(run, of, facts);
    run.patch({ step: null });
    if (end.kind === 'left') return;
    if (end.kind === 'passed') return run.note('step-passed', `${of.title}: ${end.message}`);
    await fail(run, place, of, end);
    if (isLeft(run)) return;
  }
}

function begin(run: DeployRun, place: StepPlace, { title }: StepRun): void {
  run.enter(place.time === 'pre' ? 'preprocessing' : 'postprocessing');
  run.set((record, now) =>
    change(record, now, {
      step: stepName(place.step),
      standing: withStanding(record.standing, place, record.skipped),
    }),
  );
  run.note('step-started', title);
}

/** Runs an attempt for as long as it takes; a service that is silent shows as a pause until it answers (docs/design/overview.md#failures). */
async function insisted(run: DeployRun, of: StepRun, facts: StepFacts): Promise<StepEnd> {
  for (;;) {
    const end = await watched(run, of, facts);
    if (end.kind !== 'unavailable') return end;
    if (!(await answers(run, of, facts, end.message))) return { kind: 'left' };
  }
}

/** Health goes on being checked meanwhile, and may revert or pause the deploy. */
async function watched(run: DeployRun, of: StepRun, facts: StepFacts): Promise<StepEnd> {
  let end: StepEnd | undefined;
  const over = () => end !== undefined;
  const performing = performStep(run, of, facts, () => isLeft(run)).then((ended) => void (end = ended));
  const wait = { summary: summaryOf(`${of.title}: health goes on being checked`), untilMs: null };
  while (!over() && run.stop() === null) await (run.paused ? whilePaused(run, over) : waitWatching(run, wait, over));
  await performing;
  return end ?? { kind: 'left' };
}

/** Waits until a service answers again; false when the phase is left before. */
async function answers(run: DeployRun, of: StepRun, facts: StepFacts, why: string): Promise<boolean> {
  const name = stepName(of.call);
  run.pause('dependency', `${name} does not answer; trying until it does: ${why}`);
  const asked = await run.waitFor(
    () => patientActions.askAction(actionRun(run, of, facts)),
    () => isLeft(run),
  );
  const isWanted = asked.kind !== 'woken';
  if (run.paused?.by === 'dependency' && run.stop() === null)
    run.unpause(isWanted ? `${name} answers again` : `${name} is not needed any more`);
  if (!isWanted) abandonStep(run, of, facts);
  return isWanted;
}

/** What could not be run says nothing of the change, so that it never reverts; a person has to look. */
async function fail(
  run: DeployRun,
  { step }: StepPlace,
  { title }: StepRun,
  { kind, message }: Exclude<StepEnd, { kind: 'left' }>,
): Promise<void> {
  if (kind === 'refused') {
    run.pause('dependency', `${title} cannot be run: ${message}`);
    await resumed(run, () => isLeft(run));
  } else {
    const reason = `${title} failed: ${message}`;
    run.note('step-failed', reason);
    const kept = step.onFailure === 'revert' ? run.condemn(reason) : reason;
    if (kept === undefined) return;
    run.pause('action', kept);
    await whilePaused(run, () => isLeft(run));
  }
  // Nobody waits for it any more.
  const isOurs = run.paused?.by === 'action' || run.paused?.by === 'dependency';
  if (isLeft(run) && run.stop() === null && isOurs) run.unpause('the phase is skipped');
}
