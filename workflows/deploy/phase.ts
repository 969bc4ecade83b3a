import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { PhaseWork } from '../../activities/updates';
import { computeBakeMs } from '../../domain/deploy/bake';
import { startPhase, endPhase, type PhaseEnd } from '../../domain/deploy/phase';
import { endPauseOfPhase } from '../../domain/deploy/pauseRecord';
import { toWant, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import type { DeployInput, DeployRecord } from '../../domain/deploy/state';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { runBeside, runInterruptible, throwIfInterrupted } from '../interrupts';
import { bake, prefetch } from './bake';
import { passGates } from './gates';
import { untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { updatePhase } from './phaseUpdates';
import { fetchAgain } from './prepare';
import { callOrPause } from './refusals';
import type { DeploySession } from './session';
import { runSteps } from './steps';
import { undoPhase } from './undo';
import { untilFirstIsThere } from './unavailable';
import { stopRest } from './updates';

/** Runs the phases that are left, in order. */
export async function runPhases(run: DeploySession): Promise<void> {
  for (let index = Math.max(0, run.record.cursor); ; index += 1) {
    const { plan } = run.record;
    const phase = plan?.phases[index];
    // A release that supersedes it stops it once its last phase is over.
    if (!plan || !phase) return throwIfInterrupted();
    const isCompletion = phase.kind === 'completion';
    if (isCompletion && index > 0) await fetchAgain(run);
    await runPhase(run, plan, phase);
    if (!isCompletion && workflowInfo().continueAsNewSuggested) await carryOn(run, index + 1);
  }
}

/** The workflow itself (../deploy.ts), as it is called for a new history. */
type Deploy = (input: DeployInput, carried: DeployRecord) => Promise<unknown>;

/** Leaves a long history behind between two phases, when nothing is under way except what the record holds. */
async function carryOn(run: DeploySession, cursor: number): Promise<void> {
  throwIfInterrupted();
  await run.drain();
  await continueAsNew<Deploy>({ ...run.input, policy: run.policy }, { ...run.record, cursor });
}

/** One phase, which begins only once its gates are open. A person may skip it while it is under way. */
async function runPhase(run: DeploySession, plan: DeployPlan, phase: PhasePlan): Promise<void> {
  await passGates(run, phase);
  beginPhase(run, phase);
  let end: PhaseEnd = 'interrupted';
  try {
    const pushed = await runInterruptible(
      () => run.record.control.skipPhase,
      () => performPhase(run, plan, phase),
    );
    if (pushed.kind === 'done') end = pushed.value;
    else run.set(endPauseOfPhase);
    if (end === 'interrupted' || end === 'away') await undoPhase(run, phase);
  } finally {
    run.set((record, now) => endPhase(record, phase, end, now));
  }
}

function beginPhase(run: DeploySession, phase: PhasePlan): void {
  run.patch({ cursor: Number(phase.key) });
  run.enter('updating');
  run.set((record, now) => startPhase(record, phase, now));
}

/** Updates until the criterion is met, and bakes, with the steps before and after. Nothing is to be done if all tasks are current already. */
async function performPhase(run: DeploySession, plan: DeployPlan, phase: PhasePlan): Promise<PhaseEnd> {
  const work = () => planPhaseWork(run, plan, phase);
  await untilFirstIsThere(run, phase);
  const { units, outdated } = await countOutdated(run, work());
  if (units === 0) return 'empty';
  const isOutdated = outdated > 0;
  if (!isOutdated && phase.kind === 'partial') return 'current';
  if (isOutdated) {
    run.patch({ outdated: true });
    await runSteps(run, phase, 'pre');
  }
  const isMet = await updateAndBake(run, plan, phase, work, isOutdated);
  if (isMet && isOutdated) await runSteps(run, phase, 'post');
  return isMet ? 'updated' : 'away';
}

/** @returns whether the criterion was met; it is not if no unit is left. */
async function updateAndBake(
  run: DeploySession,
  plan: DeployPlan,
  phase: PhasePlan,
  work: () => PhaseWork,
  isOutdated: boolean,
): Promise<boolean> {
  const bakeMs = computeBakeMs(run.input, phase);
  let isMet = false;
  let bakes = false;
  try {
    isMet = await updatePhase(run, phase, work);
    bakes = isMet && isOutdated && bakeMs > 0;
    const next = plan.phases[Number(phase.key) + 1];
    if (bakes)
      await runBeside(
        () => (next ? prefetch(run, plan, next) : Promise.resolve()),
        () => bake(run, { ...phase, bakeMs }),
      );
    await untilNoGroupPaused(run);
  } finally {
    await stopRest(run);
  }
  if (bakes) await whilePaused(run);
  return isMet;
}

const planPhaseWork = (run: DeploySession, plan: DeployPlan, phase: PhasePlan): PhaseWork => ({
  selection: phaseUnits(run.record, phase),
  want: toWant(phase, plan),
});

/**
 * The number of tasks that the phase still has to bring to the version; it is done when none is left (Push article, `needsPush`).
 */
const countOutdated = (run: DeploySession, work: PhaseWork) =>
  callOrPause(run, 'needsPush', (push) => push.countOutdated(run.call, work));
