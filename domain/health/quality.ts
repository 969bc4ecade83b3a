import { normalQuantile } from './normal';
import { quantile } from './series';

/** The result of a check for one deploy whose nature is known. */
export interface KnownOutcome {
  /** Whether the version was bad, according to a person or its later fate. */
  readonly isBad: boolean;
  /** The time from the fault, or without one from the update, until it was found unhealthy, in ms; null: never. */
  readonly foundAfterMs: number | null;
}

/** Found at `foundAt`, in ms since the epoch. An alarm before the fault began is a false alarm. */
export function toKnownOutcome(
  foundAt: number | null,
  {
    isBad,
    faultAt,
    updatedAt,
  }: { readonly isBad: boolean; readonly faultAt: number | null; readonly updatedAt: number },
): KnownOutcome {
  const isEarly = foundAt !== null && faultAt !== null && foundAt < faultAt;
  const from = faultAt === null || isEarly ? updatedAt : faultAt;
  return { isBad: isBad && !isEarly, foundAfterMs: foundAt === null ? null : foundAt - from };
}

/** A share with the bounds of its 95% confidence interval (Wilson). */
export interface Share {
  readonly of: number;
  readonly count: number;
  /** Null if there are none. */
  readonly share: number | null;
  readonly low: number;
  readonly high: number;
}

/** The quality with which a check separates bad versions from good ones. */
export interface Quality {
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  /** The share of bad versions among those found unhealthy. */
  readonly precision: Share;
  /** The share of found versions among the bad ones. */
  readonly recall: Share;
  /** The share of stopped versions among the good ones. */
  readonly falseAlarms: Share;
  /** For bad versions that were found; ms, null if there are none. */
  readonly delayMs: { readonly median: number; readonly p90: number } | null;
}

export function measureQuality(outcomes: readonly KnownOutcome[]): Quality {
  const found = ({ foundAfterMs }: KnownOutcome): boolean => foundAfterMs !== null;
  const [bad, good] = [outcomes.filter(({ isBad }) => isBad), outcomes.filter(({ isBad }) => !isBad)];
  const [truePositives, falsePositives] = [bad.filter(found).length, good.filter(found).length];
  const delays = bad.flatMap(({ foundAfterMs }) => foundAfterMs ?? []);
  return {
    truePositives,
    falsePositives,
    trueNegatives: good.length - falsePositives,
    falseNegatives: bad.length - truePositives,
    precision: share(truePositives, truePositives + falsePositives),
    recall: share(truePositives, bad.length),
    falseAlarms: share(falsePositives, good.length),
    delayMs: delays.length === 0 ? null : { median: quantile(delays, 50), p90: quantile(delays, 90) },
  };
}

const INTERVAL_CONFIDENCE = 0.95;

/** The Wilson interval. It is also right for few, for none and for all, where the usual one has no width. */
export function share(count: number, of: number): Share {
  if (of === 0) return { of, count, share: null, low: 0, high: 1 };
  const z = normalQuantile((1 + INTERVAL_CONFIDENCE) / 2);
  const p = count / of;
  const centre = p + (z * z) / (2 * of);
  const reach = z * Math.sqrt((p * (1 - p)) / of + (z * z) / (4 * of * of));
  const scale = 1 + (z * z) / of;
  return {
    of,
    count,
    share: p,
    low: Math.max(0, (centre - reach) / scale),
    high: Math.min(1, (centre + reach) / scale),
  };
}
