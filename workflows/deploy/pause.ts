import { listSkippedChecks } from '../../domain/deploy/control';
import { isUntried, present } from '../../domain/deploy/unavailable';
import { until } from '../waitFor';
import { callUntilAnswered } from './calls';
import { computeLookbackMs, toHealthReport, watch, canWatch } from './health';
import type { HealthWatcher } from './needs';
import { buildTracking } from './update';
import { revertOnVerdict, revertOrPause } from './verdicts';

/**
 * Waits while the deploy is paused. Checks continue and may still revert it, unless the pause has `--no-revert`
 * (docs/design/deploy.md#verbs). A resume needs a fresh healthy verdict first.
 */
export async function whilePaused(run: HealthWatcher): Promise<void> {
  const patience: Patience = { waitMs: computeLookbackMs(run.input) };
  let heed: HeededVerdicts = 'all';
  while (run.paused !== null) {
    const { skippedChecks, resuming } = run.record.control;
    const isSkipped = () => run.record.control.skippedChecks !== skippedChecks;
    if (resuming !== null) await tryToResume(run);
    else if (heed === 'nothing' || !canWatch(run)) {
      await until(buildWake(run));
      if (isSkipped()) heed = 'all';
    } else {
      const next = await watchPaused(run, patience, heed);
      heed = heed === 'reverts' && isSkipped() ? 'all' : next;
    }
  }
}

/** The verdicts that would be news during a pause. */
type HeededVerdicts = 'all' | 'reverts' | 'nothing';

/** The wait before refused checks are made again: never longer than they have been refused already. */
interface Patience {
  waitMs: number;
}

/**
 * The events that end a wait during a pause. A skip is one of them, since a check that no longer counts must not
 * revert.
 */
function buildWake(run: HealthWatcher): () => boolean {
  const { skippedChecks } = run.record.control;
  return () =>
    run.record.control.resuming !== null || run.paused === null || run.record.control.skippedChecks !== skippedChecks;
}

/**
 * Waits until a time, or until `over` if there is no time, while health checks continue and may revert or pause the
 * deploy. Returns early if the deploy is paused.
 */
export async function waitWatching(
  run: HealthWatcher,
  { summary, untilMs }: { readonly summary: string; readonly untilMs: number | null },
  over: () => boolean = () => false,
): Promise<void> {
  const patience: Patience = { waitMs: computeLookbackMs(run.input) };
  const isOver = () => over() || run.paused !== null;
  while (!isOver() && (untilMs === null || Date.now() < untilMs)) {
    const { skippedChecks } = run.record.control;
    const wake = () => isOver() || run.record.control.skippedChecks !== skippedChecks;
    const leftMs = untilMs === null ? undefined : untilMs - Date.now();
    if (!canWatch(run)) {
      await until(wake, leftMs === undefined ? undefined : { afterMs: leftMs, summary });
      continue;
    }
    const waited = await watch(run, { summary, until: null, stopAt: ['unhealthy'], giveUpMs: leftMs }, wake);
    if (waited.kind === 'woken' || waited.kind === 'timeout') continue;
    const report = toHealthReport(waited);
    if (report.verdict === 'errored') {
      run.note('unchecked-while-waiting', report.reason);
      await until(wake, { afterMs: Math.min(patience.waitMs, leftMs ?? Infinity), summary });
      patience.waitMs *= 2;
    } else revertOrPause(run, report);
  }
}

/** @returns the verdicts to heed from now on. */
async function watchPaused(run: HealthWatcher, patience: Patience, heed: HeededVerdicts): Promise<HeededVerdicts> {
  const onlyReverts = heed === 'reverts';
  const waitsForHealth = run.paused?.by === 'dependency' && run.paused.until !== 'resumed' && !onlyReverts;
  const summary = waitsForHealth ? 'paused: waiting for health data' : 'paused: health is still checked';
  const wake = buildWake(run);
  const waited = await watch(
    run,
    { summary, until: null, stopAt: waitsForHealth ? ['healthy', 'unhealthy'] : ['unhealthy'], onlyReverts },
    wake,
  );
  if (waited.kind === 'woken') return heed;
  const report = toHealthReport(waited);
  if (report.verdict === 'errored') {
    run.note('unchecked-while-paused', report.reason);
    await until(wake, { afterMs: patience.waitMs, summary: 'paused: health is checked again' });
    patience.waitMs *= 2;
    return heed;
  }
  if (report.verdict === 'healthy') {
    const [skip] = run.record.control.skippedChecks;
    run.unpause(
      skip ? `health is fine except for the checks that ${skip.actor} skipped` : 'health is checked again and fine',
    );
    return heed;
  }
  const reason = revertOnVerdict(run, report);
  // An unfreeze must not resume a pause that only a person may end.
  if (run.paused?.by === 'freeze') run.keepPaused(reason);
  else run.note('unhealthy-while-paused', reason);
  return report.action === 'pause' ? 'reverts' : 'nothing';
}

async function tryToResume(run: HealthWatcher): Promise<void> {
  const asked = run.record.control.resuming;
  if (asked === null) return;
  const { skippedChecks } = run.record.control;
  if (!canWatch(run) || listSkippedChecks(run.record.control) === 'all')
    return run.unpause(`resumed by ${asked.actor}`);
  const deadline = Date.now() + computeLookbackMs(run.input) + run.input.spec.healthInterval;
  const waited = await watch(
    run,
    { summary: 'a fresh verdict before resuming', until: deadline, stopAt: ['healthy', 'unhealthy'] },
    () => run.record.control.skippedChecks !== skippedChecks,
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
  const reason = revertOnVerdict(run, report);
  run.keepPaused(`${asked.actor} resumed it, but ${reason}`);
}

/** Whether the updates sent so far have reached no task. */
async function isUntouched(run: HealthWatcher): Promise<boolean> {
  if (!isUntried(run.record)) return false;
  for (const id of run.record.updates.filter(run.updates.isTaken)) {
    const seen = await readProgress(run, id);
    if ('refused' in seen || seen.value.totals.updated > 0) return false;
  }
  return true;
}

/**
 * Whether the push type refuses to report on the update that a phase waits for, for example after a restart without its memory. That update cannot be
 * judged. The next try sends a new one, and the bake judges its result.
 */
async function isForgotten(run: HealthWatcher): Promise<boolean> {
  const { updates, phases, cursor } = run.record;
  const last = updates.at(-1);
  const isAwaited = phases[cursor]?.updatedAt === null && last !== undefined && run.updates.isTaken(last);
  return isAwaited && 'refused' in (await readProgress(run, last));
}

function readProgress(run: HealthWatcher, updateId: string) {
  const tracking = buildTracking(
    run,
    { updateIds: [updateId], selection: present(run.record) },
    { success: { all: true }, kind: 'partial' },
  );
  return callUntilAnswered(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking));
}
