import type { HealthCheck } from '../spec/health';
import type { TimeRange } from './series';
import { findLongestReach } from './transform';

/** The lookback of a check without one and without a transform, if the health interval is unknown. */
const DEFAULT_LOOKBACK_MS = 60_000;
const LONGEST_STEP_MS = 60_000;

/**
 * The amount of data that each evaluation of a check reads: its own setting, else its longest transform, and at least the health
 * interval.
 */
export function computeLookback(check: HealthCheck, intervalMs: number = DEFAULT_LOOKBACK_MS): number {
  return check.lookback ?? Math.max(findLongestReach(check.transform), intervalMs);
}

/** The checks with every lookback filled in: services that evaluate them do not know the health interval. */
export function withLookback(checks: readonly HealthCheck[], intervalMs: number): HealthCheck[] {
  return checks.map((check) => ({ ...check, lookback: computeLookback(check, intervalMs) }));
}

/** The longest lookback, which is the length of the baseline before a deploy and of an extension of a bake. */
export function longestLookback(checks: readonly HealthCheck[], intervalMs: number): number {
  return Math.max(intervalMs, ...checks.map((check) => computeLookback(check, intervalMs)));
}

/** The part of the baseline that is as long as the lookback; shorter only if no older data is known. */
export const baselineFor = ({ start, end }: TimeRange, lookbackMs: number): TimeRange => ({
  start: Math.max(start, end - lookbackMs),
  end,
});

/** The interval of points to request from a data source: at least three per lookback, at most a minute apart. */
export const stepFor = (lookbackMs: number): number =>
  Math.max(1, Math.min(LONGEST_STEP_MS, Math.floor(lookbackMs / 3)));
