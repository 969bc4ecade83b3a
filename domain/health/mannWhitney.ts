import { normalBelow, normalQuantile } from './normal';
import { quantileOfSorted, quantiles, sortNumbers } from './series';
import { sortAtRanks } from './sortedAt';

/** The result of a rank test of two samples. The shift is in the unit of the values, positive if the first are larger. */
export interface RankTest {
  /** Two-sided: the probability of so large a difference if there is none. */
  readonly p: number;
  /** Hodges–Lehmann: the median of all differences, and the bounds of its confidence interval. */
  readonly shift: { readonly estimate: number; readonly low: number; readonly high: number };
  /** Cliff's delta: −1 if all of the first are below all of the second, 1 if all are above, 0 if neither prevails. */
  readonly effect: number;
}

/** From this size on a sample counts as large: the normal approximation replaces counting, as in R. */
const SMALL = 50;
/**
 * A larger sample is represented by this many evenly spaced values of its order, which never makes a test more certain.
 */
const MOST_VALUES = 200;
const EVENLY = Array.from({ length: MOST_VALUES }, (_, nth) => ((nth + 0.5) * 100) / MOST_VALUES);
/** Sorts after every value. */
const BEYOND = Infinity;

/**
 * The Mann–Whitney test of two samples (neither empty, all finite), with the same numbers as `wilcox.test(fresh, old, conf.int = TRUE)`
 * of R: exact for less than 50 values without ties, else normal with corrections for ties and continuity. R searches for the shift to
 * four digits; here it is one of the differences, so that no outlier moves it and rounding has no effect. The shift of two constant
 * samples is their difference; R has no answer there. The order of the values is irrelevant.
 */
export function mannWhitney(fresh: readonly number[], old: readonly number[], confidence: number): RankTest {
  const [x, y] = [sampleValues(fresh), sampleValues(old)];
  const comparison = compareSamples(x, y);
  const pairs = x.length * y.length;
  const effect = (2 * comparison.greater + comparison.equal) / pairs - 1;
  if (isConstant(x) && isConstant(y)) return constants(finite((x[0] ?? 0) - (y[0] ?? 0)), effect);
  const isExact = x.length < SMALL && y.length < SMALL && comparison.ties === 0;
  const { p, rank } = isExact
    ? exactly(x.length, y.length, comparison, confidence)
    : nearly(x, y, comparison, confidence);
  return { p, shift: shiftInterval(x, y, rank), effect };
}

/** The least `p` that samples of these sizes can have, if all of one are above all of the other. */
export function leastP(sizeA: number, sizeB: number): number {
  const [small, all] = [Math.min(sizeA, sizeB, MOST_VALUES), sizeA + sizeB];
  let ways = 1;
  for (let k = 1; k <= small && ways < Number.MAX_SAFE_INTEGER; k += 1) ways = (ways * (all - small + k)) / k;
  return Math.min(1, 2 / ways);
}

function sampleValues(values: readonly number[]): number[] {
  return values.length <= MOST_VALUES ? sortNumbers(values) : quantiles(values, EVENLY);
}

const isConstant = (sorted: readonly number[]): boolean => sorted[0] === sorted.at(-1);

const constants = (by: number, effect: number): RankTest => ({
  p: by === 0 ? 1 : 0,
  shift: { estimate: by, low: by, high: by },
  effect,
});

interface Comparison {
  /** The number of pairs in which the first is greater, and in which both are equal. */
  readonly greater: number;
  readonly equal: number;
  /** The sum of `t³ − t` over all groups of `t` equal values. */
  readonly ties: number;
}

/** Walks through two sorted samples together. */
function compareSamples(x: readonly number[], y: readonly number[]): Comparison {
  let [greater, equal, ties, i, j] = [0, 0, 0, 0, 0];
  let [nextX, nextY] = [x[0] ?? BEYOND, y[0] ?? BEYOND];
  while (i < x.length || j < y.length) {
    const value = nextX < nextY ? nextX : nextY;
    const [fromX, fromY] = [i, j];
    while (nextX === value) nextX = x[(i += 1)] ?? BEYOND;
    while (nextY === value) nextY = y[(j += 1)] ?? BEYOND;
    const [ofX, ofY] = [i - fromX, j - fromY];
    greater += ofX * fromY;
    equal += ofX * ofY;
    ties += (ofX + ofY) ** 3 - (ofX + ofY);
  }
  return { greater, equal, ties };
}

/**
 * The bounds of the shift are the differences with this rank (from 1), counted from either end of all sorted
 * differences.
 */
interface RankTestResult {
  readonly p: number;
  readonly rank: number;
}

function exactly(m: number, n: number, { greater }: Comparison, confidence: number): RankTestResult {
  const below = cumulative(m, n);
  const p = Math.min(1, 2 * (below[Math.min(greater, m * n - greater)] ?? 1));
  return {
    p,
    rank: Math.max(
      1,
      below.findIndex((probability) => probability >= (1 - confidence) / 2),
    ),
  };
}

/** The probability of at most `u` pairs, for every `u`: the cumulated coefficients of the Gaussian binomial. */
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

/** The rank sum is constant between two adjacent differences, and there only values of the same sample are equal. */
function nearly(
  x: readonly number[],
  y: readonly number[],
  comparison: Comparison,
  confidence: number,
): RankTestResult {
  const [m, n] = [x.length, y.length];
  const spread = (ties: number): number =>
    Math.sqrt(Math.max(0, ((m * n) / 12) * (m + n + 1 - ties / ((m + n) * (m + n - 1)))));
  const excess = comparison.greater + comparison.equal / 2 - (m * n) / 2;
  const spreadNow = spread(comparison.ties);
  const z = spreadNow > 0 ? Math.max(0, Math.abs(excess) - CONTINUITY) / spreadNow : 0;
  const far = normalQuantile((1 + confidence) / 2) * spread(compareSamples(x, []).ties + compareSamples(y, []).ties);
  const rank = Math.ceil((m * n) / 2 - CONTINUITY - far);
  return { p: Math.min(1, 2 * normalBelow(-z)), rank: Math.max(1, rank) };
}

/** Half of the step from one rank sum to the next. */
const CONTINUITY = 0.5;

function shiftInterval(x: readonly number[], y: readonly number[], rank: number): RankTest['shift'] {
  const differences = new Float64Array(x.length * y.length);
  let next = 0;
  for (const a of x) for (const b of y) differences[next++] = a - b;
  const [low, high, last] = [rank - 1, differences.length - rank, differences.length - 1];
  const inOrder = sortAtRanks([low, high, Math.floor(last / 2), Math.ceil(last / 2)], differences);
  const at = (place: number): number => finite(inOrder[place] ?? 0);
  return { estimate: finite(quantileOfSorted(inOrder, 50)), low: at(low), high: at(high) };
}

/**
 * The distance of two numbers may exceed the largest number. Between two such differences, the result is not a number
 * and counts as 0.
 */
const finite = (difference: number): number =>
  Number.isNaN(difference) ? 0 : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, difference));
