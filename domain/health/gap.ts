import { MINUTE_MS } from '../milliseconds';
import type { HealthFold } from './fold';

/** Evaluations follow each other, or they are about different times: in a long gap nobody has seen what was healthy and what was not. */

/** When the last evaluation was, among what is remembered of checks, whose keys have a `|`. */
const LAST = 'last';

export const evaluatedAt = (fold: HealthFold, at: number): HealthFold => ({ ...fold, [LAST]: { at } });

/** With `for.within` the last evaluations count whenever they were; every run of the others ends in a gap. */
export function acrossGap(fold: HealthFold, now: number, intervalMs: number): HealthFold {
  const at = fold[LAST]?.at;
  // Before 0.3 nobody wrote it down.
  if (at === undefined || now - at <= Math.max(2 * intervalMs, MINUTE_MS)) return fold;
  return Object.fromEntries(
    Object.entries(fold).flatMap(([key, { recent }]) => (recent === undefined ? [] : [[key, { recent }]])),
  );
}
