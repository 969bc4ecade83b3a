import { longestLookback } from '../health/lookback';
import type { Verdict } from '../health/verdict';
import { isParallel } from './groups';
import type { PhasePlan } from './plan';
import type { DeployInput } from './state';

/** In parallel mode a bake lasts at least one check window after the last update; an emergency may skip that. */
export function computeBakeMs(input: DeployInput, { bakeMs }: Pick<PhasePlan, 'bakeMs'>): number {
  const { healthChecks, healthInterval } = input.spec;
  const isChecked = isParallel(input) && healthChecks.length > 0 && !input.emergency?.skipBake;
  return isChecked ? Math.max(bakeMs, longestLookback(healthChecks, healthInterval)) : bakeMs;
}

/** The result of one watch over a bake: the last folded evaluation, or the first that calls for action. */
export interface BakeWatchResult {
  readonly verdict: Verdict;
  /** The action that an unhealthy verdict asks for (the worst check's `onUnhealthy`); `none` unless unhealthy. */
  readonly action: 'none' | 'revert' | 'pause';
  /** A check is unhealthy but younger than its `for`, or its window is not filled yet. */
  readonly young: boolean;
  /** One sentence about the worst check. */
  readonly reason: string;
}

export type BakeStep =
  | { readonly kind: 'pass' }
  | { readonly kind: 'extend'; readonly counts: boolean }
  | { readonly kind: 'pause'; readonly by: 'health' | 'dependency'; readonly reason: string }
  | { readonly kind: 'revert'; readonly reason: string };

/**
 * The step after a watch (docs/design/deploy.md#verdicts). An error never passes a phase and never reverts one. An inconclusive or
 * errored verdict extends the bake once, then pauses; a check that is still young extends it without that limit.
 */
export function afterWatch(watched: BakeWatchResult, extended: boolean): BakeStep {
  if (watched.verdict === 'unhealthy') {
    const { action, reason } = watched;
    return action === 'revert' ? { kind: 'revert', reason } : { kind: 'pause', by: 'health', reason };
  }
  if (watched.young) return { kind: 'extend', counts: false };
  if (watched.verdict === 'healthy') return { kind: 'pass' };
  if (!extended) return { kind: 'extend', counts: true };
  return { kind: 'pause', by: watched.verdict === 'errored' ? 'dependency' : 'health', reason: watched.reason };
}
