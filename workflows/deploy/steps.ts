import { patched } from '@temporalio/workflow';
import type { PhasePlan } from '../../domain/deploy/plan';
import {
  stepFacts,
  stepName,
  stepRun,
  listPhaseSteps,
  stepWords,
  withStepToUndo,
  type StepFacts,
  type StepPlace,
  type StepRun,
  type StepTime,
} from '../../domain/deploy/steps';
import { change } from '../../domain/deploy/state';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { formatSummary } from '../../domain/markdown';
import { STOPPED_RUN } from '../actionRuns';
import { isInterruption, runBeside, throwIfInterrupted } from '../interrupts';
import { patientActions } from '../proxies';
import { whileHalted } from './gates';
import { waitWatching, whilePaused } from './pause';
import { pauseRefused } from './refusals';
import type { StepRunner } from './needs';
import { abandonStep, buildActionRun, performStep, type StepEnd } from './stepCalls';
import { revertOrPause } from './verdicts';

/**
 * Runs the steps before the updates of a phase, or after its bake, one after the other. No step begins while the deploy is paused; those
 * before the updates do not begin outside its window either. A running step continues; an interruption stops it. `undoSteps` undoes the
 * effects of the steps before.
 */
export async function runSteps(run: StepRunner, phase: PhasePlan, time: StepTime): Promise<void> {
  const steps = listPhaseSteps(phase, time);
  if (steps.length === 0) return;
  const { snapshot } = phaseUnits(run.record, phase);
  const facts = stepFacts(run.input, phase, snapshot, run.record.skipped);
  for (const place of steps) await untilPassed(run, place, facts);
  if (time === 'pre') run.enter('updating');
  else await whilePaused(run);
}

/**
 * When a person resumes, a failed step runs again under a new run id. If its service refused to answer, the same run is asked for again, so that
 * nothing is done twice: it may still continue, or have ended before it was stopped. That it was stopped is no verdict.
 */
async function untilPassed(run: StepRunner, place: StepPlace, facts: StepFacts): Promise<void> {
  let isAskedAgain = false;
  // As deploys did that 0.3.0 began: after a confirmed stop the run has done nothing, and each failure after a refusal is a stop.
  let believesStops = true;
  for (let attempt = 1; ;) {
    await (place.time === 'pre' ? whileHalted(run) : whilePaused(run));
    throwIfInterrupted();
    const of = stepRun(run.workflowId, place, attempt);
    beginStep(run, place, of);
    const end = await performUntilAnswered(run, of, facts).finally(() => run.patch({ step: null }));
    if (end.kind === 'passed') return run.note('step-passed', `${of.title}: ${end.message}`);
    // A resume that waits for its verdict was meant for another pause.
    if (run.record.control.resuming) await whilePaused(run);
    const wasStopped = isAskedAgain && end.kind === 'failed' && (believesStops || end.message === STOPPED_RUN);
    if (!wasStopped) await fail(run, place, of, end);
    if (end.kind === 'refused' && 'service' in of.call) believesStops = !patched('stop-leaves-ended-run');
    isAskedAgain = end.kind === 'refused' && (end.mayRun || !believesStops);
    if (!isAskedAgain) attempt += 1;
  }
}

function beginStep(run: StepRunner, place: StepPlace, { title }: StepRun): void {
  run.enter(place.time === 'pre' ? 'preprocessing' : 'postprocessing');
  run.set((record, now) =>
    change(record, now, {
      step: stepName(place.step),
      standing: withStepToUndo(record.standing, place, record.skipped),
    }),
  );
  run.note('step-started', title);
}

/** Runs an attempt for as long as it takes. While a service is silent, the deploy shows as paused (docs/design/overview.md#failures). */
async function performUntilAnswered(run: StepRunner, of: StepRun, facts: StepFacts): Promise<StepEnd> {
  for (;;) {
    const end = await runBeside(
      () => watchHealth(run, of),
      () => performStep(run, of, facts),
    );
    if (end.kind !== 'unavailable') return end;
    await untilAnswered(run, of, facts, end.message);
  }
}

/** Health checks continue during a step, and may revert or pause the deploy. */
async function watchHealth(run: StepRunner, { title }: StepRun): Promise<never> {
  const wait = { summary: formatSummary(`${title}: health is still checked`), untilMs: null };
  for (;;) await (run.paused ? whilePaused(run) : waitWatching(run, wait));
}

/** Waits until a service answers again. */
async function untilAnswered(run: StepRunner, of: StepRun, facts: StepFacts, why: string): Promise<void> {
  const name = stepName(of.call);
  run.pauseOn(`${name} does not answer; trying until it does: ${why}`, { on: stepWords(of.call) });
  try {
    await run.settle(() => patientActions.askAction(buildActionRun(run, of, facts)));
  } catch (error) {
    if (isInterruption(error)) abandonStep(run, of, facts);
    throw error;
  }
  if (run.paused?.by === 'dependency') run.unpause(`${name} answers again`);
}

/** A step that could not run is no evidence about the change, so it never reverts; a person has to look. */
async function fail(
  run: StepRunner,
  { step }: StepPlace,
  { title, call }: StepRun,
  { kind, message }: StepEnd,
): Promise<void> {
  if (kind === 'refused') return pauseRefused(run, `${title} cannot be run: ${message}`, stepWords(call));
  const reason = `${title} failed: ${message}`;
  run.note('step-failed', reason);
  revertOrPause(run, { action: step.onFailure, reason }, 'action');
  await whilePaused(run);
}
