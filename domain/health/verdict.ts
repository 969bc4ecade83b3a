import type { RankTest } from './mannWhitney';

/** There are always four outcomes (docs/design/deploy.md#verdicts): an error is not a verdict about the change, and missing data is not health. */
export type Verdict = 'healthy' | 'inconclusive' | 'errored' | 'unhealthy';

/** One check of one unit or of the deploy, with its evidence (docs/reference/protocols.md#runhealthchecks). */
export interface CheckEvidence {
  readonly name: string;
  readonly verdict: Verdict;
  /** The metric of the updated tasks, transformed and reduced. */
  readonly observed: number | null;
  /** The same metric for the side that they are compared with; null for simple thresholds. */
  readonly reference: number | null;
  /** The limit in the unit of `observed`: 0.33 for an increase of 10% over a reference of 0.3. */
  readonly threshold: number | null;
  /** The number of points on the new side that the verdict is based on. */
  readonly samples: number;
  /** The number of updated tasks that reported. */
  readonly tasks: number;
  /** ms since the epoch. */
  readonly window: { readonly start: number; readonly end: number };
  /** One English sentence. */
  readonly reason: string;
  /** The result of a rank test; only for checks with `method: mann-whitney`. */
  readonly test?: RankTest | undefined;
}

/** The evidence of a check without numbers. */
export function withoutNumbers(
  name: string,
  verdict: Verdict,
  window: CheckEvidence['window'],
  reason: string,
): CheckEvidence {
  const numbers = { observed: null, reference: null, threshold: null, samples: 0, tasks: 0 };
  return { name, verdict, ...numbers, window: { start: window.start, end: window.end }, reason: `${name} ${reason}` };
}

/** Whether it passes or reverts a phase. */
export const isDeciding = (verdict: Verdict): boolean => verdict === 'healthy' || verdict === 'unhealthy';

/** A verdict without any point or task behind it is a guess, and is not believed (docs/reference/protocols.md#runhealthchecks). */
export function withoutGuess(evidence: CheckEvidence): CheckEvidence {
  const { verdict, samples, tasks, reason } = evidence;
  if (!isDeciding(verdict) || (samples > 0 && tasks > 0)) return evidence;
  const guessed = `it was called ${verdict} without data, which counts as neither`;
  return { ...evidence, verdict: 'inconclusive', reason: reason === '' ? guessed : `${reason}; ${guessed}` };
}

/** The order of verdicts, from the best to the worst. */
export const SEVERITY: Readonly<Record<Verdict, number>> = { healthy: 0, inconclusive: 1, errored: 2, unhealthy: 3 };

/**
 * The worst of some verdicts, in the order healthy < inconclusive < errored < unhealthy; inconclusive if there are
 * none.
 */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 0) return 'inconclusive';
  return verdicts.reduce((a, b) => (SEVERITY[b] > SEVERITY[a] ? b : a));
}
