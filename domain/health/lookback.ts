import type { HealthCheck } from '../spec/health';
import type { TimeRange } from './series';
import { reachOf } from './transform';

/** Lookback of a check that says nothing and has no transform, where the health interval is not known. */
const DEFAULT_LOOKBACK_MS = 60_000;
const LONGEST_STEP_MS = 60_000;

/** How much data each evaluation of a check reads: what it says, else its longest transform, at least the health interval. */
export function lookbackOf(check: HealthCheck, intervalMs: number = DEFAULT_LOOKBACK_MS): number {
  return check.lookback ?? Math.max(reachOf(check.transform), intervalMs);
}

/** The checks with every lookback written out: services that evaluate them do not know the health interval. */
export function withLookback(checks: readonly HealthCheck[], intervalMs: number): HealthCheck[] {
  return checks.map((check) => ({ ...check, lookback: lookbackOf(check, intervalMs) }));
}

/** The longest lookback: how long the baseline before a deploy must be, and how long an extension of a bake lasts. */
export function longestLookback(checks: readonly HealthCheck[], intervalMs: number): number {
  return Math.max(intervalMs, ...checks.map((check) => lookbackOf(check, intervalMs)));
}

/** The part of the baseline that is as long as the lookback; shorter only where nothing further back is known. */
export const baselineFor = ({ start, end }: TimeRange, lookbackMs: number): TimeRange => ({
  start: Math.max(start, end - lookbackMs),
  end,
});

/** The distance of points to ask a data source for: at least three to a lookback, at most a minute apart. */
export const stepFor = (lookbackMs: number): number =>
  Math.max(1, Math.min(LONGEST_STEP_MS, Math.floor(lookbackMs / 3)));
