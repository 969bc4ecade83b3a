import { MINUTE_MS } from '../milliseconds';
import type { HealthFold } from './fold';

/** Detects gaps between evaluations: after a long gap, nothing is known about the health in between. */

/** The key for the time of the last evaluation. The keys of checks contain a `|`. */
const LAST = 'last';

export const markEvaluated = (fold: HealthFold, at: number): HealthFold => ({ ...fold, [LAST]: { at } });

/** With `for.within`, the last evaluations count from any time; all other runs end in a gap. */
export function acrossGap(fold: HealthFold, now: number, intervalMs: number): HealthFold {
  const at = fold[LAST]?.at;
  // There is none before the first evaluation.
  if (at === undefined || now - at <= Math.max(2 * intervalMs, MINUTE_MS)) return fold;
  return Object.fromEntries(
    Object.entries(fold).flatMap(([key, { recent }]) => (recent === undefined ? [] : [[key, { recent }]])),
  );
}
