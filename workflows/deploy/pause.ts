import { patched } from '@temporalio/workflow';
import { listSkippedChecks } from '../../domain/deploy/control';
import { isUntried, present } from '../../domain/deploy/unavailable';
import { callUntilAnswered } from './calls';
import { lookbackMs, toHealthReport, watch, watchable } from './health';
import type { DeploySession } from './session';
import { buildTracking } from './update';

/**
 * Waits while the deploy is paused, at most until `over`. Checks continue and may still revert it, unless the pause has `--no-revert`
 * (docs/design/deploy.md#verbs). A resume needs a fresh healthy verdict first.
 */
export async function whilePaused(run: DeploySession, over: () => boolean = never): Promise<void> {
  const patience: Patience = { waitMs: lookbackMs(run) };
  let heed: VerdictScope = 'all';
  while (run.paused !== null && run.stop() === null && !over()) {
    const { skippedChecks, resuming } = run.record.control;
    const isSkipped = () => run.record.control.skippedChecks !== skippedChecks;
    if (resuming !== null) await tryToResume(run);
    else if (heed === 'nothing' || !watchable(run)) {
      await run.until(wakes(run, over));
      if (isSkipped()) heed = 'all';
    } else {
      const next = await watchPaused(run, patience, heed, over);
      heed = heed === 'reverts' && isSkipped() ? 'all' : next;
    }
  }
}

/** The verdicts that would be news during a pause. */
type VerdictScope = 'all' | 'reverts' | 'nothing';

const never = () => false;

/** The wait before refused checks are made again: never longer than they have been refused already. */
interface Patience {
  waitMs: number;
}

/**
 * The events that end a wait during a pause. A skip is one of them, since a check that no longer counts must not
 * revert.
 */
function wakes(run: DeploySession, over: () => boolean): () => boolean {
  const { skippedChecks } = run.record.control;
  return () =>
    over() ||
    run.isStopping() ||
    run.record.control.resuming !== null ||
    run.paused === null ||
    run.record.control.skippedChecks !== skippedChecks;
}

/**
 * Waits until a time, or until `over` if there is no time, while health checks continue and may revert or pause the
 * deploy. Returns early if the deploy is to stop or is paused.
 */
export async function waitWatching(
  run: DeploySession,
  { summary, untilMs }: { readonly summary: string; readonly untilMs: number | null },
  over: () => boolean,
): Promise<void> {
  const patience: Patience = { waitMs: lookbackMs(run) };
  const isOver = () => over() || run.isStopping() || run.paused !== null;
  while (!isOver() && (untilMs === null || Date.now() < untilMs)) {
    const { skippedChecks } = run.record.control;
    const wake = () => isOver() || run.record.control.skippedChecks !== skippedChecks;
    const leftMs = untilMs === null ? undefined : untilMs - Date.now();
    if (!watchable(run)) {
      await run.until(wake, leftMs === undefined ? undefined : { afterMs: leftMs, summary });
      continue;
    }
    const waited = await watch(run, { summary, until: null, stopAt: ['unhealthy'], giveUpMs: leftMs }, wake);
    if (waited.kind === 'woken' || waited.kind === 'timeout') continue;
    const report = toHealthReport(waited);
    if (report.verdict === 'errored') {
      run.note('unchecked-while-waiting', report.reason);
      await run.until(wake, { afterMs: Math.min(patience.waitMs, leftMs ?? Infinity), summary });
      patience.waitMs *= 2;
    } else run.revertOrPause(report);
  }
}

/** @returns the verdicts to heed from now on. */
async function watchPaused(
  run: DeploySession,
  patience: Patience,
  heed: VerdictScope,
  over: () => boolean,
): Promise<VerdictScope> {
  const onlyReverts = heed === 'reverts';
  const waitsForHealth = run.paused?.by === 'dependency' && run.paused.until !== 'resumed' && !onlyReverts;
  const summary = waitsForHealth ? 'paused: waiting for health data' : 'paused: health is still checked';
  const wake = wakes(run, over);
  const waited = await watch(
    run,
    { summary, until: null, stopAt: waitsForHealth ? ['healthy', 'unhealthy'] : ['unhealthy'], onlyReverts },
    wake,
  );
  if (waited.kind === 'woken') return heed;
  const report = toHealthReport(waited);
  if (report.verdict === 'errored') {
    run.note('unchecked-while-paused', report.reason);
    await run.until(wake, { afterMs: patience.waitMs, summary: 'paused: health is checked again' });
    patience.waitMs *= 2;
    return heed;
  }
  if (report.verdict === 'healthy') {
    const [skip] = run.record.control.skippedChecks;
    run.unpause(skip ? `health is fine but for what ${skip.actor} skipped` : 'health is checked again and fine');
    return heed;
  }
  const tried = run.tryAutoRevert(report);
  if (tried.kind === 'reverting') return 'nothing';
  // An unfreeze must not resume a pause that only a person may end.
  if (run.paused?.by === 'freeze') run.stayPaused(tried.reason);
  else run.note('unhealthy-while-paused', tried.reason);
  return report.action === 'pause' ? 'reverts' : 'nothing';
}

async function tryToResume(run: DeploySession): Promise<void> {
  const asked = run.record.control.resuming;
  if (asked === null) return;
  const { skippedChecks } = run.record.control;
  if (!watchable(run) || listSkippedChecks(run.record.control) === 'all')
    return run.unpause(`resumed by ${asked.actor}`);
  const deadline = Date.now() + lookbackMs(run) + run.input.spec.healthInterval;
  const waited = await watch(
    run,
    { summary: 'a fresh verdict before resuming', until: deadline, stopAt: ['healthy', 'unhealthy'] },
    () => run.isStopping() || run.record.control.skippedChecks !== skippedChecks,
  );
  if (waited.kind === 'woken') return;
  const report = toHealthReport(waited);
  if (report.verdict === 'healthy') return run.unpause(`resumed by ${asked.actor} on a healthy verdict`);
  if (report.verdict === 'inconclusive' && (await isUntouched(run)))
    return run.unpause(`resumed by ${asked.actor}; nothing is updated yet, so there is nothing to judge`);
  if (report.verdict === 'inconclusive' && (await isForgotten(run)))
    return run.unpause(
      `resumed by ${asked.actor}; ${run.input.spec.pushType} does not know the update under way, so another try sends it`,
    );
  const tried = run.tryAutoRevert(report);
  if (tried.kind === 'kept') run.stayPaused(`${asked.actor} resumed it, but ${tried.reason}`);
}

/** Whether the updates sent so far have reached no task. */
async function isUntouched(run: DeploySession): Promise<boolean> {
  if (!isUntried(run.record)) return false;
  for (const id of run.record.updates.filter(run.update.isTaken)) {
    const seen = await readProgress(run, id);
    if (seen === undefined || 'refused' in seen || seen.value.totals.updated > 0) return false;
  }
  return !run.isStopping();
}

/** Before 0.3, such a resume had no verdict and could never get one. */
const SENT_AGAIN = 'an update that is forgotten is sent again without a verdict';

/**
 * Whether the push type refuses to report on the update that a phase waits for, for example after a restart without its memory. That update cannot be
 * judged. The next try sends a new one, and the bake judges its result.
 */
async function isForgotten(run: DeploySession): Promise<boolean> {
  const { updates, phases, cursor } = run.record;
  const last = updates.at(-1);
  const isAwaited = phases[cursor]?.updatedAt === null && last !== undefined && run.update.isTaken(last);
  if (!isAwaited || !patched(SENT_AGAIN)) return false;
  const seen = await readProgress(run, last);
  return seen !== undefined && 'refused' in seen && !run.isStopping();
}

function readProgress(run: DeploySession, updateId: string) {
  const tracking = buildTracking(
    run,
    { updateIds: [updateId], selection: present(run.record) },
    { success: { all: true }, kind: 'partial' },
  );
  return callUntilAnswered(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking), run.isStopping);
}
