import { CancellationScope, getExternalWorkflowHandle, setWorkflowOptions } from '@temporalio/workflow';
import { createCancelledEnding, createSuccessEnding, type Ending } from '../domain/deploy/outcome';
import { buildBroughtReport, deployResult } from '../domain/deploy/result';
import { change, note, type DeployInput, type DeployRecord, type DeployResult } from '../domain/deploy/state';
import { findRevert, findStop } from '../domain/deploy/stop';
import { releaseId } from '../domain/ids';
import { deployMeasures } from '../domain/metrics';
import { deployTrace } from '../domain/trace';
import { deployStatus } from '../domain/deploy/view';
import { keepCanary, undoCanary } from './deploy/canary';
import { checkBaseline, passGates } from './deploy/gates';
import { runPhases } from './deploy/phase';
import { introduce, prepare } from './deploy/prepare';
import { removeEveryUnit, stopRemoval } from './deploy/removal';
import { revert } from './deploy/revert';
import { handleMessages } from './deploy/messages';
import { DeploySession } from './deploy/session';
import { undoReverted, undoStopped } from './deploy/undo';
import { runInterruptible } from './interrupts';
import { releaseLockSignal } from './lock';
import { measure } from './measure';
import { holders } from './proxies';
import { retag } from './tags';
import { traceEnded } from './trace';
import { buildVersioningOptions } from './versioning';
import { until } from './waitFor';

/**
 * One deploy: plan, lock, phases, completion; a revert may follow any of them (docs/design/deploy.md). It is a child of its release, but
 * acknowledges commands itself. It always ends with a result, even if Temporal cancels it.
 */
export async function deploy(input: DeployInput, carried?: DeployRecord): Promise<DeployResult> {
  const run = new DeploySession(input, carried);
  handleMessages(run);
  return CancellationScope.nonCancellable(async () => finishDeploy(run, await performDeploy(run)));
}
setWorkflowOptions(buildVersioningOptions('deploy'), deploy);

/** Runs the plan until the version is everywhere or a reason stops it. A cancelled deploy leaves its tasks as they are; a reverted one brings them back. */
async function performDeploy(run: DeploySession): Promise<Ending> {
  const pushed = await runInterruptible(
    () => findStop(run.record),
    () => (run.input.removal ? runRemoval(run) : runPlan(run)),
  );
  if (run.input.canary) return undoCanary(run, pushed);
  if (pushed.kind === 'done') return pushed.value;
  if (run.input.removal) return stopRemoval(run);
  await undoStopped(run);
  const revertReason = findRevert(run.record);
  if (revertReason === null) return createCancelledEnding(run.record.control, run.record.updates.length > 0);
  const ending = await revert(run, revertReason);
  await undoReverted(run);
  return ending;
}

async function runPlan(run: DeploySession): Promise<Ending> {
  const refused = await introduce(run);
  if (refused) return refused;
  if (!run.input.canary) await acquireLock(run);
  const impossible = await prepare(run);
  if (impossible) return impossible;
  if (run.window) await passGates(run);
  if (run.record.updates.length === 0) await checkBaseline(run);
  await runPhases(run);
  return run.input.canary ? keepCanary(run) : createSuccessEnding(run.input, run.record);
}

/** A pipeline that is undeployed removes its units. */
async function runRemoval(run: DeploySession): Promise<Ending> {
  const refused = await introduce(run);
  if (refused) return refused;
  await acquireLock(run);
  return removeEveryUnit(run);
}

/**
 * One release at a time per service. The units are read once the lock is held, since another deploy may have continued
 * while this one waited.
 */
async function acquireLock(run: DeploySession): Promise<void> {
  if (run.holdsLock) return;
  run.enter('waiting-lock');
  const { pipeline, release, settings } = run.input;
  const asking = { owner: releaseId(pipeline, release), requester: run.workflowId, urgent: run.isUrgent };
  // The lock may have been terminated before it answered. Asking again has no other effect.
  do await holders(run.isUrgent).requestLock(run.lockId, asking, settings);
  while (
    !(await until(() => run.holdsLock, { afterMs: settings.reconcileIntervalMs, summary: 'ask for the lock again' }))
  );
}

async function finishDeploy(run: DeploySession, ending: Ending): Promise<DeployResult> {
  // Accounts for the time up to now, which the result contains.
  run.patch({});
  const result = deployResult(ending, run.input, run.record);
  run.set((record, now) =>
    note(change(record, now, { stage: 'ended', result, endedAtMs: now }), now, result.outcome, result.reason),
  );
  retag({ ConveyorState: 'ended', ConveyorOutcome: result.outcome });
  measure(...deployMeasures(result));
  traceEnded(deployTrace(deployStatus(run.record, run.input, Date.now())));
  if (run.record.service !== null) await releaseLock(run, result);
  await run.drain();
  return result;
}

/**
 * Frees the lock, and reports the versions that the deploy brought. A canary leaves it, and reports none. If the lock is already gone,
 * there is nothing to free.
 */
async function releaseLock(run: DeploySession, result: DeployResult): Promise<void> {
  const brought = buildBroughtReport(run.input, run.record, result);
  await getExternalWorkflowHandle(run.lockId)
    .signal(releaseLockSignal, run.workflowId, ...(brought ? [brought] : []))
    .catch(() => undefined);
}
