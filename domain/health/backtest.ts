import type { HealthCheck } from '../spec/health';
import { outcomeOf, qualityOf, type Quality } from './quality';
import { replayTicks, type Replayed, type Tick } from './replay';
import { betterLimit, limitText, type Tuned } from './tuning';

/** A deploy, or a recording of one, that a check is tried on. */
export interface Trial {
  /** `kvstore/12/deploy`, or what a recording is called. */
  readonly id: string;
  /** Null where its fate does not say whether the version was bad. */
  readonly isBad: boolean | null;
  /** One phrase: how that is known. */
  readonly why: string;
  /** When the fault began, in ms since the epoch; null when that is not known. */
  readonly faultAt: number | null;
  /** Health checks reverted it, so that nothing is known of the time after. */
  readonly cutShort: boolean;
  readonly ticks: readonly Tick[];
}

export const RESULTS = ['found', 'false-negative', 'false-positive', 'passed', 'cut-short', 'unknown'] as const;

/**
 * `found`, `false-negative`: of a bad version; `false-positive`, `passed`: of a good one; `cut-short`: of a bad one that another check stopped
 * before this one had said anything; `unknown`: nobody knows what it was, or no evaluation could tell, as where its data is not
 * kept any more. The last two count for nothing.
 */
export type Result = (typeof RESULTS)[number];

/** What a check made of one deploy. */
export interface Tried {
  readonly id: string;
  readonly result: Result;
  readonly why: string;
  /** When it would have stopped the deploy, in ms since the epoch; null: never. */
  readonly foundAt: number | null;
  /** The same since the fault, or where its beginning is not known since the first update. */
  readonly foundAfterMs: number | null;
  /** What it said then, or last. */
  readonly reason: string;
  /** Every evaluation, for a plot. */
  readonly evaluations: readonly Replayed[];
}

/** How a check would have done. */
export interface Backtest {
  readonly check: string;
  readonly tried: readonly Tried[];
  readonly quality: Quality;
  /** Null when no other limit errs less; `text` as in a pipeline file. */
  readonly better: (Tuned & { readonly text: string }) | null;
}

/** Tries a check on deploys whose data is at hand. */
export function backtest(check: HealthCheck, trials: readonly Trial[]): Backtest {
  const each = trials.map((trial) => ({ trial, tried: tryOn(check, trial) }));
  const counted = each.filter(({ tried: { result } }) => result !== 'unknown' && result !== 'cut-short');
  const tuned = betterLimit(
    check,
    counted.map(({ trial: { isBad, ticks } }) => ({ isBad: isBad === true, ticks })),
  );
  return {
    check: check.name,
    tried: each.map(({ tried }) => tried),
    quality: qualityOf(counted.map(({ trial, tried }) => outcome(trial, tried.foundAt))),
    better: tuned && { ...tuned, text: limitText(check, tuned.limit) },
  };
}

function tryOn(check: HealthCheck, trial: Trial): Tried {
  const evaluations = [...replayTicks(check, trial.ticks)];
  const found = evaluations.find(({ verdict }) => verdict === 'unhealthy');
  const foundAt = found?.at ?? null;
  // What is not held against the limit tells nothing; what is unhealthy for less than its `for` does.
  const couldTell = evaluations.some(({ threshold }) => threshold !== null);
  return {
    id: trial.id,
    result: couldTell ? resultOf(trial, foundAt) : 'unknown',
    why: couldTell ? trial.why : 'no evaluation could tell',
    foundAt,
    foundAfterMs: outcome(trial, foundAt).foundAfterMs,
    reason: (found ?? evaluations.at(-1))?.reason ?? `${check.name} was never evaluated`,
    evaluations,
  };
}

const outcome = ({ isBad, faultAt, ticks }: Trial, foundAt: number | null) =>
  outcomeOf(foundAt, { isBad: isBad === true, faultAt, updatedAt: ticks[0]?.updatedAt ?? 0 });

function resultOf(trial: Trial, foundAt: number | null): Result {
  if (trial.isBad === null) return 'unknown';
  const isBad = outcome(trial, foundAt).isBad;
  if (foundAt !== null) return isBad ? 'found' : 'false-positive';
  if (!trial.isBad) return 'passed';
  return trial.cutShort ? 'cut-short' : 'false-negative';
}
