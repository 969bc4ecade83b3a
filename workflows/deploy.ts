import {
  CancellationScope,
  continueAsNew,
  getExternalWorkflowHandle,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { cancelled, resultOf, type Ending } from '../domain/deploy/outcome';
import { inheritance } from '../domain/deploy/planRevert';
import { change, note, type DeployInput, type DeployRecord, type DeployResult } from '../domain/deploy/state';
import { releaseId, workflowIds } from '../domain/ids';
import { passGates } from './deploy/gates';
import { baselineChecks, reportOf, watchBaseline } from './deploy/health';
import { whilePaused } from './deploy/pause';
import { runPhase } from './deploy/phase';
import { fetchUnits, prepare } from './deploy/prepare';
import { revert } from './deploy/revert';
import { DeployRun } from './deploy/run';
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
  const hopeless = await acquire(run, held);
  if (hopeless) return hopeless;
  if (run.window) await passGates(run);
  if (run.record.updates.length === 0) await checkBaseline(run);
  await pushAll(run);
  const stop = run.stop();
  if (stop?.kind === 'revert') return revert(run, stop);
  return stop ? cancelled(run.record.control, run.record.updates.length > 0) : { kind: 'succeeded' };
}

const lockId = (run: DeployRun): string => workflowIds.serviceLock(run.input.spec.pushType, run.record.service ?? '');

/** One release at a time per service. What was read before waiting is read again, since another deploy went on meanwhile. */
async function acquire(run: DeployRun, held: Held): Promise<Ending | undefined> {
  if (held() || run.stop()) return undefined;
  run.enter('waiting-lock');
  const { pipeline, release, settings } = run.input;
  await holders.requestLock(lockId(run), { owner: releaseId(pipeline, release), requester: run.workflowId }, settings);
  await run.until(() => held() !== null || run.stop() !== null);
  const stale = held()?.waited || run.record.spans.pausedMs > 0;
  return stale && !run.stop() ? prepare(run, 'again') : undefined;
}

/** A check that is unhealthy already pauses, so that a fix is not reverted to what it fixes. */
async function checkBaseline(run: DeployRun): Promise<void> {
  if (run.stop() || run.input.rollback || baselineChecks(run).length === 0) return;
  run.enter('planning');
  const waited = await watchBaseline(run, () => run.stop() !== null);
  if (waited.kind === 'woken') return;
  const report = reportOf(waited);
  if (report.verdict !== 'unhealthy') return;
  if (run.input.emergency) return run.forgiveUnhealthy('unhealthy before the emergency push');
  run.pause(
    'health',
    `unhealthy before anything was updated: ${report.reason}. Resume to go on; skip-health-check --for deploy if the new version is the fix`,
  );
  await whilePaused(run);
}

async function pushAll(run: DeployRun): Promise<void> {
  for (let index = Math.max(0, run.record.cursor); run.stop() === null; index += 1) {
    const { plan } = run.record;
    const phase = plan?.phases[index];
    if (!plan || !phase) return;
    const isCompletion = phase.kind === 'completion';
    const units = isCompletion && index > 0 ? await fetchUnits(run) : run.record.snapshot;
    await runPhase(run, plan, phase, units);
    if (!isCompletion && workflowInfo().continueAsNewSuggested) await carryOn(run, index + 1);
  }
}

/** A long history is left behind between two phases, where nothing is under way but what the record holds. */
async function carryOn(run: DeployRun, cursor: number): Promise<void> {
  if (run.stop()) return;
  await run.drained();
  await continueAsNew<typeof deploy>({ ...run.input, policy: run.policy }, { ...run.record, cursor });
}

async function finish(run: DeployRun, ending: Ending): Promise<DeployResult> {
  run.patch({});
  const result = withInheritance(run, resultOf(ending, run.input.version, run.record.spans));
  run.set((record, now) =>
    note(change(record, now, { stage: 'ended', result, endedAtMs: now }), now, result.outcome, result.reason),
  );
  retag({ ConveyorState: 'ended', ConveyorOutcome: result.outcome });
  if (run.record.service !== null) await letGo(run);
  await run.drained();
  return result;
}

/** What is left mixed is to be reverted to what ran before, also by whoever deploys next. */
function withInheritance(run: DeployRun, result: DeployResult): DeployResult {
  if (result.outcome === 'succeeded' || result.outcome === 'reverted') return result;
  return { ...result, revertTo: inheritance(run.record, run.input) };
}

/** A lock that is gone already has nothing to release. */
async function letGo(run: DeployRun): Promise<void> {
  await getExternalWorkflowHandle(lockId(run))
    .signal(releaseLockSignal, run.workflowId)
    .catch(() => undefined);
}
