import { afterWatch, type Watched } from '../../domain/deploy/bake';
import type { PhasePlan } from '../../domain/deploy/plan';
import { withPhase } from '../../domain/deploy/state';
import type { HealthFold } from '../../domain/health/fold';
import { formatTime } from '../../domain/text';
import { lookbackMs, reportOf, watch, watchable } from './health';
import { whilePaused } from './pause';
import type { DeployRun } from './run';
import { stopRest } from './updates';

/**
 * Bakes a phase: it passes on a healthy verdict at its end that covers data from after the last update, in parallel mode
 * not while a group is paused. Returns also when a person skipped the bake or the phase, or when the deploy is to stop;
 * the caller looks at the record.
 */
export async function bake(run: DeployRun, phase: PhasePlan): Promise<void> {
  run.enter('baking');
  let until = Date.now() + phase.bakeMs;
  let extended = false;
  let fold: HealthFold | undefined;
  while (!isLeft(run)) {
    const { pausedGroups } = run.record;
    const isHeld = pausedGroups.length > 0;
    if (isHalted(run) || isHeld) await stopRest(run);
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
      run.note('bake-extended', `${phase.name} bakes on until ${formatTime(until)}: ${seen.reason}`);
    } else {
      const reason = step.kind === 'revert' ? run.condemn(step.reason) : step.reason;
      if (reason === undefined) break;
      const by = step.kind === 'pause' ? step.by : 'health';
      run.pause(by, reason);
      showUntil(run, null);
      await whilePaused(run);
      until = Date.now() + (by === 'dependency' ? lookbackMs(run) : phase.bakeMs);
      extended = false;
    }
  }
  if (run.stop() === null) baked(run, phase);
}

/** Whether this bake is over for another reason than its verdict. */
const isLeft = (run: DeployRun): boolean => {
  const { skipPhase, skipBake } = run.record.control;
  return run.stop() !== null || skipPhase !== null || skipBake !== null;
};

const isHalted = (run: DeployRun): boolean => run.paused !== null || run.window?.haltsUpdates === true;

type Seen = Watched & { readonly fold: HealthFold | undefined };

async function watchUntil(
  run: DeployRun,
  phase: PhasePlan,
  until: number | null,
  fold: HealthFold | undefined,
): Promise<Seen | 'woken'> {
  const { skippedChecks } = run.record.control;
  const wake = () =>
    isLeft(run) ||
    run.record.control.skippedChecks !== skippedChecks ||
    run.record.control.resuming !== null ||
    (isHalted(run) && run.rest !== null);
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
  return { ...reportOf(waited), fold: waited.kind === 'done' ? waited.value.fold : fold };
}

/** Without checks the push type's liveness, which the updates waited for, is all there is. */
const UNCHECKED: Seen = {
  verdict: 'healthy',
  action: 'none',
  young: false,
  reason: 'nothing is checked',
  fold: undefined,
};

/** The bake goes on being checked and ends with a verdict, so a resume in the middle of it needs none of its own. */
function resumeAtOnce(run: DeployRun): void {
  const asked = run.record.control.resuming;
  if (asked) run.unpause(`resumed by ${asked.actor}`);
}

function showUntil(run: DeployRun, until: number | null): void {
  const bakeUntil = until === null ? null : formatTime(until);
  run.set((record) => withPhase(record, record.cursor, { bakeUntil }));
}

function baked(run: DeployRun, phase: PhasePlan): void {
  const { skipBake, skipPhase } = run.record.control;
  const skipped = skipBake ?? skipPhase;
  const skippedBy = skipped ? `bake by ${skipped.actor}: ${skipped.reason}` : null;
  run.set((record, now) =>
    withPhase(record, record.cursor, { bakedAt: formatTime(now), bakeUntil: null, skipped: skippedBy }),
  );
  if (skippedBy) run.note('bake-skipped', `${phase.name}: ${skippedBy}`);
  else run.note('bake-passed', `${phase.name} baked: ${run.record.verdict ?? 'nothing is checked'}`);
}
