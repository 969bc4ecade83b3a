import { STATE_LIMITS } from './limits';

/**
 * That somebody who holds the platform's key was asked for this, once (client/seal.ts). Sealed along with what it belongs to, so that
 * whoever reads it in Temporal can send it neither as another verb nor a second time.
 */
export interface Proof {
  /** What was asked for: a verb, or the name of a request such as `apply`. */
  readonly verb: string;
  /** Another for each. */
  readonly id: string;
  /** When it was asked for, ms since the epoch. */
  readonly atMs: number;
}

/** What may come with a proof. */
export interface Proven {
  readonly proof?: Proof;
}

/** The proofs that a workflow has taken, oldest first. */
export type Proofs = readonly Omit<Proof, 'verb'>[];

/** The newest are remembered; what is older than all of these is not believed any more. */
const MAX_PROOFS = STATE_LIMITS.proofs.max;

/** Without a proof there is nothing to say against it: where Temporal is trusted, nobody makes any. */
export function whyNotBelieved(taken: Proofs, operation: string, proof: Proof | undefined): string | undefined {
  if (proof === undefined) return undefined;
  if (proof.verb !== operation) return `this was asked for as ${proof.verb}, not as ${operation}`;
  if (taken.some(({ id }) => id === proof.id)) return 'this was asked for once, and has been taken';
  const [oldest] = taken;
  const isForgotten = taken.length >= MAX_PROOFS && oldest !== undefined && proof.atMs < oldest.atMs;
  return isForgotten ? 'this was asked for too long ago to be sure that it has not been taken' : undefined;
}

export const withProof = (taken: Proofs, { id, atMs }: Proof): Proofs =>
  [...taken, { id, atMs }].sort((a, b) => a.atMs - b.atMs).slice(-MAX_PROOFS);
