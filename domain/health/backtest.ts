import type { HealthCheck } from '../spec/health';
import { toKnownOutcome, measureQuality, type KnownOutcome, type Quality } from './quality';
import { evidenceIn, ownTicks, replayTicks, type ReplayedEvaluation, type Tick } from './replay';
import { isCounted, type Result } from './result';
import { betterLimit, criticalLimit, limitText, type KnownTrial, type TunedLimit } from './tuning';

/** A deploy, or a recording of one, on which a check is tried. */
export interface Trial {
  /** `kvstore/12/deploy`, or the name of a recording. */
  readonly id: string;
  /** Null if its fate does not show whether the version was bad. */
  readonly isBad: boolean | null;
  /** The evidence for that, in one phrase. */
  readonly why: string;
  /** The time when the fault began, in ms since the epoch; null if unknown. */
  readonly faultAt: number | null;
  /** Health checks reverted it, so nothing is known of the time after. */
  readonly cutShort: boolean;
  readonly ticks: readonly Tick[];
}

/** The result of a check for one deploy. */
export interface BacktestedDeploy {
  readonly id: string;
  readonly result: Result;
  readonly why: string;
  /** The time when it would have stopped the deploy, in ms since the epoch; null: never. */
  readonly foundAt: number | null;
  /** The same since the fault or, if its beginning is unknown, since the first update. */
  readonly foundAfterMs: number | null;
  /** The reason of that verdict, or of the last one. */
  readonly reason: string;
  /** Every evaluation, for a plot. */
  readonly evaluations: readonly ReplayedEvaluation[];
}

/** The hypothetical performance of a check. */
export interface Backtest {
  readonly check: string;
  readonly tried: readonly BacktestedDeploy[];
  readonly quality: Quality;
  /** Null if no other limit errs less; `text` as in a pipeline file. */
  readonly better: (TunedLimit & { readonly text: string }) | null;
}

/** A check tried on one deploy, with its counted outcome; without one if the result is unknown. */
export interface Attempt {
  readonly tried: BacktestedDeploy;
  readonly outcome: KnownOutcome | null;
  readonly known: readonly KnownTrial[];
}

/** The hypothetical performance of a check, from all attempts. */
export function buildBacktest(check: HealthCheck, attempts: readonly Attempt[]): Backtest {
  const tuned = betterLimit(
    check,
    attempts.flatMap(({ known }) => known),
  );
  return {
    check: check.name,
    tried: attempts.map(({ tried }) => tried),
    quality: measureQuality(attempts.flatMap(({ outcome }) => outcome ?? [])),
    better: tuned && { ...tuned, text: limitText(check, tuned.limit) },
  };
}

/** Tries a check on a deploy whose data is available. */
export function attempt(check: HealthCheck, trial: Trial): Attempt {
  const ticks = ownTicks(check, trial.ticks);
  const tried = tryOn(check, { ...trial, ticks });
  if (!isCounted(tried.result)) return { tried, outcome: null, known: [] };
  return { tried, outcome: outcomeOn(trial, tried.foundAt), known: toKnownTrials(check, { ...trial, ticks }) };
}

/** Until its fault began, a bad version counts as good: a limit that stops it earlier is wrong. */
function toKnownTrials(check: HealthCheck, { isBad, faultAt, ticks }: Trial): KnownTrial[] {
  const whole = { isBad: isBad === true, critical: criticalLimit(check, ticks) };
  if (!whole.isBad || faultAt === null) return [whole];
  const before = ticks.filter(({ at }) => at < faultAt);
  return [{ isBad: false, critical: criticalLimit(check, before) }, whole];
}

function tryOn(check: HealthCheck, trial: Trial): BacktestedDeploy {
  const evaluations = [...replayTicks(check, trial.ticks)];
  const found = evaluations.find(({ verdict }) => verdict === 'unhealthy');
  const foundAt = found?.at ?? null;
  const blind = found ? undefined : whyBlind(trial, evaluations);
  return {
    id: trial.id,
    result: blind === undefined ? backtestResult(trial, foundAt) : 'unknown',
    why: (trial.isBad === null ? undefined : blind) ?? trial.why,
    foundAt,
    foundAfterMs: outcomeOn(trial, foundAt).foundAfterMs,
    reason: (found ?? evaluations.at(-1))?.reason ?? `${check.name} was never evaluated`,
    evaluations,
  };
}

/**
 * The reason why the evaluations show nothing about the deploy: none was compared with the limit, or every window began before the update. A
 * check that was unhealthy for less than its `for` does show something.
 */
function whyBlind({ isBad, faultAt, ticks }: Trial, evaluations: readonly ReplayedEvaluation[]): string | undefined {
  const filled = new Set(ticks.filter(isFilled).map(({ at }) => at));
  const telling = evaluations.filter(({ at, threshold }) => threshold !== null && filled.has(at));
  if (telling.length === 0) return 'no evaluation was conclusive';
  const isLate = isBad === true && faultAt !== null && !telling.some(({ at }) => at >= faultAt);
  return isLate ? 'its fault began after the last evaluation' : undefined;
}

const isFilled = ({ updatedAt, response }: Tick): boolean =>
  evidenceIn(response).some(({ window }) => window.start >= updatedAt);

const outcomeOn = ({ isBad, faultAt, ticks }: Trial, foundAt: number | null) =>
  toKnownOutcome(foundAt, { isBad: isBad === true, faultAt, updatedAt: ticks[0]?.updatedAt ?? 0 });

function backtestResult(trial: Trial, foundAt: number | null): Result {
  if (trial.isBad === null) return 'unknown';
  const isBad = outcomeOn(trial, foundAt).isBad;
  if (foundAt !== null) return isBad ? 'found' : 'false-positive';
  if (!trial.isBad) return 'passed';
  return trial.cutShort ? 'cut-short' : 'false-negative';
}
