import type { HealthCheck } from '../spec/health';
import type { Bound } from './bound';
import { getRankMethod } from './judgeShift';
import { evidenceIn, replayTicks, type Tick } from './replay';
import { listBounds } from './threshold';
import type { CheckEvidence } from './verdict';

/** A deploy whose nature is known. */
export interface KnownTrial {
  readonly isBad: boolean;
  /** The limit from which on it is no longer found (`criticalLimit`). */
  readonly critical: number;
}

/** A limit of a check, and its errors on known deploys. */
export interface TunedLimit {
  /** In the unit of the written threshold: percent, a share of the median, or the unit of the metric. */
  readonly limit: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
}

/**
 * The limit with which a check would have erred least on these deploys, with everything else unchanged; among equals, the one that
 * misses fewer bad ones. Null if no limit errs less than the present one, and for a check with several bounds. Inconclusive evaluations
 * stay unchanged.
 */
export function betterLimit(check: HealthCheck, known: readonly KnownTrial[]): TunedLimit | null {
  const [bound, ...others] = listBounds(check.threshold);
  if (bound === undefined || others.length > 0) return null;
  const tunedTo = (limit: number): TunedLimit => ({
    limit,
    falsePositives: known.filter(({ isBad, critical }) => !isBad && critical > limit).length,
    falseNegatives: known.filter(({ isBad, critical }) => isBad && critical <= limit).length,
  });
  const errors = ({ falsePositives, falseNegatives }: TunedLimit): number => falsePositives + falseNegatives;
  const present = tunedTo(bound.scale * getWrittenLimit(check, bound));
  const best = limitsAround(known.map(({ critical }) => critical))
    .filter((limit) => limit >= bound.lowest)
    .map(tunedTo)
    .reduce((a, b) => ((errors(b) - errors(a) || b.falseNegatives - a.falseNegatives) < 0 ? b : a), present);
  return errors(best) < errors(present) ? { ...best, limit: bound.scale * best.limit } : null;
}

/** The threshold of a check with another limit, in the form of a pipeline file: `above: 0.08`, `increase: 15%`. */
export const limitText = (check: HealthCheck, limit: number): string =>
  getRankMethod(check)?.tolerance === undefined
    ? listBounds(check.threshold)
        .map((bound) => bound.rewrite(limit))
        .join(', ')
    : `tolerance: ${limit}`;

/** One limit between each two neighbours, with as few digits as necessary; one below all, and one that stops nothing. */
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
 * The limit from which on a deploy with these evaluations is no longer found: minus infinity if no limit finds it, infinity if every limit
 * does, as when `zeroBaseline` decides. A lower limit never finds less, so a binary search is enough.
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

/** Whether an evaluation at a distance of `least` or more counts as unhealthy at some time. */
function isFound(check: HealthCheck, ticks: readonly Tick[], least: number): boolean {
  for (const { verdict } of replayTicks(check, rejudgeTicks(check, ticks, least)))
    if (verdict === 'unhealthy') return true;
  return false;
}

function* rejudgeTicks(check: HealthCheck, ticks: readonly Tick[], least: number): Generator<Tick> {
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
 * The distance of an evaluation in the direction of the threshold, in the unit of the limit: beyond the limit is unhealthy. Undefined if
 * it was not compared with the threshold. It uses the first bound only, since a check with several bounds is not tuned.
 */
function distanceToLimit(
  check: HealthCheck,
  { observed, reference, threshold, test }: CheckEvidence,
): number | undefined {
  const [bound] = listBounds(check.threshold);
  if (bound === undefined || observed === null || threshold === null) return undefined;
  if (typeof check.method !== 'object')
    return bound.distance({ observed, reference: reference ?? undefined, zeroBaseline: check.zeroBaseline });
  const tolerated = Math.abs(threshold - (reference ?? NaN));
  if (test === undefined || !(tolerated > 0)) return undefined;
  return ((bound.sign > 0 ? test.shift.low : -test.shift.high) / tolerated) * getWrittenLimit(check, bound);
}

/** For ranks, the tolerance takes its place. */
const getWrittenLimit = (check: HealthCheck, { written }: Bound): number => getRankMethod(check)?.tolerance ?? written;
