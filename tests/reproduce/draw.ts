import type { Dice } from '../chaos/dice';

/** Quantiles of a distribution, one from each of `count` equal parts of it, in any order: few draws still span it. */
export function strata(dice: Dice, count: number): number[] {
  return shuffled(
    dice,
    Array.from({ length: count }, (_, nth) => (nth + dice.next()) / count),
  );
}

/** `count` words in about the given shares (by the largest remainder), in any order. */
export function allotted<T extends string>(dice: Dice, shares: Readonly<Record<T, number>>, count: number): T[] {
  const words = Object.keys(shares) as T[];
  const total = words.reduce((sum, word) => sum + shares[word], 0);
  const exact = words.map((word) => ({ word, quota: (count * shares[word]) / total }));
  const whole = exact.flatMap(({ word, quota }) => Array.from({ length: Math.floor(quota) }, () => word));
  const rest = exact.sort((a, b) => (b.quota % 1) - (a.quota % 1)).slice(0, count - whole.length);
  return shuffled(dice, [...whole, ...rest.map(({ word }) => word)]);
}

/** A time with this median and this 99th percentile: the quantile `share` of a log-logistic distribution, without its last hundredths. */
export function longTailed({ p50, p99 }: { readonly p50: number; readonly p99: number }, share: number): number {
  const odds = Math.min(0.98, Math.max(0.02, share));
  return p50 * (odds / (1 - odds)) ** (Math.log(p99 / p50) / Math.log(99));
}

function shuffled<T>(dice: Dice, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: dice.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
