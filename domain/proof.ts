import { STATE_LIMITS } from './limits';

/**
 * Proof that a holder of the platform's key made this request, once (client/seal.ts). It is sealed together with its
 * request, so that a reader of Temporal can replay it neither as another verb nor a second time.
 */
export interface Proof {
  /** The request: a verb, or a name such as `apply`. */
  readonly verb: string;
  /** Unique for each request. */
  readonly id: string;
  /** The time of the request, ms since the epoch. */
  readonly atMs: number;
}

/** A value that may carry a proof. */
export interface Proven {
  readonly proof?: Proof;
}

/** The proofs that a workflow has taken, oldest first. */
export type Proofs = readonly Omit<Proof, 'verb'>[];

/** Only the newest are remembered; a proof older than all of these is refused. */
const MAX_PROOFS = STATE_LIMITS.proofs.max;

/** A request without a proof passes: installations that trust Temporal make none. */
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
