import { Context } from '@temporalio/activity';
import { foldGroups, otherGroups, type GroupRules, type GroupVerdicts } from '../domain/deploy/groups';
import {
  foldEvaluation,
  NO_HISTORY,
  type FoldInput,
  type FoldResult,
  type HealthFold,
  type HealthSkips,
} from '../domain/health/fold';
import { withRecent, type PastRow } from '../domain/health/recent';
import type { Verdict } from '../domain/health/verdict';
import type { HealthCheck } from '../domain/spec/health';
import type { HealthRow } from '../domain/views';
import type { Watched } from '../domain/deploy/bake';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import type { PushTypeProtocol } from '../sdk/protocol/pushType';
import type { Clock } from './clock';
import { poll } from './polling';

/** What to watch, and until when. Times are ms since the epoch. */
export interface HealthWatch {
  readonly targets: { readonly units: readonly string[]; readonly updatedBy: readonly string[] };
  readonly checks: readonly HealthCheck[];
  readonly skips: HealthSkips;
  readonly onUnhealthy: 'revert' | 'pause';
  readonly baseline: { readonly start: number; readonly end: number };
  readonly lastUpdateAt: number;
  /** The last evaluation is made then; null: watch on until a verdict of `stopAt`. */
  readonly until: number | null;
  /** Verdicts that end it at once. */
  readonly stopAt: readonly Verdict[];
  /** An unhealthy verdict ends it only when it asks for a revert. */
  readonly onlyReverts?: boolean;
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
  /** What earlier watches of this phase had seen, for checks with `for`. */
  readonly fold: HealthFold | null;
  /** What earlier watches of this deploy had observed, for people to see where it goes. */
  readonly recent?: readonly PastRow[];
  /** Parallel mode: groups are judged by themselves; with `stopAtChange` it ends once others are to be paused than are. */
  readonly groups?: GroupRules & { readonly stopAtChange: boolean };
}

/** What a watch came to. */
export interface HealthReport extends Watched {
  readonly rows: readonly HealthRow[];
  readonly fold: HealthFold;
  readonly at: number;
  /** Parallel mode: the groups that are to be paused. */
  readonly paused?: GroupVerdicts['paused'];
}

/** What a watch heartbeats: `status` shows the rows, a successor goes on from the fold. */
export interface HealthSeen {
  readonly fold: HealthFold;
  readonly rows: readonly HealthRow[];
  readonly verdict: Verdict;
  /** Parallel mode: the names of the groups that are to be paused. */
  readonly paused?: readonly string[];
}

type Evaluate = (
  request: RequestInput<PushTypeProtocol['runHealthChecks']>,
) => Promise<ResponseOf<PushTypeProtocol['runHealthChecks']>>;

/** Ends at the first verdict of `stopAt` that counts, or at `until`. */
export function watchHealth(clock: Clock, evaluate: Evaluate, watch: HealthWatch): Promise<HealthReport> {
  const before = Context.current().info.heartbeatDetails as Partial<HealthSeen> | undefined;
  let fold = before?.fold ?? watch.fold ?? NO_HISTORY;
  let rows: readonly PastRow[] = before?.rows ?? watch.recent ?? [];
  let paused = before?.paused ?? watch.groups?.paused ?? [];
  return poll<HealthReport, HealthSeen>(
    { clock, intervalMs: watch.intervalMs, heartbeatTimeoutMs: watch.heartbeatTimeoutMs },
    async (now) => {
      const response = await evaluate(requestOf(watch, now));
      const { checks, skips, onUnhealthy, lastUpdateAt } = watch;
      const input = { checks, skips, onUnhealthy, lastUpdateAt, response, now };
      const folded = withRows(foldIn(fold, input, watch.groups && { ...watch.groups, paused }), rows);
      ({ fold, rows } = folded);
      paused = namesOf(folded);
      if (isOver(watch, folded, now)) return { done: { ...folded, at: now } };
      const waitMs = watch.until === null ? watch.intervalMs : Math.min(watch.intervalMs, watch.until - now);
      const seen = { fold, rows: folded.rows, verdict: folded.verdict };
      return { seen: watch.groups ? { ...seen, paused } : seen, waitMs };
    },
  );
}

type Folded = FoldResult & Partial<Pick<GroupVerdicts, 'paused'>>;

const withRows = (folded: Folded, before: readonly PastRow[]): Folded => ({
  ...folded,
  rows: withRecent(folded.rows, before),
});

const namesOf = ({ paused = [] }: Folded): string[] => paused.map(({ name }) => name);

const foldIn = (fold: HealthFold, input: FoldInput, groups: GroupRules | undefined): Folded =>
  groups ? foldGroups(fold, input, groups) : foldEvaluation(fold, input);

function isOver(watch: HealthWatch, folded: Folded, now: number): boolean {
  if (watch.groups?.stopAtChange && otherGroups(watch.groups.paused, namesOf(folded))) return true;
  const undecided = folded.verdict === 'inconclusive' && folded.young;
  if (watch.onlyReverts && folded.verdict === 'unhealthy' && folded.action !== 'revert') return false;
  if (watch.stopAt.includes(folded.verdict) && !undecided) return true;
  return watch.until !== null && now >= watch.until;
}

const requestOf = ({ targets, checks, baseline }: HealthWatch, now: number) => ({
  targets: { units: [...targets.units], updatedBy: [...targets.updatedBy] },
  checks: [...checks],
  baseline,
  now,
});
