import { HOUR_MS, MINUTE_MS, WEEK_MS } from '../milliseconds';
import type { Principal } from '../principals';

/** A person or a program that is signed in to the pages. The browser keeps it, encrypted; the server keeps none. */
export interface Session {
  /** Random, and new at each sign-in. */
  readonly id: string;
  readonly principal: Principal;
  /** Groups from the identity provider, without `group:`. */
  readonly groups: readonly string[];
  readonly proof: SessionProof;
  readonly signedInAtMs: number;
  /** When the proof was last accepted, which is also when the browser last got this session. */
  readonly confirmedAtMs: number;
  /** The end, unless it is renewed before. */
  readonly untilMs: number;
  /** The last sign-out everywhere of this principal when the session began; null if there was none. */
  readonly after: string | null;
}

/** The foundation of a session, which the server checks at each request. */
export type SessionProof =
  | {
      readonly kind: 'oidc';
      /** The digest of the entry under `signIn`, so that a changed or removed entry ends its sessions. */
      readonly entry: string;
      /** Null if the provider gave none; then the session ends with the ID token. */
      readonly refreshToken: string | null;
    }
  /** The digest of a token of the configuration. */
  | { readonly kind: 'token'; readonly digest: string }
  /** The identity that a caller of a development server chose. */
  | { readonly kind: 'development' };

/** How long a session lasts without use. */
const SESSION_MS = 8 * HOUR_MS;
/** A session ends this long after its sign-in, however much it is used. */
const LONGEST_SESSION_MS = WEEK_MS;
/** A use after this time renews the session. */
const RENEWED_AFTER_MS = 15 * MINUTE_MS;
const OVERDUE_AFTER_MS = HOUR_MS;
/** How long a sign-in at a provider may take. */
export const SIGN_IN_MS = 10 * MINUTE_MS;
/** A sign-out is remembered for longer than any copy of a session can be valid. */
export const SIGN_OUT_KEPT_MS = SESSION_MS + HOUR_MS;

/** The end of a session that is confirmed now. @param idTokenUntilMs the end of the ID token if nothing can renew it */
export const sessionEnd = (nowMs: number, signedInAtMs: number, idTokenUntilMs = Infinity): number =>
  Math.min(nowMs + SESSION_MS, signedInAtMs + LONGEST_SESSION_MS, idTokenUntilMs);

/** A session from the future was issued by a machine with a wrong clock, and would outlive its sign-out. */
export const isSessionOver = ({ untilMs, confirmedAtMs }: Session, nowMs: number): boolean =>
  nowMs >= untilMs || confirmedAtMs > nowMs + SESSION_SKEW_MS;

const SESSION_SKEW_MS = 5 * MINUTE_MS;

/** `overdue`: any request renews it; `due`: a page or a form does. A session that nothing can renew keeps its end. */
export function renewalNeed({ confirmedAtMs, proof }: Session, nowMs: number): 'none' | 'due' | 'overdue' {
  const ageMs = nowMs - confirmedAtMs;
  if (ageMs < RENEWED_AFTER_MS || (proof.kind === 'oidc' && proof.refreshToken === null)) return 'none';
  return ageMs < OVERDUE_AFTER_MS ? 'due' : 'overdue';
}
