import type { RankTest } from './mannWhitney';

/** Four outcomes, never two (docs/design/deploy.md#verdicts): an error is not a verdict about the change, and missing data is not health. */
export type Verdict = 'healthy' | 'inconclusive' | 'errored' | 'unhealthy';

/** One check of one unit or of the deploy, with what it rests on (docs/reference/protocols.md#runhealthchecks). */
export interface CheckEvidence {
  readonly name: string;
  readonly verdict: Verdict;
  /** The metric of the updated tasks, transformed and reduced. */
  readonly observed: number | null;
  /** The same of what they are compared with; null for simple thresholds. */
  readonly reference: number | null;
  /** The limit in the unit of `observed`: 0.33 for an increase of 10 % over a reference of 0.3. */
  readonly threshold: number | null;
  /** Points of the new side that the verdict rests on. */
  readonly samples: number;
  /** Updated tasks that reported. */
  readonly tasks: number;
  /** ms since the epoch. */
  readonly window: { readonly start: number; readonly end: number };
  /** One English sentence. */
  readonly reason: string;
  /** What a rank test found; only of checks with `method: mann-whitney`. */
  readonly test?: RankTest | undefined;
}

/** What is said of a check without numbers. */
export function withoutNumbers(
  name: string,
  verdict: Verdict,
  window: CheckEvidence['window'],
  reason: string,
): CheckEvidence {
  const numbers = { observed: null, reference: null, threshold: null, samples: 0, tasks: 0 };
  return { name, verdict, ...numbers, window: { start: window.start, end: window.end }, reason: `${name} ${reason}` };
}

/** Whether it passes or reverts something. */
export const isDeciding = (verdict: Verdict): boolean => verdict === 'healthy' || verdict === 'unhealthy';

/** A verdict that rests on no point of no task is a guess, whatever it says (docs/reference/protocols.md#runhealthchecks). */
export function withoutGuess(evidence: CheckEvidence): CheckEvidence {
  const { verdict, samples, tasks, reason } = evidence;
  if (!isDeciding(verdict) || (samples > 0 && tasks > 0)) return evidence;
  const guessed = `it was called ${verdict} without data, which counts as neither`;
  return { ...evidence, verdict: 'inconclusive', reason: reason === '' ? guessed : `${reason}; ${guessed}` };
}

/** The order of verdicts, the best first. */
export const SEVERITY: Readonly<Record<Verdict, number>> = { healthy: 0, inconclusive: 1, errored: 2, unhealthy: 3 };

/** The worst of some verdicts, in the order healthy < inconclusive < errored < unhealthy; of none, inconclusive. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 0) return 'inconclusive';
  return verdicts.reduce((a, b) => (SEVERITY[b] > SEVERITY[a] ? b : a));
}
