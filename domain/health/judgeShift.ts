import type { HealthCheck } from '../spec/health';
import { formatValue, type Bound, type Judgement } from './bound';
import { leastP, mannWhitney, type RankTest } from './mannWhitney';
import { quantile } from './series';

/** The two samples of a rank test: all values of all tasks, and the reduced value of each side. */
export interface Samples {
  readonly fresh: readonly number[];
  readonly old: readonly number[];
  readonly observed: number;
  readonly reference: number;
  /** "the 3 tasks not yet updated" */
  readonly whom: string;
}

/** The method for comparing ranks; undefined for a check without one. */
export const getRankMethod = ({ method }: Pick<HealthCheck, 'method'>) =>
  typeof method === 'object' ? method['mann-whitney'] : undefined;

type RankedMethod = Pick<HealthCheck, 'method' | 'zeroBaseline'>;

/**
 * Unhealthy if the whole confidence interval of the shift is beyond the tolerated value, in the direction of the bound.
 * If samples are too small to ever reach the confidence, the result is inconclusive.
 */
export function judgeShift(check: RankedMethod, bound: Bound, confidence: number, samples: Samples): Judgement {
  const { fresh, old } = samples;
  const sure = `${formatValue(confidence * 100)}%`;
  if (leastP(fresh.length, old.length) > 1 - confidence) {
    const text = `has ${fresh.length} values against ${old.length} of ${samples.whom}, too few to be ${sure} sure of anything`;
    return { verdict: 'inconclusive', limit: null, text };
  }
  const test = mannWhitney(fresh, old, confidence);
  const median = quantile(old, 50);
  const allowed = computeAllowedShift(check, bound, median);
  const shift = sentence(samples, test, sure);
  const decide = (most: number): Judgement => ({
    verdict: isBeyond(check, bound, test, most, median) ? 'unhealthy' : 'healthy',
    limit: samples.reference + bound.sign * most,
    text: `${shift}; ${bound.sign > 0 ? 'an increase' : 'a decrease'} of ${formatValue(most)} is allowed`,
    test,
  });
  if (median !== 0 || !allowed.isRelative || !isBeyond(check, bound, test, 0, median)) return decide(allowed.amount);
  if (check.zeroBaseline === 'absolute') return decide(allowed.share);
  const hint = check.zeroBaseline ? `zeroBaseline says ${check.zeroBaseline}` : 'see zeroBaseline';
  const text = `${shift}; a change from a median of zero has no percentage (${hint})`;
  return { verdict: check.zeroBaseline ?? 'inconclusive', limit: null, text, test };
}

/**
 * Whether the shift is certainly beyond the allowed one, by more than the rounding error of sums in another order, and the difference is
 * common enough (`effect`).
 */
function isBeyond(
  check: RankedMethod,
  { sign }: Bound,
  { shift, effect }: RankTest,
  allowed: number,
  median: number,
): boolean {
  const least = sign > 0 ? shift.low : -shift.high;
  const prevails = sign * effect;
  return least - allowed > NOISE * (allowed + Math.abs(median)) && prevails >= (getRankMethod(check)?.effect ?? 0);
}

const NOISE = 1e-9;

interface AllowedShift {
  /** In the unit of the values. */
  readonly amount: number;
  /** The same as a share of the median. */
  readonly share: number;
  readonly isRelative: boolean;
}

/** From `tolerance`, or else from the threshold. */
function computeAllowedShift(check: RankedMethod, { allowed: change }: Bound, median: number): AllowedShift {
  const tolerance = getRankMethod(check)?.tolerance;
  if (tolerance === undefined && change !== undefined && 'absolute' in change)
    return { amount: change.absolute, share: 0, isRelative: false };
  const share = tolerance ?? (change !== undefined && 'percent' in change ? change.percent / 100 : 0);
  return { amount: share * Math.abs(median), share, isRelative: true };
}

/** "is 0.21 against 0.01 of the 3 tasks not yet updated, higher by 0.2 (98% sure: 0.15 to 0.25; effect 0.97)" */
function sentence({ observed, reference, whom }: Samples, { shift, effect }: RankTest, sure: string): string {
  const { estimate, low, high } = shift;
  const size = formatValue(Math.abs(estimate));
  const moved = estimate === 0 ? 'not shifted' : `${estimate > 0 ? 'higher' : 'lower'} by ${size}`;
  const [least, most] = estimate < 0 ? [-high, -low] : [low, high];
  const bounds = `${sure} sure: ${formatValue(least)} to ${formatValue(most)}; effect ${Number(effect.toFixed(2))}`;
  return `is ${formatValue(observed)} against ${formatValue(reference)} of ${whom}, ${moved} (${bounds})`;
}
