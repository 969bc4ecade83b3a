import type { HealthCheck } from '../spec/health';
import { changeIn, ranksOf, sidesOf } from './judge';
import { evidenceIn, replayTicks, type Tick } from './replay';
import type { Evidence } from './verdict';

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
 * fewer bad ones. Null when none errs less than the present one, and for a check with limits on both sides. Evaluations that could
 * not tell stay as they were.
 */
export function betterLimit(check: HealthCheck, known: readonly Known[]): Tuned | null {
  if (sidesOf(check).length > 1) return null;
  const tunedTo = (limit: number): Tuned => ({
    limit,
    falsePositives: known.filter(({ isBad, critical }) => !isBad && critical > limit).length,
    falseNegatives: known.filter(({ isBad, critical }) => isBad && critical <= limit).length,
  });
  const errors = ({ falsePositives, falseNegatives }: Tuned): number => falsePositives + falseNegatives;
  const present = tunedTo(sign(check) * writtenLimit(check));
  const best = limitsAround(known.map(({ critical }) => critical))
    .filter((limit) => limit >= leastLimit(check))
    .map(tunedTo)
    .reduce((a, b) => ((errors(b) - errors(a) || b.falseNegatives - a.falseNegatives) < 0 ? b : a), present);
  return errors(best) < errors(present) ? { ...best, limit: sign(check) * best.limit } : null;
}

/** The threshold of a check with another limit, as it is written in a pipeline file: `above: 0.08`, `increase: 15%`. */
export function limitText(check: HealthCheck, limit: number): string {
  const { threshold } = check;
  if ('above' in threshold || 'below' in threshold) return `${'above' in threshold ? 'above' : 'below'}: ${limit}`;
  if (ranksOf(check)?.tolerance !== undefined) return `tolerance: ${limit}`;
  const { direction, allowed } = changeIn(threshold);
  return `${direction}: ${limit}${'percent' in allowed ? '%' : ''}`;
}

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
  const distances = new Set(ticks.flatMap(({ response }) => evidenceIn(response)).map((each) => distance(check, each)));
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
  const again = (evidence: Evidence): Evidence => {
    const far = distance(check, evidence);
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
 * Undefined where it held nothing against the threshold.
 */
function distance(check: HealthCheck, { observed, reference, threshold, test }: Evidence): number | undefined {
  if (observed === null || threshold === null) return undefined;
  if ('above' in check.threshold || 'below' in check.threshold) return sign(check) * observed;
  if (reference === null) return undefined;
  const { direction, allowed } = changeIn(check.threshold);
  const rises = direction === 'increase';
  if (typeof check.method === 'object') {
    const tolerated = Math.abs(threshold - reference);
    if (test === undefined || tolerated === 0) return undefined;
    return ((rises ? test.shift.low : -test.shift.high) / tolerated) * writtenLimit(check);
  }
  const change = rises ? observed - reference : reference - observed;
  if ('absolute' in allowed) return change;
  if (reference === 0) return check.zeroBaseline === 'absolute' ? change * 100 : undefined;
  return (change / Math.abs(reference)) * 100;
}

/** No change of less than nothing can be written. */
const leastLimit = ({ threshold }: HealthCheck): number =>
  'above' in threshold || 'below' in threshold ? -Infinity : 0;

/** A lower bound is one from above for the negative values. */
const sign = ({ threshold }: HealthCheck): 1 | -1 => ('below' in threshold ? -1 : 1);

function writtenLimit(check: HealthCheck): number {
  const { threshold } = check;
  if ('above' in threshold) return threshold.above;
  if ('below' in threshold) return threshold.below;
  const tolerance = ranksOf(check)?.tolerance;
  if (tolerance !== undefined) return tolerance;
  const { allowed } = changeIn(threshold);
  return 'percent' in allowed ? allowed.percent : allowed.absolute;
}
