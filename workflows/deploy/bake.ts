import type { GivenCommand } from '../../domain/deploy/control';
import { afterWatch, type BakeWatchResult } from '../../domain/deploy/bake';
import { toWant, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import { withPhase } from '../../domain/deploy/state';
import { phaseUnits } from '../../domain/deploy/unavailable';
import type { HealthFold } from '../../domain/health/fold';
import { formatSummary } from '../../domain/markdown';
import { formatTime } from '../../domain/text';
import { promptPush } from '../proxies';
import { runInterruptible } from '../interrupts';
import { until } from '../waitFor';
import { getFailureMessage } from './calls';
import { computeLookbackMs, toHealthReport, watch, canWatch } from './health';
import { whilePaused } from './pause';
import type { UpdateRunner } from './needs';
import { stopRest } from './updates';
import { revertOrPause } from './verdicts';

/**
 * Bakes a phase. The bake passes on a healthy verdict at its end that covers data from after the last update; in parallel mode,
 * no group may be paused then. A person may skip it.
 */
export async function bake(run: UpdateRunner, phase: PhasePlan): Promise<void> {
  run.enter('baking');
  const baked = await runInterruptible(
    () => run.record.control.skipBake,
    () => awaitHealthyBake(run, phase),
  );
  finishBake(run, phase, baked.kind === 'interrupted' ? baked.reason : null);
}

async function awaitHealthyBake(run: UpdateRunner, phase: PhasePlan): Promise<void> {
  let endMs = Date.now() + phase.bakeMs;
  let extended = false;
  let fold: HealthFold | undefined;
  for (;;) {
    const { pausedGroups } = run.record;
    const isGroupPaused = pausedGroups.length > 0;
    if (run.isHalted || isGroupPaused) await stopRest(run);
    showUntil(run, isGroupPaused ? null : endMs);
    const seen = await watchUntil(run, phase, isGroupPaused ? null : endMs, fold);
    if (seen === 'woken') {
      resumeAtOnce(run);
      continue;
    }
    fold = seen.fold;
    if (run.record.pausedGroups !== pausedGroups && seen.verdict !== 'unhealthy') {
      endMs = Math.max(endMs, Date.now() + computeLookbackMs(run.input));
      continue;
    }
    const step = afterWatch(seen, extended);
    if (step.kind === 'pass') return;
    if (step.kind === 'extend') {
      extended ||= step.counts;
      endMs = Date.now() + computeLookbackMs(run.input);
      run.note('bake-extended', `${phase.name} keeps baking until ${formatTime(endMs)}: ${seen.reason}`);
    } else {
      const by = step.kind === 'pause' ? step.by : 'health';
      revertOrPause(run, { action: step.kind, reason: step.reason }, by);
      showUntil(run, null);
      await whilePaused(run);
      endMs = Date.now() + (by === 'dependency' ? computeLookbackMs(run.input) : phase.bakeMs);
      extended = false;
    }
  }
}

type BakeWatch = BakeWatchResult & { readonly fold: HealthFold | undefined };

async function watchUntil(
  run: UpdateRunner,
  phase: PhasePlan,
  endMs: number | null,
  fold: HealthFold | undefined,
): Promise<BakeWatch | 'woken'> {
  const { skippedChecks } = run.record.control;
  const wake = () =>
    run.record.control.skippedChecks !== skippedChecks ||
    run.record.control.resuming !== null ||
    (run.isHalted && run.updates.hasRest);
  const summary = `bake ${phase.name} until ${endMs === null ? 'no group is paused' : formatTime(endMs)}`;
  const leftMs = endMs === null ? 0 : Math.max(0, endMs - Date.now());
  if (!canWatch(run)) {
    const woken = leftMs > 0 ? await until(wake, { afterMs: leftMs, summary }) : wake();
    return woken ? 'woken' : UNCHECKED;
  }
  const graceMs = run.input.settings.dependencyGraceMs + computeLookbackMs(run.input);
  const giveUpMs = endMs === null ? undefined : leftMs + graceMs;
  const waited = await watch(
    run,
    { summary, until: endMs, stopAt: ['unhealthy'], stopAtChange: true, fold, giveUpMs },
    wake,
  );
  if (waited.kind === 'woken') return 'woken';
  return { ...toHealthReport(waited), fold: waited.kind === 'done' ? waited.value.fold : fold };
}

/**
 * Without checks, the liveness that the push type reports is the only evidence, and the updates have already waited for
 * it.
 */
const UNCHECKED: BakeWatch = {
  verdict: 'healthy',
  action: 'none',
  young: false,
  reason: 'nothing is checked',
  fold: undefined,
};

/** The bake continues to check and ends with a verdict, so a resume in the middle of it does not need another. */
function resumeAtOnce(run: UpdateRunner): void {
  const asked = run.record.control.resuming;
  if (asked) run.unpause(`resumed by ${asked.actor}`);
}

function showUntil(run: UpdateRunner, endMs: number | null): void {
  const bakeUntil = endMs === null ? null : formatTime(endMs);
  run.set((record) => withPhase(record, record.cursor, { bakeUntil }));
}

function finishBake(run: UpdateRunner, phase: PhasePlan, skip: GivenCommand | null): void {
  const skipped = skip ? `bake by ${skip.actor}: ${skip.reason}` : null;
  run.set((record, now) => withPhase(record, record.cursor, { bakedAt: formatTime(now), bakeUntil: null, skipped }));
  if (skipped) run.note('bake-skipped', `${phase.name}: ${skipped}`);
  else run.note('bake-passed', `${phase.name} baked: ${run.record.verdict ?? 'nothing is checked'}`);
}

/** Lets the fleet fetch the artifacts of the phase (Conveyor §4) if the push type offers that. Nothing waits for it, and its failure fails nothing. */
export async function prefetch(run: UpdateRunner, plan: DeployPlan, next: PhasePlan): Promise<void> {
  if (run.record.prefetches === false) return;
  const options = { summary: formatSummary(`prefetch for ${next.name}`) };
  const work = { phase: next.key, selection: phaseUnits(run.record, next), want: toWant(next, plan) };
  const asked = await run.settle(() =>
    promptPush(run.input.settings).prefetch.executeWithOptions(options, [run.call, work]),
  );
  if (asked.kind === 'failed')
    run.note('trouble', `${next.name} was not prefetched: ${getFailureMessage(asked.error)}`);
  else if (!asked.value) run.patch({ prefetches: false });
}
