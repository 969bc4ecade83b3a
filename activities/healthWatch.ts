import { foldGroups, groupUnits, otherGroups, type GroupRules, type GroupVerdicts } from '../domain/deploy/groups';
import type { Selection } from '../domain/deploy/snapshot';
import { worstRows } from '../domain/deploy/state';
import type { Unit } from '../domain/fleet/unit';
import {
  foldEvaluation,
  NO_HISTORY,
  oldest,
  type FoldResult,
  type HealthFold,
  type HealthSkips,
} from '../domain/health/fold';
import { acrossGap, markEvaluated } from '../domain/health/gap';
import { withRecent, type PastRow } from '../domain/health/recent';
import type { Verdict } from '../domain/health/verdict';
import type { HealthCheck } from '../domain/spec/health';
import { formatTime } from '../domain/text';
import type { HealthRow } from '../domain/views';
import type { BakeWatchResult } from '../domain/deploy/bake';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import type { PushTypeProtocol } from '../sdk/protocol/pushType';
import type { Clock } from './clock';
import { look } from './look';

/** The units and checks to watch, and the end. Times are ms since the epoch. */
export interface HealthWatch {
  readonly targets: { readonly selection: Selection; readonly updatedBy: readonly string[] };
  readonly checks: readonly HealthCheck[];
  readonly skips: HealthSkips;
  readonly onUnhealthy: 'revert' | 'pause';
  readonly baseline: { readonly start: number; readonly end: number };
  readonly lastUpdateAt: number;
  /** The time of the last evaluation; null: watch until a verdict of `stopAt`. */
  readonly until: number | null;
  /** Verdicts that end it at once. */
  readonly stopAt: readonly Verdict[];
  /** An unhealthy verdict ends it only if it asks for a revert. */
  readonly onlyReverts?: boolean;
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
  /** The results of earlier watches of this phase, for checks with `for`. */
  readonly fold: HealthFold | null;
  /** The results of earlier watches of this deploy, so that people see the trend. */
  readonly recent?: readonly PastRow[];
  /**
   * Parallel mode: groups are judged by themselves. With `stopAtChange`, the watch ends once the set of groups to pause has
   * changed.
   */
  readonly groups?: WatchedGroups;
}

export interface WatchedGroups extends GroupRules {
  /** The units that were updated so far. */
  readonly selection: Selection;
  readonly stopAtChange: boolean;
}

/** The result of a watch. */
export interface HealthReport extends BakeWatchResult {
  readonly rows: readonly HealthRow[];
  readonly fold: HealthFold;
  readonly at: number;
  /** Parallel mode: the groups that are to be paused. */
  readonly paused?: GroupVerdicts['paused'];
}

/** The heartbeat of a watch: `status` shows the rows, and the next attempt continues from the fold. */
export interface HealthSeen {
  readonly fold: HealthFold;
  readonly rows: readonly HealthRow[];
  readonly verdict: Verdict;
  /** Parallel mode: the names of the groups that are to be paused. */
  readonly paused?: readonly string[];
}

/** The sources of the units and of the evaluations. */
interface Sources {
  readonly evaluate: Evaluate;
  readonly unitsIn: (selection: Selection) => Promise<readonly Unit[]>;
}

export type HealthChecksCall = PushTypeProtocol['runHealthChecks'];
type Evaluate = (request: RequestInput<HealthChecksCall>) => Promise<ResponseOf<HealthChecksCall>>;

/** Answers at the first verdict of `stopAt` that counts, or at `until`; before, it asks to be tried again. */
export function watchHealth(clock: Clock, { evaluate, unitsIn }: Sources, watch: HealthWatch): Promise<HealthReport> {
  const { targets, groups } = watch;
  return look<HealthReport, HealthSeen>({ clock, ...watch }, async (now, before) => {
    const units = (await unitsIn(targets.selection)).map(({ id }) => id);
    const response = await evaluate(healthRequest(watch, units, now));
    const { checks, skips, onUnhealthy, lastUpdateAt } = watch;
    const input = { checks, skips, onUnhealthy, lastUpdateAt, response, now };
    const known = acrossGap(before?.fold ?? watch.fold ?? NO_HISTORY, now, watch.intervalMs);
    const judged = groups
      ? foldGroups(
          known,
          input,
          { ...groups, paused: before?.paused ?? groups.paused },
          groupUnits(await unitsIn(groups.selection), groups.pauseBy),
        )
      : foldEvaluation(known, input);
    const folded = limitFolded(withRows(judged, before?.rows ?? watch.recent ?? []), await clock.now());
    if (isHealthWatchOver(watch, folded, now)) return { done: { ...folded, at: now } };
    const waitMs = watch.until === null ? watch.intervalMs : Math.min(watch.intervalMs, watch.until - now);
    const seen = { fold: folded.fold, rows: folded.rows, verdict: folded.verdict };
    const message = `${folded.verdict} at ${formatTime(now)}`;
    return { seen: groups ? { ...seen, paused: listPausedNames(folded) } : seen, message, waitMs };
  });
}

type WatchFoldResult = FoldResult & Partial<Pick<GroupVerdicts, 'paused'>>;

const withRows = (folded: WatchFoldResult, before: readonly PastRow[]): WatchFoldResult => ({
  ...folded,
  rows: withRecent(folded.rows, before),
});

const listPausedNames = ({ paused = [] }: WatchFoldResult): string[] => paused.map(({ name }) => name);

/** The workflow and the heartbeats carry a size that does not depend on the number of units: the worst rows, and the oldest unhealthy ones. */
const limitFolded = (folded: WatchFoldResult, at: number): WatchFoldResult => ({
  ...folded,
  rows: worstRows(folded.rows),
  fold: markEvaluated(oldest(folded.fold), at),
});

function isHealthWatchOver(watch: HealthWatch, folded: WatchFoldResult, now: number): boolean {
  if (watch.groups?.stopAtChange && otherGroups(watch.groups.paused, listPausedNames(folded))) return true;
  const undecided = folded.verdict === 'inconclusive' && folded.young;
  if (watch.onlyReverts && folded.verdict === 'unhealthy' && folded.action !== 'revert') return false;
  if (watch.stopAt.includes(folded.verdict) && !undecided) return true;
  return watch.until !== null && now >= watch.until;
}

const healthRequest = ({ targets, checks, baseline }: HealthWatch, units: string[], now: number) => ({
  targets: { units, updatedBy: [...targets.updatedBy] },
  checks: [...checks],
  baseline,
  now,
});
