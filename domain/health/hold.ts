import { formatDuration } from '../text';
import type { HealthCheck } from '../spec/health';
import type { Verdict } from './verdict';

/**
 * The time or the number of evaluations for which a check has to agree before it counts: `for` and `passes`
 * (docs/reference/health.md#how-long-it-has-to-last).
 */

/** The memory about a check of a unit between evaluations. */
export interface CheckHistory {
  /** ms since the epoch: the time when it became unhealthy, if no evaluation since has disagreed. */
  readonly since?: number;
  /** The number of unhealthy evaluations in a row. */
  readonly evaluations?: number;
  /** With `for.within`: the newest evaluations, oldest first; `x` for unhealthy, `.` for any other verdict. */
  readonly recent?: string;
  /** With `passes`: the number of evaluations in a row in which it was healthy everywhere. */
  readonly passes?: number;
  /**
   * ms since the epoch: the time of the last evaluation of all checks (`domain/health/gap.ts`), for an entry that is
   * not about a check.
   */
  readonly at?: number;
}

type Hold = HealthCheck['for'];

/**
 * Undefined if there is nothing to remember. Any verdict other than unhealthy ends an unhealthy run, including an error and
 * silence.
 */
export function remember(
  hold: Hold,
  before: CheckHistory | undefined,
  verdict: Verdict,
  now: number,
): CheckHistory | undefined {
  const unhealthy = verdict === 'unhealthy';
  const run = unhealthy ? { since: before?.since ?? now, evaluations: (before?.evaluations ?? 0) + 1 } : undefined;
  const within = getWithin(hold);
  if (within === undefined) return run;
  const recent = `${before?.recent ?? ''}${unhealthy ? 'x' : '.'}`.slice(-within);
  return recent.includes('x') ? { ...run, recent } : undefined;
}

/** The reason why an unhealthy evaluation, which is already remembered, does not count yet; undefined if it does. */
export function whyNotYet(hold: Hold, { since = 0, evaluations = 0, recent = '' }: CheckHistory, now: number) {
  if (hold === undefined) return undefined;
  if (typeof hold === 'number') {
    const heldMs = now - since;
    if (heldMs >= hold) return undefined;
    return `counts after ${formatDuration(hold)}, unhealthy for ${formatDuration(heldMs)} so far`;
  }
  if ('evaluations' in hold) {
    if (evaluations >= hold.evaluations) return undefined;
    return `counts after ${hold.evaluations} evaluations in a row, this is number ${evaluations}`;
  }
  const failures = recent.split('x').length - 1;
  if (failures >= hold.failures) return undefined;
  return `counts after ${hold.failures} of ${hold.within} evaluations, this is number ${failures}`;
}

/**
 * The reason why a check that is healthy everywhere does not pass yet; undefined if it does. `passes` includes this
 * evaluation.
 */
export const whyNotPassed = (needed: number | undefined, passes: number): string | undefined =>
  needed === undefined || passes >= needed
    ? undefined
    : `passes after ${needed} healthy evaluations in a row, this is number ${passes}`;

const getWithin = (hold: Hold): number | undefined =>
  typeof hold === 'object' && 'within' in hold ? hold.within : undefined;
