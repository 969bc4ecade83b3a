import { normalBelow, normalQuantile } from './normal';
import { quantile, quantiles, sorted } from './series';

/** What a rank test says of two samples. The shift is in the unit of the values, positive where the first are larger. */
export interface RankTest {
  /** Two-sided: how likely so large a difference is where there is none. */
  readonly p: number;
  /** Hodges–Lehmann: the median of all differences, and the bounds that hold it with the confidence asked for. */
  readonly shift: { readonly estimate: number; readonly low: number; readonly high: number };
  /** Cliff's delta: −1 when all of the first are below all of the second, 1 when all are above, 0 when neither prevails. */
  readonly effect: number;
}

/** Above it a sample counts as large: the normal approximation takes the place of counting, as in R. */
const SMALL = 50;
/** More values than these stand in line as evenly spaced ones of their order: that never makes a test surer. */
const MOST_VALUES = 200;
const EVENLY = Array.from({ length: MOST_VALUES }, (_, nth) => ((nth + 0.5) * 100) / MOST_VALUES);
/** Bounds of large samples are exact to a billionth of the spread. */
const HALVINGS = 30;
/** Comes after every value. */
const BEYOND = Infinity;

/**
 * The Mann–Whitney test of two samples (neither empty, all finite), with the same numbers as `wilcox.test(fresh, old,
 * conf.int = TRUE)` of R: exact for less than 50 values without ties, else normal with corrections for ties and
 * continuity. Two constant samples differ by what they differ by; R has no answer there. The order of values means nothing.
 */
export function mannWhitney(fresh: readonly number[], old: readonly number[], confidence: number): RankTest {
  const [x, y] = [thinned(fresh), thinned(old)];
  const { greater, equal, ties } = compare(x, y);
  const pairs = x.length * y.length;
  const effect = (2 * greater + equal) / pairs - 1;
  if (isConstant(x) && isConstant(y)) return constants((x[0] ?? 0) - (y[0] ?? 0), effect);
  const isExact = x.length < SMALL && y.length < SMALL && ties === 0;
  return { ...(isExact ? exactly(x, y, greater, confidence) : nearly(x, y, confidence)), effect };
}

/** The least `p` that samples of these sizes can have, when all of one are above all of the other. */
export function leastP(sizeA: number, sizeB: number): number {
  const [small, all] = [Math.min(sizeA, sizeB, MOST_VALUES), sizeA + sizeB];
  let ways = 1;
  for (let k = 1; k <= small && ways < Number.MAX_SAFE_INTEGER; k += 1) ways = (ways * (all - small + k)) / k;
  return Math.min(1, 2 / ways);
}

function thinned(values: readonly number[]): number[] {
  return values.length <= MOST_VALUES ? sorted(values) : quantiles(values, EVENLY);
}

const isConstant = (sorted: readonly number[]): boolean => sorted[0] === sorted.at(-1);

const constants = (difference: number, effect: number): RankTest => ({
  p: difference === 0 ? 1 : 0,
  shift: { estimate: difference, low: difference, high: difference },
  effect,
});

interface Comparison {
  /** Of all pairs, in how many the first is greater, and in how many it is equal. */
  readonly greater: number;
  readonly equal: number;
  /** The sum of `t³ − t` over all groups of `t` equal values. */
  readonly ties: number;
}

/** Goes through two sorted samples together, `x` taken as `shift` lower than it is. */
function compare(x: readonly number[], y: readonly number[], shift = 0): Comparison {
  let [greater, equal, ties, i, j] = [0, 0, 0, 0, 0];
  let [nextX, nextY] = [(x[0] ?? BEYOND) - shift, y[0] ?? BEYOND];
  while (i < x.length || j < y.length) {
    const value = nextX < nextY ? nextX : nextY;
    const [fromX, fromY] = [i, j];
    while (nextX === value) nextX = (x[(i += 1)] ?? BEYOND) - shift;
    while (nextY === value) nextY = y[(j += 1)] ?? BEYOND;
    const [ofX, ofY] = [i - fromX, j - fromY];
    greater += ofX * fromY;
    equal += ofX * ofY;
    ties += (ofX + ofY) ** 3 - (ofX + ofY);
  }
  return { greater, equal, ties };
}

function exactly(x: readonly number[], y: readonly number[], u: number, confidence: number): Omit<RankTest, 'effect'> {
  const pairs = x.length * y.length;
  const below = cumulative(x.length, y.length);
  const p = Math.min(1, 2 * (below[Math.min(u, pairs - u)] ?? 1));
  const differences = x.flatMap((a) => y.map((b) => a - b)).sort((a, b) => a - b);
  const rank = Math.max(
    1,
    below.findIndex((probability) => probability >= (1 - confidence) / 2),
  );
  const [low, high] = [differences[rank - 1] ?? NaN, differences[pairs - rank] ?? NaN];
  return { p, shift: { estimate: quantile(differences, 50), low, high } };
}

/** The probability of at most `u` pairs, for every `u`: the coefficients of the Gaussian binomial, summed. */
function cumulative(m: number, n: number): number[] {
  const pairs = m * n;
  const ways = new Array<number>(pairs + 1).fill(0);
  ways[0] = 1;
  for (let k = 1; k <= m; k += 1) {
    for (let u = pairs; u >= n + k; u -= 1) ways[u] = (ways[u] ?? 0) - (ways[u - n - k] ?? 0);
    for (let u = k; u <= pairs; u += 1) ways[u] = (ways[u] ?? 0) + (ways[u - k] ?? 0);
  }
  let total = 0;
  const sums = ways.map((count) => (total += count));
  return sums.map((sum) => sum / total);
}

function nearly(x: readonly number[], y: readonly number[], confidence: number): Omit<RankTest, 'effect'> {
  const far = normalQuantile((1 + confidence) / 2);
  const z = deviation(x, y, 0, 0.5);
  const reaches = { low: (x[0] ?? 0) - (y.at(-1) ?? 0), high: (x.at(-1) ?? 0) - (y[0] ?? 0) };
  const edge = (isShort: (z: number) => boolean, correction: number): number => {
    let { low, high } = reaches;
    if (!isShort(deviation(x, y, low, correction))) return low;
    if (isShort(deviation(x, y, high, correction))) return high;
    for (let step = 0; step < HALVINGS; step += 1) {
      const middle = (low + high) / 2;
      if (isShort(deviation(x, y, middle, correction))) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  // Where the rank sum is flat at its mean, the middle of that is meant.
  const estimate = (edge((at) => at > 0, 0) + edge((at) => at >= 0, 0)) / 2;
  const shift = { estimate, low: edge((at) => at > far, 0.5), high: edge((at) => at > -far, 0.5) };
  return { p: Math.min(1, 2 * normalBelow(-Math.abs(z))), shift };
}

/** How many standard deviations the rank sum is from its mean, were the first sample `shift` lower. */
function deviation(x: readonly number[], y: readonly number[], shift: number, correction: number): number {
  const { greater, equal, ties } = compare(x, y, shift);
  const [m, n] = [x.length, y.length];
  const excess = greater + equal / 2 - (m * n) / 2;
  const variance = ((m * n) / 12) * (m + n + 1 - ties / ((m + n) * (m + n - 1)));
  return variance > 0 ? (excess - Math.sign(excess) * correction) / Math.sqrt(variance) : 0;
}
