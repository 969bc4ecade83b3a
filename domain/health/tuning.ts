import type { HealthCheck } from '../spec/health';
import type { Bound } from './bound';
import { ranksOf } from './judgeShift';
import { evidenceIn, replayTicks, type Tick } from './replay';
import { boundsOf } from './threshold';
import type { CheckEvidence } from './verdict';

/** A deploy whose nature is known. */
export interface Known {
  readonly isBad: boolean;
  /** From which limit on it is no longer found (`criticalLimit`). */
  readonly critical: number;
}

/** A limit of a check and what it makes of deploys that are known. */
export interface Tuned {
  /** In the unit of the threshold as written: percent, a share of the median, or that of the metric. */
  readonly limit: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
}

/**
 * The limit with which a check would have erred least on these deploys, everything else as it is; of several the one that misses
 * fewer bad ones. Null when none errs less than the present one, and for a check with several bounds. Evaluations that could
 * not tell stay as they were.
 */
export function betterLimit(check: HealthCheck, known: readonly Known[]): Tuned | null {
  const [bound, ...others] = boundsOf(check.threshold);
  if (bound === undefined || others.length > 0) return null;
  const tunedTo = (limit: number): Tuned => ({
    limit,
    falsePositives: known.filter(({ isBad, critical }) => !isBad && critical > limit).length,
    falseNegatives: known.filter(({ isBad, critical }) => isBad && critical <= limit).length,
  });
  const errors = ({ falsePositives, falseNegatives }: Tuned): number => falsePositives + falseNegatives;
  const present = tunedTo(bound.scale * writtenLimit(check, bound));
  const best = limitsAround(known.map(({ critical }) => critical))
    .filter((limit) => limit >= bound.lowest)
    .map(tunedTo)
    .reduce((a, b) => ((errors(b) - errors(a) || b.falseNegatives - a.falseNegatives) < 0 ? b : a), present);
  return errors(best) < errors(present) ? { ...best, limit: bound.scale * best.limit } : null;
}

/** The threshold of a check with another limit, as it is written in a pipeline file: `above: 0.08`, `increase: 15%`. */
export const limitText = (check: HealthCheck, limit: number): string =>
  ranksOf(check)?.tolerance === undefined
    ? boundsOf(check.threshold)
        .map((bound) => bound.rewrite(limit))
        .join(', ')
    : `tolerance: ${limit}`;

/** One between each two neighbours, with as few digits as tell it from them; one below all, and one that stops nothing. */
function limitsAround(criticals: readonly number[]): number[] {
  const sorted = [...new Set(criticals.filter(Number.isFinite))].sort((a, b) => a - b);
  const between = sorted.map((low, index) => {
    const high = sorted[index + 1];
    return high === undefined ? low : roundWithin(low, high);
  });
  const [lowest] = sorted;
  return lowest === undefined ? [] : [roundWithin(lowest - (Math.abs(lowest) || 1), lowest), ...between];
}

function roundWithin(low: number, high: number): number {
  const middle = (low + high) / 2;
  for (let digits = 1; digits <= MOST_DIGITS; digits += 1) {
    const rounded = Number(middle.toPrecision(digits));
    if (rounded > low && rounded < high) return rounded;
  }
  return low;
}

const MOST_DIGITS = 15;

/**
 * The limit from which on a deploy with these evaluations of the check is no longer found: minus infinity when it is found at none,
 * infinity when at all, as where `zeroBaseline` decides. A lower limit never finds less, so halving is enough.
 */
export function criticalLimit(check: HealthCheck, ticks: readonly Tick[]): number {
  if (isFound(check, ticks, Infinity)) return Infinity;
  const distances = new Set(
    ticks.flatMap(({ response }) => evidenceIn(response)).map((each) => distanceToLimit(check, each)),
  );
  const sorted = [...distances].filter((each) => each !== undefined).sort((a, b) => a - b);
  let [found, missed] = [-1, sorted.length];
  while (missed - found > 1) {
    const middle = (found + missed) >> 1;
    if (isFound(check, ticks, sorted[middle] ?? 0)) found = middle;
    else missed = middle;
  }
  return sorted[found] ?? -Infinity;
}

/** Whether what is as far as `least` or farther counts sooner or later. */
function isFound(check: HealthCheck, ticks: readonly Tick[], least: number): boolean {
  for (const { verdict } of replayTicks(check, judgedAgain(check, ticks, least)))
    if (verdict === 'unhealthy') return true;
  return false;
}

function* judgedAgain(check: HealthCheck, ticks: readonly Tick[], least: number): Generator<Tick> {
  const again = (evidence: CheckEvidence): CheckEvidence => {
    const far = distanceToLimit(check, evidence);
    if (far === undefined) return evidence;
    if (far >= least) return { ...evidence, verdict: 'unhealthy' };
    return evidence.verdict === 'unhealthy' ? { ...evidence, verdict: 'healthy' } : evidence;
  };
  for (const { response, ...tick } of ticks)
    yield {
      ...tick,
      response: {
        units: response.units.map(({ id, checks }) => ({ id, checks: checks.map(again) })),
        deploy: { checks: response.deploy.checks.map(again) },
      },
    };
}

/**
 * How far an evaluation went in the direction that the threshold minds, in the unit of the limit: beyond the limit is unhealthy.
 * Undefined where it held nothing against the threshold. The first of several bounds, since none of them is tuned.
 */
function distanceToLimit(
  check: HealthCheck,
  { observed, reference, threshold, test }: CheckEvidence,
): number | undefined {
  const [bound] = boundsOf(check.threshold);
  if (bound === undefined || observed === null || threshold === null) return undefined;
  if (typeof check.method !== 'object')
    return bound.distance({ observed, reference: reference ?? undefined, zeroBaseline: check.zeroBaseline });
  const tolerated = Math.abs(threshold - (reference ?? NaN));
  if (test === undefined || !(tolerated > 0)) return undefined;
  return ((bound.sign > 0 ? test.shift.low : -test.shift.high) / tolerated) * writtenLimit(check, bound);
}

/** For ranks what is tolerated stands in its place. */
const writtenLimit = (check: HealthCheck, { written }: Bound): number => ranksOf(check)?.tolerance ?? written;
