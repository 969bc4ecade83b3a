import { patched } from '@temporalio/workflow';
import { withForgiven } from '../../domain/deploy/overrides';
import { listSnapshotIds } from '../../domain/deploy/snapshot';
import { releaseId } from '../../domain/ids';
import { canariesOn, type Canary } from '../../domain/mutex';
import { describeFreeze } from '../../domain/pipeline/freeze';
import { withBlackout } from '../../domain/release/openTimes';
import { formatTime, withReason } from '../../domain/text';
import type { PhasePlan } from '../../domain/deploy/plan';
import { holders } from '../proxies';
import { baselineChecks, toHealthReport, watchBaseline } from './health';
import { waitWatching, whilePaused } from './pause';
import type { DeploySession } from './session';
import { SKEW_MS } from './window';

/**
 * Waits until the next phase may begin, or the deploy is to stop. A phase may begin if the deploy is not paused, the
 * pipeline is not frozen, and the window is open; for the completion, no canary may be in the way.
 */
export async function passGates(run: DeploySession, phase?: PhasePlan): Promise<void> {
  const isFrozen = () => run.record.control.frozen !== null;
  for (;;) {
    await whilePaused(run);
    if (run.stop()) return;
    const { frozen } = run.record.control;
    if (frozen) run.pause('freeze', withReason(describeFreeze(frozen), frozen.reason));
    else if (await untilOpen(run, isFrozen)) continue;
    else if (phase?.kind !== 'completion' || !(await untilCanariesLeft(run, isFrozen))) return;
  }
}

/** Waits while the phase under way may start no update, because the deploy is paused or its window is closed. */
export async function whileHalted(run: DeploySession): Promise<void> {
  do await whilePaused(run);
  while (!run.isLeft() && run.isClosed && (await untilOpen(run, run.isLeft)));
  if (run.isLeft()) return;
  if (run.record.stage === 'waiting-window') run.enter('updating');
  run.window?.watchClosing();
}

/**
 * Waits for the window to open, at most until `over`. Health checks continue meanwhile.
 * @returns whether it had to wait, in which case the caller checks the other gates again.
 */
async function untilOpen(run: DeploySession, over: () => boolean): Promise<boolean> {
  const closed = (await run.window?.closed(run)) ?? null;
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
export async function checkBaseline(run: DeploySession): Promise<void> {
  if (run.isStopping() || run.input.rollback || baselineChecks(run).length === 0) return;
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

/** Before 0.3, an event that should have ended the wait, such as a revert, waited until the lock answered. */
const BEFORE_ANSWER = 'nothing waits for a lock that does not answer';

/**
 * A canary reserves its tasks before it updates them: from then on, other deploys exclude them. A revert waits a second for that, and then joins in
 * the background.
 */
export async function joinAsCanary(run: DeploySession, updateId: string, { isBack = false } = {}): Promise<void> {
  if (!run.input.canary) return;
  const { pipeline, release, settings } = run.input;
  const { updates, fleet } = run.record;
  const units = listSnapshotIds(fleet?.snapshot);
  const guest = {
    owner: releaseId(pipeline, release),
    requester: run.workflowId,
    updates: [...new Set([...updates, updateId])],
    ...(units ? { units } : {}),
  };
  const join = (how: { readonly atOnce?: true }) => holders(run.isUrgent).joinLock(run.lockId, guest, settings, how);
  const waited = await run.waitFor(
    () => join(isBack ? { atOnce: true } : {}),
    () => run.isLeft() && patched(BEFORE_ANSWER),
  );
  if (waited.kind === 'failed') throw waited.error;
  // If the deploy is left, nothing is sent any more.
  const isLate = waited.kind === 'done' && waited.value === false;
  if (isLate)
    void run.waitFor(
      () => join({}),
      () => run.record.stage === 'ended',
    );
}

/** Before 0.3, a deploy that was paused while it waited asked for canaries again and again. */
const PAUSED_FIRST = 'a pause ends before canaries are asked for';

/** For a completion that has begun: a canary joined before the push type accepted an update of the completion. */
export async function untilNoCanary(run: DeploySession): Promise<void> {
  do if (run.paused !== null && patched(PAUSED_FIRST)) await whilePaused(run, run.isLeft);
  while (!run.isLeft() && (await untilCanariesLeft(run, run.isLeft)));
  if (!run.isLeft() && run.record.stage === 'waiting-lock') run.enter('updating');
}

/**
 * A completion leaves no task out, so it waits until no canary is left on the units (docs/design/deploy.md#phases).
 * @returns whether it had to wait.
 */
async function untilCanariesLeft(run: DeploySession, over: () => boolean): Promise<boolean> {
  if (run.input.canary || run.persists()) return false;
  const before = run.canariesLeft;
  const canaries = await canariesNow(run, over);
  const present = canariesOn(canaries ?? [], listSnapshotIds(run.record.fleet?.now ?? run.record.fleet?.snapshot));
  if (present.length === 0) {
    if (run.record.waitsForGuests.length > 0) run.patch({ waitsForGuests: [] });
    return canaries === undefined;
  }
  showCanaries(run, present);
  const asksAgain = patched(ASKS_AGAIN);
  const untilMs = asksAgain ? Date.now() + run.input.settings.reconcileIntervalMs : null;
  const isOver = () => run.canariesLeft > before || over();
  await waitWatching(run, { summary: 'until no canary is left', untilMs }, isOver);
  const isInVain = untilMs !== null && Date.now() >= untilMs && !isOver() && !run.isStopping() && run.paused === null;
  if (isInVain) await reviveLock(run, over);
  else run.patch({ waitsForGuests: [] });
  return true;
}

/** Before 0.3, it waited for the message of a lock that may have been terminated. */
const ASKS_AGAIN = 'canaries are asked for again';

function showCanaries(run: DeploySession, present: readonly Canary[]): void {
  run.enter('waiting-lock');
  const waitsForGuests = present.map(({ requester }) => requester.slice('deploy/'.length));
  if (waitsForGuests.join() === run.record.waitsForGuests.join()) return;
  run.patch({ waitsForGuests });
  run.note('waiting-for-canaries', `waits until no canary is left on its units: ${waitsForGuests.join(', ')}`);
}

/**
 * A lock that runs already knows that this deploy holds it. A lock that takes its place learns which canaries run, and drops the dead ones.
 */
async function reviveLock(run: DeploySession, over: () => boolean): Promise<void> {
  const { pipeline, release, settings } = run.input;
  const asking = { owner: releaseId(pipeline, release), requester: run.workflowId };
  await run.waitFor(
    () => holders(run.isUrgent).requestLock(run.lockId, asking, settings),
    () => over() || run.isStopping(),
  );
}

/** Undefined if something else has to be done first. */
async function canariesNow(run: DeploySession, over: () => boolean): Promise<readonly Canary[] | undefined> {
  const waited = await run.waitFor(
    () => holders(run.isUrgent).guestsOf(run.lockId),
    () => (over() || run.isStopping()) && patched(BEFORE_ANSWER),
  );
  if (waited.kind === 'failed') throw waited.error;
  return waited.kind === 'done' ? waited.value : undefined;
}
