/** Four outcomes, never two (DESIGN §5): an error is not a verdict about the change, and missing data is not health. */
export type Verdict = 'healthy' | 'inconclusive' | 'errored' | 'unhealthy';

/** One check of one unit or of the deploy, with what it rests on (protocols.md `runHealthChecks`). */
export interface Evidence {
  readonly name: string;
  readonly verdict: Verdict;
  readonly observed: number | null;
  readonly reference: number | null;
  readonly threshold: number | null;
  /** Points of the new side that the verdict rests on. */
  readonly samples: number;
  readonly tasks: number;
  /** ms since the epoch. */
  readonly window: { readonly start: number; readonly end: number };
  /** One English sentence. */
  readonly reason: string;
}

const SEVERITY: Readonly<Record<Verdict, number>> = { healthy: 0, inconclusive: 1, errored: 2, unhealthy: 3 };

/** The worst of some verdicts, in the order healthy < inconclusive < errored < unhealthy; of none, inconclusive. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 0) return 'inconclusive';
  return verdicts.reduce((a, b) => (SEVERITY[b] > SEVERITY[a] ? b : a));
}
