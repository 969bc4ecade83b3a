import { CancellationScope, getExternalWorkflowHandle, setWorkflowOptions } from '@temporalio/workflow';
import { cancelled, resultOf, succeeded, type Ending } from '../domain/deploy/outcome';
import { failurePoint } from '../domain/deploy/failurePoint';
import { inheritance } from '../domain/deploy/planRevert';
import { change, note, type DeployInput, type DeployRecord, type DeployResult } from '../domain/deploy/state';
import { withRemains } from '../domain/deploy/steps';
import { releaseId } from '../domain/ids';
import { checkBaseline } from './deploy/baseline';
import { performCanary } from './deploy/canary';
import { passGates } from './deploy/gates';
import { pushAll } from './deploy/phases';
import { prepare } from './deploy/prepare';
import { revert } from './deploy/revert';
import { DeployRun } from './deploy/run';
import { undoReverted, undoStopped } from './deploy/undo';
import { onSignal } from './inbox';
import { lockGrantedSignal, releaseLockSignal, type LockGrant } from './lock';
import { holders } from './proxies';
import { retag } from './tags';
import { versioned } from './versioning';

/**
 * One deploy: plan, lock, phases, completion; or, from any of them, a revert (DESIGN §5). A child of its release, but
 * acknowledges commands itself. It always ends with a result, also when Temporal cancels it.
 */
export async function deploy(input: DeployInput, carried?: DeployRecord): Promise<DeployResult> {
  const run = new DeployRun(input, carried);
  let grant: Grant | null = carried ? { waited: false } : null;
  onSignal(lockGrantedSignal, (granted) => void (grant = granted));
  CancellationScope.current().cancelRequested.catch(() => run.cancelRequested());
  return CancellationScope.nonCancellable(async () => {
    const ending = (await prepare(run)) ?? (await perform(run, () => grant));
    return finish(run, ending);
  });
}
setWorkflowOptions(versioned('PINNED'), deploy);

/** What the lock's signal said; a deploy that continued as new holds it already. */
type Grant = Pick<LockGrant, 'waited'>;
type Held = () => Grant | null;

async function perform(run: DeployRun, held: Held): Promise<Ending> {
  if (run.input.canary) return performCanary(run);
  const hopeless = await acquire(run, held);
  if (hopeless) return hopeless;
  if (run.window) await passGates(run);
  if (run.record.updates.length === 0) await checkBaseline(run);
  await pushAll(run);
  await undoStopped(run);
  const stop = run.stop();
  if (stop?.kind === 'revert') return undoReverted(run, await revert(run, stop));
  return stop ? cancelled(run.record.control, run.record.updates.length > 0) : succeeded(run.input, run.record);
}

/** One release at a time per service. What was read before waiting is read again, since another deploy went on meanwhile. */
async function acquire(run: DeployRun, held: Held): Promise<Ending | undefined> {
  if (held() || run.stop()) return undefined;
  run.enter('waiting-lock');
  const { pipeline, release, settings } = run.input;
  await holders.requestLock(run.lockId, { owner: releaseId(pipeline, release), requester: run.workflowId }, settings);
  await run.until(() => held() !== null || run.stop() !== null);
  const stale = held()?.waited || run.record.spans.pausedMs > 0;
  return stale && !run.stop() ? prepare(run, 'again') : undefined;
}

async function finish(run: DeployRun, ending: Ending): Promise<DeployResult> {
  run.patch({});
  const result = withInheritance(run, withProgress(run, resultOf(ending, run.input.version, run.record)));
  run.set((record, now) =>
    note(change(record, now, { stage: 'ended', result, endedAtMs: now }), now, result.outcome, result.reason),
  );
  retag({ ConveyorState: 'ended', ConveyorOutcome: result.outcome });
  if (run.record.service !== null) await letGo(run);
  await run.drained();
  return result;
}

function withProgress(run: DeployRun, result: DeployResult): DeployResult {
  const progress = result.outcome === 'succeeded' || run.input.canary ? null : failurePoint(run.record);
  const told = withRemains(result, run.record);
  return progress === null ? told : { ...told, progress };
}

/** What is left mixed is to be reverted to what ran before, also by whoever deploys next. */
function withInheritance(run: DeployRun, result: DeployResult): DeployResult {
  if (result.outcome === 'succeeded' || result.outcome === 'reverted' || run.input.canary) return result;
  return { ...result, revertTo: inheritance(run.record, run.input) };
}

/** Holder or guest: it leaves. A lock that is gone already has nothing to release. */
async function letGo(run: DeployRun): Promise<void> {
  await getExternalWorkflowHandle(run.lockId)
    .signal(releaseLockSignal, run.workflowId)
    .catch(() => undefined);
}
