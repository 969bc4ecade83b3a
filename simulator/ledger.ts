import { ExtensionError, type MutatingCall } from '../sdk/server';
import type { FleetEvent } from './events';
import { hashText } from './kernel/random';

/** One mutating call, and whether it changed anything. */
export interface LedgerEntry {
  /** ms since the epoch. */
  readonly at: number;
  readonly service: string;
  readonly method: string;
  readonly key: string;
  /** The calling workflow; empty if the call did not name one. */
  readonly caller: string;
  readonly effect: boolean;
}

/** The request and the answer under a key. */
export interface RememberedCall {
  readonly digest: number;
  readonly answer: unknown;
}

/** The answer of a mutating method, and whether it changed anything. */
export interface CallEffect<A> {
  readonly answer: A;
  readonly effect: boolean;
}

interface Ledger {
  readonly now: number;
  readonly ledger: LedgerEntry[];
  readonly calls: Map<string, RememberedCall>;
  readonly notify: (event: FleetEvent) => void;
}

/** Writes a call into the ledger and shows it to the checkers. */
export function writeDown(state: Omit<Ledger, 'calls'>, { service, method, by }: LedgerCall, effect: boolean): void {
  state.ledger.push({ at: state.now, service, method, key: by.key, caller: by.run ?? '', effect });
  if (effect) state.notify({ kind: 'effect', service, method, key: by.key });
}

/** Identifies a call and its caller. */
export interface LedgerCall {
  readonly service: string;
  readonly method: string;
  readonly by: Pick<MutatingCall, 'key' | 'run'>;
}

/**
 * Runs a mutating call at most once for its key: a repetition gets the first answer and has no second effect. The same
 * key with another request is an error of the caller (409). A refused call leaves its key free.
 */
export function performOnce<A>(
  state: Ledger,
  call: { readonly service: string; readonly method: string; readonly request: unknown; readonly by: MutatingCall },
  perform: () => CallEffect<A>,
): A {
  const { service, method, request, by } = call;
  const id = `${service} ${method} ${by.key}`;
  const digest = hashText(JSON.stringify(request));
  const write = (effect: boolean): void => writeDown(state, { service, method, by }, effect);
  const known = state.calls.get(id);
  if (known) {
    write(false);
    if (known.digest === digest) return known.answer as A;
    throw new ExtensionError('key-reused', `the key ${by.key} was used for another ${method}`, { status: 409 });
  }
  let outcome: CallEffect<A>;
  try {
    outcome = perform();
  } catch (error) {
    write(false);
    throw error;
  }
  state.calls.set(id, { digest, answer: outcome.answer });
  write(outcome.effect);
  return outcome.answer;
}
