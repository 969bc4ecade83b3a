import type { HealthReport } from '../../activities/healthWatch';
import { skipsOf } from '../../domain/deploy/control';
import { groupRules, withPausedGroups } from '../../domain/deploy/groups';
import { withHealth } from '../../domain/deploy/state';
import { present } from '../../domain/deploy/unavailable';
import type { HealthFold } from '../../domain/health/fold';
import { longestLookback, withLookback } from '../../domain/health/lookback';
import { pastRows } from '../../domain/health/recent';
import type { Verdict } from '../../domain/health/verdict';
import { verdictMeasure } from '../../domain/metrics';
import type { HealthCheck } from '../../domain/spec/health';
import { measure } from '../measure';
import { unboundedPushWatchers, pushWatchers } from '../proxies';
import type { Waited } from '../waiting';
import { isRefusal, messageOf } from './calls';
import type { DeploySession } from './session';

/** What a watch is for; it always judges all tasks that this deploy updated so far, and no other. */
interface Watch {
  /** Shown in the Web UI. */
  readonly summary: string;
  readonly until: number | null;
  readonly stopAt: readonly Verdict[];
  /** An unhealthy verdict that asks for no revert says nothing new. */
  readonly onlyReverts?: boolean;
  /** Parallel mode: also as soon as other groups are to be paused. */
  readonly stopAtChange?: boolean;
  /** Updates are still under way: verdicts count as soon as there are any. */
  readonly updating?: boolean;
  readonly fold?: HealthFold | undefined;
  /** A backstop, shown as a timer: no verdict after this long counts as an error. */
  readonly giveUpMs?: number | undefined;
}

/** How much data one evaluation reads at the most; also how long an extension of a bake lasts. In ms. */
export const lookbackMs = (run: DeploySession): number =>
  longestLookback(run.input.spec.healthChecks, run.input.spec.healthInterval);

/** Whether there is anything to judge: checks, and tasks that this deploy updated. */
export const watchable = (run: DeploySession): boolean =>
  run.input.spec.healthChecks.length > 0 && run.record.updates.some(run.update.isTaken);

/** Watches the health of what was updated until its end or `wake`; the last rows go into the record. */
export function watch(run: DeploySession, options: Watch, wake: () => boolean): Promise<Waited<HealthReport>> {
  return evaluate(
    run,
    run.input.spec.healthChecks,
    run.record.updates,
    options,
    wake,
    groupRules(run.record, run.input),
  );
}

/**
 * Judges the units as they are before anything is updated, by the checks that need no comparison: an empty list of
 * updates means all tasks of the units (docs/design/deploy.md#plan). An unhealthy fleet gets one window to recover: the
 * last deploy may have been reverted a moment ago. An emergency does not wait for that.
 */
export function watchBaseline(run: DeploySession): Promise<Waited<HealthReport>> {
  const checks = baselineChecks(run);
  return evaluate(
    run,
    checks,
    [],
    {
      summary: 'health before the first phase',
      until: run.input.emergency ? Date.now() : Date.now() + lookbackMs(run) + run.input.spec.healthInterval,
      stopAt: ['healthy', 'inconclusive', 'errored'],
    },
    run.isLeft,
  );
}

export const baselineChecks = (run: DeploySession): HealthCheck[] =>
  run.input.spec.healthChecks.filter((check) => check.compare === undefined);

async function evaluate(
  run: DeploySession,
  checks: readonly HealthCheck[],
  updatedBy: readonly string[],
  { summary, until, stopAt, onlyReverts = false, stopAtChange = false, updating, fold, giveUpMs }: Watch,
  wake: () => boolean,
  groups?: ReturnType<typeof groupRules>,
): Promise<Waited<HealthReport>> {
  const { spec, settings } = run.input;
  const lookback = lookbackMs(run);
  const start = run.record.firstUpdateMs ?? Date.now();
  const activities = (run.paused ? unboundedPushWatchers : pushWatchers)(settings);
  const waited = await run.waitFor(
    () =>
      activities.watchHealth.executeWithOptions({ summary }, [
        run.call,
        {
          targets: { selection: present(run.record), updatedBy },
          checks: withLookback(checks, spec.healthInterval),
          skips: skipsOf(run.record.control),
          onUnhealthy: spec.onUnhealthy,
          baseline: { start: start - lookback, end: start },
          lastUpdateAt: updatedBy.length > 0 && !updating ? (run.record.lastUpdateMs ?? 0) : 0,
          until,
          stopAt,
          ...(onlyReverts ? { onlyReverts } : {}),
          intervalMs: spec.healthInterval,
          heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
          fold: fold ?? null,
          recent: pastRows(run.record.health),
          ...(groups ? { groups: { ...groups, stopAtChange } } : {}),
        },
      ]),
    wake,
    giveUpMs === undefined ? undefined : { afterMs: giveUpMs, summary },
  );
  if (waited.kind === 'done') recordReport(run, waited.value, groups !== undefined);
  return waited;
}

function recordReport(run: DeploySession, { verdict, rows, paused = [] }: HealthReport, inGroups: boolean): void {
  const counted = paused.length > 0 ? 'unhealthy' : verdict;
  run.set((record) => withHealth(record, counted, rows));
  measure(verdictMeasure(counted));
  if (!inGroups) return;
  const before = run.record.pausedGroups;
  run.set((record, now) => withPausedGroups(record, now, paused));
  const fresh = run.record.pausedGroups.filter((group) => !before.includes(group));
  // Too many are reported by the revert, or by the pause of the whole.
  if (verdict !== 'unhealthy') run.reportGroups(fresh);
}

/** A watch that could not be made at all counts as errored, never as healthy. */
export function reportOf(
  waited: Extract<Waited<HealthReport>, { kind: 'done' | 'failed' | 'timeout' }>,
): Pick<HealthReport, 'verdict' | 'action' | 'young' | 'reason'> {
  if (waited.kind === 'done') return waited.value;
  const reason = waited.kind === 'failed' ? messageOf(waited.error) : 'no evaluation arrived in time';
  const refused =
    waited.kind === 'failed' && isRefusal(waited.error) ? 'health checks are refused' : 'health checks do not work';
  return { verdict: 'errored', action: 'none', young: false, reason: `${refused}: ${reason}` };
}
