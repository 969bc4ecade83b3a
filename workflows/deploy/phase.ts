import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { PhaseWork } from '../../activities/updates';
import { computeBakeMs } from '../../domain/deploy/bake';
import { startPhase, closePhase, passPhase } from '../../domain/deploy/phase';
import { toWant, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import type { DeployInput, DeployRecord } from '../../domain/deploy/state';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { bake, besidePrefetch } from './bake';
import { passGates } from './gates';
import { untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { updatePhase } from './phaseUpdates';
import { fetchAgain } from './prepare';
import { callOrPause } from './refusals';
import type { DeploySession } from './session';
import { runSteps } from './steps';
import { undoSkipped } from './undo';
import { untilFirstIsThere } from './unavailable';
import { stopRest } from './updates';

/** Runs the phases that are left, in order, until the last one is over or the deploy is to stop. */
export async function pushAll(run: DeploySession): Promise<void> {
  for (let index = Math.max(0, run.record.cursor); !run.isStopping(); index += 1) {
    const { plan } = run.record;
    const phase = plan?.phases[index];
    if (!plan || !phase) return;
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
  if (run.isStopping()) return;
  await run.drained();
  await continueAsNew<Deploy>({ ...run.input, policy: run.policy }, { ...run.record, cursor });
}

/**
 * One phase: skipped if already current, else updated until its criterion is met and then baked, with its steps before and after. It
 * begins only once its gates are open. It returns when the next phase may begin or the deploy is to stop; the record says which of the
 * two.
 */
async function runPhase(run: DeploySession, plan: DeployPlan, phase: PhasePlan): Promise<void> {
  await passGates(run, phase);
  if (run.isStopping()) return;
  beginPhase(run, phase);
  const work = () => planPhaseWork(run, plan, phase);
  await untilFirstIsThere(run, phase);
  const counted = await countOutdated(run, work());
  if (run.isStopping() || counted === undefined) return close(run, phase);
  const { units, outdated } = counted;
  if (units === 0 || (outdated === 0 && phase.kind === 'partial'))
    return run.set((record, now) => passPhase(record, phase, units === 0, now));
  if (outdated > 0) run.patch({ outdated: true });
  if (outdated > 0) await runSteps(run, phase, 'pre');
  const isMet = await updatePhase(run, phase, work);
  const isAway = !isMet && !run.isLeft();
  const bakeMs = computeBakeMs(run.input, phase);
  const isUpdated = outdated > 0 && isMet;
  const bakes = !run.isLeft() && isUpdated && bakeMs > 0;
  if (bakes) await besidePrefetch(run, plan, phase, () => bake(run, { ...phase, bakeMs }));
  await untilNoGroupPaused(run);
  await stopRest(run);
  if (bakes) await whilePaused(run);
  if (isUpdated) await runSteps(run, phase, 'post');
  await undoSkipped(run, phase, isAway);
  close(run, phase, isAway);
}

function beginPhase(run: DeploySession, phase: PhasePlan): void {
  run.patch({ cursor: Number(phase.key) });
  run.enter('updating');
  run.set((record, now) => startPhase(record, phase, now));
}

const close = (run: DeploySession, phase: PhasePlan, isAway = false): void =>
  run.set((record, now) => closePhase(record, phase, isAway, now));

const planPhaseWork = (run: DeploySession, plan: DeployPlan, phase: PhasePlan): PhaseWork => ({
  selection: phaseUnits(run.record, phase),
  want: toWant(phase, plan),
});

/**
 * The number of tasks that the phase still has to bring to the version; it is done when none is left (Push article, `needsPush`).
 */
async function countOutdated(run: DeploySession, work: PhaseWork) {
  const answer = await callOrPause(run, 'needsPush', (push) => push.countOutdated(run.call, work));
  return answer?.value;
}
