import { normalQuantile } from './normal';
import { quantile } from './series';

/** What a check said of one deploy whose nature is known. */
export interface KnownOutcome {
  /** Whether the version was bad: what a person or its later fate says. */
  readonly isBad: boolean;
  /** How long after the fault, or without one after the update, it was found unhealthy, in ms; null: never. */
  readonly foundAfterMs: number | null;
}

/** Found at `foundAt`, in ms since the epoch; an alarm before the fault began is a false one. */
export function outcomeOf(
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

/** A share with the bounds that hold it with 95 % confidence (Wilson). */
export interface Share {
  readonly of: number;
  readonly count: number;
  /** null of nothing. */
  readonly share: number | null;
  readonly low: number;
  readonly high: number;
}

/** How well a check separates bad versions from good ones. */
export interface Quality {
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  /** Of those found unhealthy, how many were bad. */
  readonly precision: Share;
  /** Of those that were bad, how many were found. */
  readonly recall: Share;
  /** Of the good ones, how many were stopped. */
  readonly falseAlarms: Share;
  /** Of bad ones that were found; ms, null of nothing. */
  readonly delayMs: { readonly median: number; readonly p90: number } | null;
}

export function qualityOf(outcomes: readonly KnownOutcome[]): Quality {
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

/** The interval of Wilson: right also for few, for none and for all, where the usual one has no width. */
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
