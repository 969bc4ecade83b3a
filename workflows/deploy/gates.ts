import { CancellationScope } from '@temporalio/workflow';
import { withForgiven } from '../../domain/deploy/overrides';
import { listSnapshotIds } from '../../domain/deploy/snapshot';
import { releaseId } from '../../domain/ids';
import { canariesOn, type Canary } from '../../domain/mutex';
import { describeFreeze } from '../../domain/pipeline/freeze';
import { withBlackout } from '../../domain/release/openTimes';
import { formatTime, withReason } from '../../domain/text';
import type { PhasePlan } from '../../domain/deploy/plan';
import { throwIfInterrupted } from '../interrupts';
import { holders } from '../proxies';
import { listBaselineChecks, toHealthReport, watchBaseline } from './health';
import { waitWatching, whilePaused } from './pause';
import type { UpdateRunner } from './needs';
import { SKEW_MS } from './window';

/**
 * Waits until the next phase may begin: the deploy is not paused, the pipeline is not frozen, and the window is open; for the
 * completion, no canary may be in the way.
 */
export async function passGates(run: UpdateRunner, phase?: PhasePlan): Promise<void> {
  const isFrozen = () => run.record.control.frozen !== null;
  for (;;) {
    await whilePaused(run);
    // If no gate waited, no wait has looked for a reason: a newer release may have superseded the deploy.
    throwIfInterrupted();
    const { frozen } = run.record.control;
    if (frozen) run.pause('freeze', withReason(describeFreeze(frozen), frozen.reason));
    else if (await untilOpen(run, isFrozen)) continue;
    else if (phase?.kind !== 'completion' || !(await awaitCanaryDepartures(run, isFrozen))) return;
  }
}

/** Waits while the phase under way may start no update, because the deploy is paused or its window is closed. */
export async function whileHalted(run: UpdateRunner): Promise<void> {
  do await whilePaused(run);
  while (run.isClosed && (await untilOpen(run)));
  if (run.record.stage === 'waiting-window') run.enter('updating');
  run.window?.watchClosing();
}

/**
 * Waits for the window to open, at most until `over`. Health checks continue meanwhile.
 * @returns whether it had to wait, in which case the caller checks the other gates again.
 */
async function untilOpen(run: UpdateRunner, over = () => false): Promise<boolean> {
  const closed = (await run.window?.findClosed(run)) ?? null;
  if (closed === null) return false;
  const { opensAtMs, why = '' } = closed;
  const at = formatTime(opensAtMs);
  if (run.record.windowUntil !== at)
    run.note('window-closed', withBlackout(`no update starts until the window opens at ${at}`, why));
  run.enter('waiting-window');
  run.patch({ windowUntil: at, windowWhy: why });
  const untilMs = Math.max(opensAtMs, Date.now() + SKEW_MS);
  const isOver = () => over() || run.window?.isSkipped() === true;
  await waitWatching(run, { summary: `the window opens at ${at}`, untilMs }, isOver);
  return true;
}

/**
 * A check that is already unhealthy pauses the deploy. Otherwise a fix would be reverted to the version that it fixes.
 */
export async function checkBaseline(run: UpdateRunner): Promise<void> {
  if (run.input.rollback || listBaselineChecks(run).length === 0) return;
  run.enter('planning');
  const waited = await watchBaseline(run);
  if (waited.kind === 'woken') return;
  const report = toHealthReport(waited);
  if (report.verdict !== 'unhealthy') return;
  if (run.input.emergency)
    return run.set((record, now) => withForgiven(record, 'unhealthy before the emergency push', now));
  run.pause(
    'health',
    `unhealthy before anything was updated: ${report.reason}. Resume to continue; skip-health-check --for deploy if the new version is the fix`,
  );
  await whilePaused(run);
}

/**
 * A canary reserves its tasks before it updates them: from then on, other deploys exclude them. A revert waits a second for that, and then joins in
 * the background.
 */
export async function joinAsCanary(run: UpdateRunner, updateId: string, { isBack = false } = {}): Promise<void> {
  if (!run.input.canary) return;
  const { pipeline, release, settings } = run.input;
  const { updates, fleet } = run.record;
  const units = listSnapshotIds(fleet?.snapshot);
  const canary = {
    owner: releaseId(pipeline, release),
    requester: run.workflowId,
    updates: [...new Set([...updates, updateId])],
    ...(units ? { units } : {}),
  };
  const join = (how: { readonly atOnce?: true }) => holders(run.isUrgent).joinLock(run.lockId, canary, settings, how);
  const joined = await run.settle(() => join(isBack ? { atOnce: true } : {}));
  if (joined.kind === 'failed') throw joined.error;
  if (joined.value === false)
    void CancellationScope.nonCancellable(() =>
      run.waitFor(() => join({}), { wake: () => run.record.stage === 'ended' }),
    );
}

/** For a completion that has begun: a canary joined before the push type accepted an update of the completion. */
export async function passCanaries(run: UpdateRunner): Promise<void> {
  do await whilePaused(run);
  while (await awaitCanaryDepartures(run));
  if (run.record.stage === 'waiting-lock') run.enter('updating');
}

/**
 * A completion leaves no task out, so it waits until no canary is left on the units (docs/design/deploy.md#phases).
 * @returns whether it had to wait.
 */
async function awaitCanaryDepartures(run: UpdateRunner, over = () => false): Promise<boolean> {
  if (run.input.canary || run.input.rollback) return false;
  const before = run.canaryDepartures;
  const canaries = await readCanaries(run, over);
  const present = canariesOn(canaries ?? [], listSnapshotIds(run.record.fleet?.now ?? run.record.fleet?.snapshot));
  if (present.length === 0) {
    if (run.record.waitsForGuests.length > 0) run.patch({ waitsForGuests: [] });
    return canaries === undefined;
  }
  showCanaries(run, present);
  // The message that they have left is lost if the lock was terminated.
  const untilMs = Date.now() + run.input.settings.reconcileIntervalMs;
  const isOver = () => run.canaryDepartures > before || over();
  await waitWatching(run, { summary: 'until the canaries have left', untilMs }, isOver);
  const isInVain = Date.now() >= untilMs && !isOver() && run.paused === null;
  if (isInVain) await reviveLock(run, over);
  else run.patch({ waitsForGuests: [] });
  return true;
}

function showCanaries(run: UpdateRunner, present: readonly Canary[]): void {
  run.enter('waiting-lock');
  const waitsForGuests = present.map(({ requester }) => requester.slice('deploy/'.length));
  if (waitsForGuests.join() === run.record.waitsForGuests.join()) return;
  run.patch({ waitsForGuests });
  run.note('waiting-for-canaries', `waits for the canaries on its units: ${waitsForGuests.join(', ')}`);
}

/**
 * A lock that runs already knows that this deploy holds it. A lock that takes its place learns which canaries run, and drops the dead ones.
 */
async function reviveLock(run: UpdateRunner, over: () => boolean): Promise<void> {
  const { pipeline, release, settings } = run.input;
  const asking = { owner: releaseId(pipeline, release), requester: run.workflowId };
  await run.waitFor(() => holders(run.isUrgent).requestLock(run.lockId, asking, settings), { wake: over });
}

/** Undefined if something else has to be done first. */
async function readCanaries(run: UpdateRunner, over: () => boolean): Promise<readonly Canary[] | undefined> {
  const waited = await run.waitFor(() => holders(run.isUrgent).guestsOf(run.lockId), { wake: over });
  if (waited.kind === 'failed') throw waited.error;
  return waited.kind === 'done' ? waited.value : undefined;
}
