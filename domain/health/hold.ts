import { formatDuration } from '../text';
import type { HealthCheck } from '../spec/health';
import type { Verdict } from './verdict';

/** How long or how often a check has to say the same before it counts: `for` and `passes` of a check (docs/reference/health.md#how-long-it-has-to-last). */

/** What is remembered of a check of a unit from one evaluation to the next. */
export interface Remembered {
  /** ms since the epoch: when it became unhealthy, without an evaluation between that said anything else. */
  readonly since?: number;
  /** How many evaluations in a row found it unhealthy. */
  readonly evaluations?: number;
  /** With `for.within`: the newest evaluations, oldest first, `x` where it was unhealthy and `.` where not. */
  readonly recent?: string;
  /** With `passes`: how many evaluations in a row found it healthy wherever it was looked at. */
  readonly passes?: number;
  /** ms since the epoch: not of a check, but when all were evaluated last (`domain/health/gap.ts`). */
  readonly at?: number;
}

type Hold = HealthCheck['for'];

/** Undefined when there is nothing to remember. Whatever is not unhealthy, also an error and silence, ends a run of it. */
export function remember(
  hold: Hold,
  before: Remembered | undefined,
  verdict: Verdict,
  now: number,
): Remembered | undefined {
  const unhealthy = verdict === 'unhealthy';
  const run = unhealthy ? { since: before?.since ?? now, evaluations: (before?.evaluations ?? 0) + 1 } : undefined;
  const within = withinOf(hold);
  if (within === undefined) return run;
  const recent = `${before?.recent ?? ''}${unhealthy ? 'x' : '.'}`.slice(-within);
  return recent.includes('x') ? { ...run, recent } : undefined;
}

/** Why an unhealthy evaluation, remembered already, does not count yet; undefined when it does. */
export function whyNotYet(hold: Hold, { since = 0, evaluations = 0, recent = '' }: Remembered, now: number) {
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

/** Why what is healthy everywhere does not pass yet; undefined when it does. `passes` counts this evaluation. */
export const whyNotPassed = (needed: number | undefined, passes: number): string | undefined =>
  needed === undefined || passes >= needed
    ? undefined
    : `passes after ${needed} healthy evaluations in a row, this is number ${passes}`;

const withinOf = (hold: Hold): number | undefined =>
  typeof hold === 'object' && 'within' in hold ? hold.within : undefined;
