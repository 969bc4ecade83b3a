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
import { patientActions } from '../proxies';
import { whileHalted } from './gates';
import { waitWatching, whilePaused } from './pause';
import { pauseRefused } from './refusals';
import type { DeploySession } from './session';
import { abandonStep, actionRun, performStep, type StepEnd } from './stepCalls';

/**
 * Runs the steps before the updates of a phase, or after its bake, one after the other. No step begins while the deploy is paused; those
 * before the updates do not begin outside its window either. A running step continues. It also returns if the phase is left, and then the
 * running step is stopped. `undoSteps` undoes the effects of the steps before.
 */
export async function runSteps(run: DeploySession, phase: PhasePlan, time: StepTime): Promise<void> {
  const steps = listPhaseSteps(phase, time);
  if (steps.length === 0 || run.isLeft()) return;
  const { snapshot } = phaseUnits(run.record, phase);
  const facts = stepFacts(run.input, phase, snapshot, run.record.skipped);
  for (const place of steps) {
    await untilPassed(run, place, facts);
    if (run.isLeft()) return;
  }
  if (time === 'pre') run.enter('updating');
  else await whilePaused(run);
}

/**
 * When a person resumes, a failed step runs again under a new run id. If its run may still continue, the same run is asked for again, so that
 * nothing is done twice. If that run has failed by then, it was stopped, which is no verdict.
 */
async function untilPassed(run: DeploySession, place: StepPlace, facts: StepFacts): Promise<void> {
  let mayHaveStopped = false;
  for (let attempt = 1; ;) {
    await (place.time === 'pre' ? whileHalted(run) : whilePaused(run));
    if (run.isLeft()) return;
    const of = stepRun(run.workflowId, place, attempt);
    beginStep(run, place, of);
    const end = await performUntilAnswered(run, of, facts);
    run.patch({ step: null });
    if (end.kind === 'left') return;
    if (end.kind === 'passed') return run.note('step-passed', `${of.title}: ${end.message}`);
    if (end.kind !== 'failed' || !mayHaveStopped) await fail(run, place, of, end);
    if (run.isLeft()) return;
    mayHaveStopped = end.kind === 'refused' && end.mayRun && patched(SAME_RUN);
    if (!mayHaveStopped) attempt += 1;
  }
}

/** Before 0.3, the next attempt had a run id of its own, and its failure was a verdict. */
const SAME_RUN = 'a step that may run on is asked for again';

function beginStep(run: DeploySession, place: StepPlace, { title }: StepRun): void {
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
async function performUntilAnswered(run: DeploySession, of: StepRun, facts: StepFacts): Promise<StepEnd> {
  for (;;) {
    const end = await performWatched(run, of, facts);
    if (end.kind !== 'unavailable') return end;
    if (!(await answers(run, of, facts, end.message))) return { kind: 'left' };
  }
}

/** Health checks continue meanwhile, and may revert or pause the deploy. */
async function performWatched(run: DeploySession, of: StepRun, facts: StepFacts): Promise<StepEnd> {
  let end: StepEnd | undefined;
  const over = () => end !== undefined;
  const performing = performStep(run, of, facts).then((ended) => void (end = ended));
  const wait = { summary: formatSummary(`${of.title}: health is still checked`), untilMs: null };
  while (!over() && run.stop() === null) await (run.paused ? whilePaused(run, over) : waitWatching(run, wait, over));
  await performing;
  return end ?? { kind: 'left' };
}

/** Waits until a service answers again; false if the phase is left first. */
async function answers(run: DeploySession, of: StepRun, facts: StepFacts, why: string): Promise<boolean> {
  const name = stepName(of.call);
  run.pauseOn(`${name} does not answer; trying until it does: ${why}`, { on: stepWords(of.call) });
  const asked = await run.waitFor(() => patientActions.askAction(actionRun(run, of, facts)));
  const isWanted = asked.kind !== 'woken';
  if (run.paused?.by === 'dependency' && run.stop() === null)
    run.unpause(isWanted ? `${name} answers again` : `${name} is not needed any more`);
  if (!isWanted) abandonStep(run, of, facts);
  return isWanted;
}

/** A step that could not run is no evidence about the change, so it never reverts; a person has to look. */
async function fail(
  run: DeploySession,
  { step }: StepPlace,
  { title, call }: StepRun,
  { kind, message }: Exclude<StepEnd, { kind: 'left' }>,
): Promise<void> {
  if (kind === 'refused') {
    await pauseRefused(run, `${title} cannot be run: ${message}`, { on: stepWords(call) });
  } else {
    const reason = `${title} failed: ${message}`;
    run.note('step-failed', reason);
    if (!run.revertOrPause({ action: step.onFailure, reason }, 'action')) return;
    await whilePaused(run, run.isLeft);
  }
  // The phase was left, so the pause has no purpose any more.
  const isOurs = run.paused?.by === 'action' || run.paused?.by === 'dependency';
  if (run.isLeft() && !run.isStopping() && isOurs) run.unpause('the phase is skipped');
}
