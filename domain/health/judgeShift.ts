import type { HealthCheck } from '../spec/health';
import { comparisonIn, formatValue, ranksOf, type Judgement } from './judge';
import { leastP, mannWhitney, type RankTest } from './mannWhitney';
import { quantile } from './series';

/** The two samples of a rank test: every value of every task, and what each side comes to when reduced. */
export interface Samples {
  readonly fresh: readonly number[];
  readonly old: readonly number[];
  readonly observed: number;
  readonly reference: number;
  /** "the 3 tasks not yet updated" */
  readonly whom: string;
}

/**
 * Unhealthy when the whole confidence interval of the shift lies beyond what is tolerated, in the direction that the
 * threshold names. Samples that are too small for the confidence, whatever they hold, are inconclusive.
 */
export function judgeShift(check: HealthCheck, confidence: number, samples: Samples): Judgement {
  const { fresh, old } = samples;
  const sure = `${formatValue(confidence * 100)}%`;
  if (leastP(fresh.length, old.length) > 1 - confidence) {
    const text = `has ${fresh.length} values against ${old.length} of ${samples.whom}, too few to be ${sure} sure of anything`;
    return { verdict: 'inconclusive', limit: null, text };
  }
  const test = mannWhitney(fresh, old, confidence);
  const median = quantile(old, 50);
  const allowed = allowedShift(check, median);
  const shift = sentence(samples, test, sure);
  const decide = (most: number): Judgement => ({
    verdict: beyond(check, test, most, median) ? 'unhealthy' : 'healthy',
    limit: samples.reference + (rises(check) ? most : -most),
    text: `${shift}; ${rises(check) ? 'an increase' : 'a decrease'} of ${formatValue(most)} is allowed`,
    test,
  });
  if (median !== 0 || !allowed.isRelative || !beyond(check, test, 0, median)) return decide(allowed.amount);
  if (check.zeroBaseline === 'absolute') return decide(allowed.share);
  const hint = check.zeroBaseline ? `zeroBaseline says ${check.zeroBaseline}` : 'see zeroBaseline';
  const text = `${shift}; a change from a median of zero has no percentage (${hint})`;
  return { verdict: check.zeroBaseline ?? 'inconclusive', limit: null, text, test };
}

const rises = ({ threshold }: HealthCheck): boolean => comparisonIn(threshold)?.direction === 'increase';

/** Beyond what is allowed with certainty, and by more than sums of the same numbers in another order differ; and no rare thing. */
function beyond(check: HealthCheck, { shift, effect }: RankTest, allowed: number, median: number): boolean {
  const least = rises(check) ? shift.low : -shift.high;
  const prevails = rises(check) ? effect : -effect;
  return least - allowed > NOISE * (allowed + Math.abs(median)) && prevails >= (ranksOf(check)?.effect ?? 0);
}

const NOISE = 1e-9;

/** What is tolerated, in the unit of the values; `share` is the same as a part of the median. */
function allowedShift(check: HealthCheck, median: number): { amount: number; share: number; isRelative: boolean } {
  const change = comparisonIn(check.threshold)?.allowed;
  const tolerance = ranksOf(check)?.tolerance;
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
