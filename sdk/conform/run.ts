import { formatDocsSection, tryCheck, type ConformCheck, type CheckOutcome } from './check';
import type { Reachable } from './conversation';

/** The results of a suite for a service. */
export interface ConformReport {
  readonly kind: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Checks that were not tried, since the service could not be returned to its initial state. */
  readonly notRun: number;
  readonly checks: readonly CheckOutcome[];
}

/** A service that is called over the network, and the initial state of its checks. */
export interface Live<S extends Reachable> {
  readonly kind: string;
  readonly checks: readonly ConformCheck<S>[];
  /** Sets up the initial state of a check. Rejects if the service is gone, or differs from the flags. */
  readonly prepare: (nth: number) => Promise<S>;
  /** The method that `prepare` relies on. */
  readonly prepares: string;
  /** Returns the service to the state in which the suite found it. */
  readonly leave?: () => Promise<void>;
}

/** Options of `conform`. */
export interface RunOptions {
  /** Stops before the next check. */
  readonly signal?: AbortSignal;
  /** Called with each row of the report as soon as it is known. */
  readonly onOutcome?: (outcome: CheckOutcome) => void;
}

/**
 * Runs a suite against a service. It never rejects: errors of the service go into the report. Checks that cannot begin
 * are not run, and a row of the report says why.
 */
export async function conform<S extends Reachable>(live: Live<S>, options: RunOptions = {}): Promise<ConformReport> {
  const outcomes: CheckOutcome[] = [];
  const add = (outcome: CheckOutcome): void => {
    outcomes.push(outcome);
    options.onOutcome?.(outcome);
  };
  let halted: string | undefined;
  for (const [nth, check] of live.checks.entries()) {
    if (options.signal?.aborted) halted ??= 'it was interrupted';
    const subject = halted === undefined ? await live.prepare(nth).catch((error: Error) => error) : undefined;
    if (subject instanceof Error) {
      add(unready(live.prepares, subject));
      halted = 'the service was not ready for it';
    }
    if (subject === undefined || subject instanceof Error) add(notRun(check, halted ?? ''));
    else add(await tryCheck(check, () => Promise.resolve(subject)));
  }
  const left = halted === undefined || options.signal?.aborted ? await leaveService(live) : undefined;
  if (left) add(left);
  return conformReport(live.kind, outcomes);
}

const leaveService = <S extends Reachable>({ leave, prepares }: Live<S>): Promise<CheckOutcome | undefined> =>
  (leave?.() ?? Promise.resolve()).then(
    () => undefined,
    (error: Error) => unready(prepares, error),
  );

const unready = (method: string, error: Error): CheckOutcome => ({
  ...{
    title: 'the service answers, and is as the flags say',
    method,
    section: formatDocsSection(method),
    state: 'failed',
  },
  reason: error.message,
  advice:
    'see that it runs and listens there, that the flags are right, and that no pipeline uses these units meanwhile',
});

const notRun = <S extends Reachable>({ title, method }: ConformCheck<S>, reason: string): CheckOutcome => ({
  ...{ title, method, section: formatDocsSection(method), state: 'not-run', reason },
});

function conformReport(kind: string, checks: readonly CheckOutcome[]): ConformReport {
  const count = (state: CheckOutcome['state']): number => checks.filter((each) => each.state === state).length;
  return {
    ...{ kind, passed: count('passed'), failed: count('failed') },
    ...{ skipped: count('skipped'), notRun: count('not-run'), checks },
  };
}
