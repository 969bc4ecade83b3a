import { afterWatch, type BakeWatchResult } from '../../domain/deploy/bake';
import { toWant, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import { withPhase } from '../../domain/deploy/state';
import { phaseUnits } from '../../domain/deploy/unavailable';
import type { HealthFold } from '../../domain/health/fold';
import { formatSummary } from '../../domain/markdown';
import { formatTime } from '../../domain/text';
import { promptPush } from '../proxies';
import { getFailureMessage } from './calls';
import { lookbackMs, toHealthReport, watch, watchable } from './health';
import { whilePaused } from './pause';
import type { DeploySession } from './session';
import { stopRest } from './updates';

/**
 * Bakes a phase. The bake passes on a healthy verdict at its end that covers data from after the last update; in parallel mode,
 * no group may be paused then. It also returns if a person skipped the bake or the phase, or if the deploy is to stop; the
 * caller looks at the record.
 */
export async function bake(run: DeploySession, phase: PhasePlan): Promise<void> {
  run.enter('baking');
  let until = Date.now() + phase.bakeMs;
  let extended = false;
  let fold: HealthFold | undefined;
  while (!isBakeLeft(run)) {
    const { pausedGroups } = run.record;
    const isHeld = pausedGroups.length > 0;
    if (run.isHalted || isHeld) await stopRest(run);
    showUntil(run, isHeld ? null : until);
    const seen = await watchUntil(run, phase, isHeld ? null : until, fold);
    if (seen === 'woken') {
      resumeAtOnce(run);
      continue;
    }
    fold = seen.fold;
    if (run.record.pausedGroups !== pausedGroups && seen.verdict !== 'unhealthy') {
      until = Math.max(until, Date.now() + lookbackMs(run));
      continue;
    }
    const step = afterWatch(seen, extended);
    if (step.kind === 'pass') break;
    if (step.kind === 'extend') {
      extended ||= step.counts;
      until = Date.now() + lookbackMs(run);
      run.note('bake-extended', `${phase.name} keeps baking until ${formatTime(until)}: ${seen.reason}`);
    } else {
      const by = step.kind === 'pause' ? step.by : 'health';
      if (!run.revertOrPause({ action: step.kind, reason: step.reason }, by)) break;
      showUntil(run, null);
      await whilePaused(run);
      until = Date.now() + (by === 'dependency' ? lookbackMs(run) : phase.bakeMs);
      extended = false;
    }
  }
  if (run.stop() === null) finishBake(run, phase);
}

/** Whether this bake is over for a reason other than its verdict. */
const isBakeLeft = (run: DeploySession): boolean => run.isLeft() || run.record.control.skipBake !== null;

type Seen = BakeWatchResult & { readonly fold: HealthFold | undefined };

async function watchUntil(
  run: DeploySession,
  phase: PhasePlan,
  until: number | null,
  fold: HealthFold | undefined,
): Promise<Seen | 'woken'> {
  const { skippedChecks } = run.record.control;
  const wake = () =>
    isBakeLeft(run) ||
    run.record.control.skippedChecks !== skippedChecks ||
    run.record.control.resuming !== null ||
    (run.isHalted && run.update.hasRest);
  const summary = `bake ${phase.name} until ${until === null ? 'no group is paused' : formatTime(until)}`;
  const leftMs = until === null ? 0 : Math.max(0, until - Date.now());
  if (!watchable(run)) {
    const woken = leftMs > 0 ? await run.until(wake, { afterMs: leftMs, summary }) : wake();
    return woken ? 'woken' : UNCHECKED;
  }
  const graceMs = run.input.settings.dependencyGraceMs + lookbackMs(run);
  const giveUpMs = until === null ? undefined : leftMs + graceMs;
  const waited = await watch(run, { summary, until, stopAt: ['unhealthy'], stopAtChange: true, fold, giveUpMs }, wake);
  if (waited.kind === 'woken') return 'woken';
  return { ...toHealthReport(waited), fold: waited.kind === 'done' ? waited.value.fold : fold };
}

/**
 * Without checks, the liveness that the push type reports is the only evidence, and the updates have already waited for
 * it.
 */
const UNCHECKED: Seen = {
  verdict: 'healthy',
  action: 'none',
  young: false,
  reason: 'nothing is checked',
  fold: undefined,
};

/** The bake continues to check and ends with a verdict, so a resume in the middle of it does not need another. */
function resumeAtOnce(run: DeploySession): void {
  const asked = run.record.control.resuming;
  if (asked) run.unpause(`resumed by ${asked.actor}`);
}

function showUntil(run: DeploySession, until: number | null): void {
  const bakeUntil = until === null ? null : formatTime(until);
  run.set((record) => withPhase(record, record.cursor, { bakeUntil }));
}

function finishBake(run: DeploySession, phase: PhasePlan): void {
  const { skipBake, skipPhase } = run.record.control;
  const skipped = skipBake ?? skipPhase;
  const skippedBy = skipped ? `bake by ${skipped.actor}: ${skipped.reason}` : null;
  run.set((record, now) =>
    withPhase(record, record.cursor, { bakedAt: formatTime(now), bakeUntil: null, skipped: skippedBy }),
  );
  if (skippedBy) run.note('bake-skipped', `${phase.name}: ${skippedBy}`);
  else run.note('bake-passed', `${phase.name} baked: ${run.record.verdict ?? 'nothing is checked'}`);
}

/**
 * Bakes a phase, and meanwhile lets the fleet fetch the artifacts of the next phase (Conveyor §4) if the push type offers that. The
 * prefetch is optional: nothing waits for it, and its failure fails nothing.
 */
export async function besidePrefetch(
  run: DeploySession,
  plan: DeployPlan,
  phase: PhasePlan,
  baking: () => Promise<void>,
): Promise<void> {
  const next = plan.phases[Number(phase.key) + 1];
  let baked = false;
  if (next !== undefined && run.record.prefetches !== false) void prefetch(run, plan, next, () => baked);
  await baking();
  baked = true;
}

async function prefetch(run: DeploySession, plan: DeployPlan, next: PhasePlan, over: () => boolean): Promise<void> {
  const options = { summary: formatSummary(`prefetch for ${next.name}`) };
  const work = { phase: next.key, selection: phaseUnits(run.record, next), want: toWant(next, plan) };
  const asked = await run.waitFor(
    () => promptPush(run.input.settings).prefetch.executeWithOptions(options, [run.call, work]),
    over,
  );
  if (asked.kind === 'done' && !asked.value) run.patch({ prefetches: false });
  if (asked.kind === 'failed')
    run.note('trouble', `${next.name} was not prefetched: ${getFailureMessage(asked.error)}`);
}
