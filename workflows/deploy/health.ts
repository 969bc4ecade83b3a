import type { HealthReport } from '../../activities/healthWatch';
import { listSkippedChecks } from '../../domain/deploy/control';
import { groupRules, withPausedGroups } from '../../domain/deploy/groups';
import { withHealth, type DeployInput } from '../../domain/deploy/state';
import { present } from '../../domain/deploy/unavailable';
import type { HealthFold } from '../../domain/health/fold';
import { longestLookback, withLookback } from '../../domain/health/lookback';
import { pastRows } from '../../domain/health/recent';
import type { Verdict } from '../../domain/health/verdict';
import { verdictMeasure } from '../../domain/metrics';
import type { HealthCheck } from '../../domain/spec/health';
import { measure } from '../measure';
import { patientPushWatchers, pushWatchers } from '../proxies';
import type { WaitOutcome } from '../waitFor';
import { isRefusal, getFailureMessage } from './calls';
import type { HealthWatcher } from './needs';

/** The settings of a watch. A watch judges exactly the tasks that this deploy has updated so far. */
interface WatchOptions {
  /** Shown in the Web UI. */
  readonly summary: string;
  readonly until: number | null;
  readonly stopAt: readonly Verdict[];
  /** An unhealthy verdict that asks for no revert is already known, so it does not end the watch. */
  readonly onlyReverts?: boolean;
  /** Parallel mode: the watch also ends as soon as other groups are to be paused. */
  readonly stopAtChange?: boolean;
  /** Updates are still under way: verdicts count as soon as there are any. */
  readonly updating?: boolean;
  readonly fold?: HealthFold | undefined;
  /** A backstop, shown as a timer: if no verdict comes within this time, the watch counts as an error. */
  readonly giveUpMs?: number | undefined;
}

/** The most data that one evaluation reads, which is also the length of an extension of a bake; ms. */
export const computeLookbackMs = ({ spec }: Pick<DeployInput, 'spec'>): number =>
  longestLookback(spec.healthChecks, spec.healthInterval);

/** Whether there is anything to judge: checks, and tasks that this deploy has updated. */
export const canWatch = (run: HealthWatcher): boolean =>
  run.input.spec.healthChecks.length > 0 && run.record.updates.some(run.updates.isTaken);

/** Watches the health of the updated tasks until the watch ends or `wake`; the last rows are saved in the record. */
export function watch(
  run: HealthWatcher,
  options: WatchOptions,
  wake: () => boolean,
): Promise<WaitOutcome<HealthReport>> {
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
 * Judges the units before anything is updated, by the checks that need no comparison: an empty list of updates means
 * all tasks of the units (docs/design/deploy.md#plan). An unhealthy fleet gets one window to recover, since the last
 * deploy may have been reverted a moment ago. An emergency does not wait for that.
 */
export function watchBaseline(run: HealthWatcher): Promise<WaitOutcome<HealthReport>> {
  const checks = listBaselineChecks(run);
  return evaluate(
    run,
    checks,
    [],
    {
      summary: 'health before the first phase',
      until: run.input.emergency
        ? Date.now()
        : Date.now() + computeLookbackMs(run.input) + run.input.spec.healthInterval,
      stopAt: ['healthy', 'inconclusive', 'errored'],
    },
    () => false,
  );
}

export const listBaselineChecks = (run: HealthWatcher): HealthCheck[] =>
  run.input.spec.healthChecks.filter((check) => check.compare === undefined);

async function evaluate(
  run: HealthWatcher,
  checks: readonly HealthCheck[],
  updatedBy: readonly string[],
  { summary, until, stopAt, onlyReverts = false, stopAtChange = false, updating, fold, giveUpMs }: WatchOptions,
  wake: () => boolean,
  groups?: ReturnType<typeof groupRules>,
): Promise<WaitOutcome<HealthReport>> {
  const { spec, settings } = run.input;
  const lookback = computeLookbackMs(run.input);
  const start = run.record.firstUpdateMs ?? Date.now();
  const activities = (run.paused ? patientPushWatchers : pushWatchers)(settings);
  const waited = await run.waitFor(
    () =>
      activities.watchHealth.executeWithOptions({ summary }, [
        run.call,
        {
          targets: { selection: present(run.record), updatedBy },
          checks: withLookback(checks, spec.healthInterval),
          skips: listSkippedChecks(run.record.control),
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
    { wake, timeout: giveUpMs === undefined ? undefined : { afterMs: giveUpMs, summary } },
  );
  if (waited.kind === 'done') recordReport(run, waited.value, groups !== undefined);
  return waited;
}

function recordReport(run: HealthWatcher, { verdict, rows, paused = [] }: HealthReport, inGroups: boolean): void {
  const counted = paused.length > 0 ? 'unhealthy' : verdict;
  run.set((record) => withHealth(record, counted, rows));
  measure(verdictMeasure(counted));
  if (!inGroups) return;
  const before = run.record.pausedGroups;
  run.set((record, now) => withPausedGroups(record, now, paused));
  const fresh = run.record.pausedGroups.filter((group) => !before.includes(group));
  // If too many groups are unhealthy, the revert or the pause of the whole deploy reports them.
  if (verdict !== 'unhealthy') run.reportGroups(fresh);
}

/** A watch that could not run at all counts as errored, never as healthy. */
export function toHealthReport(
  waited: Extract<WaitOutcome<HealthReport>, { kind: 'done' | 'failed' | 'timeout' }>,
): Pick<HealthReport, 'verdict' | 'action' | 'young' | 'reason'> {
  if (waited.kind === 'done') return waited.value;
  const reason = waited.kind === 'failed' ? getFailureMessage(waited.error) : 'no evaluation arrived in time';
  const refused =
    waited.kind === 'failed' && isRefusal(waited.error) ? 'health checks are refused' : 'health checks do not work';
  return { verdict: 'errored', action: 'none', young: false, reason: `${refused}: ${reason}` };
}
