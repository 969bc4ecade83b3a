/** A certificate that this installation uses for a connection, or that the other side presented. */
export interface CertificateLook {
  /** `client certificate for Temporal` */
  readonly use: string;
  /** A file, the variable that holds it, or the address that presented it. */
  readonly at: string;
  /** RFC 3339; null if it could not be read. */
  readonly from: string | null;
  readonly until: string | null;
  /** Why it could not be read. */
  readonly trouble: string | null;
}

export type CertificateState =
  { readonly kind: 'valid' | 'ending' | 'ended' | 'early' } | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Long enough to renew a certificate by hand. A program renews shorter-lived ones, when a third of their life is left.
 */
const RENEW_WITHIN_MS = 14 * 86_400_000;

/**
 * The state of a certificate: `early` is not valid yet, `ending` has less than 14 days and less than a third of its
 * life left.
 */
export function certificateState({ from, until, trouble }: CertificateLook, nowMs: number): CertificateState {
  if (from === null || until === null) return { kind: 'unreadable', why: trouble ?? 'there is no certificate in it' };
  const leftMs = Date.parse(until) - nowMs;
  if (leftMs <= 0) return { kind: 'ended' };
  if (Date.parse(from) > nowMs) return { kind: 'early' };
  const lifeMs = Date.parse(until) - Date.parse(from);
  return { kind: leftMs < Math.min(RENEW_WITHIN_MS, lifeMs / 3) ? 'ending' : 'valid' };
}

interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The period in which all certificates of a chain are valid. */
export const validityOfChain = (chain: readonly Validity[]): Validity => ({
  fromMs: Math.max(...chain.map(({ fromMs }) => fromMs)),
  untilMs: Math.min(...chain.map(({ untilMs }) => untilMs)),
});

/** Any one authority suffices: during a change, files hold both the present and the next one. */
export const validityOfAuthorities = (authorities: readonly Validity[]): Validity => ({
  fromMs: Math.min(...authorities.map(({ fromMs }) => fromMs)),
  untilMs: Math.max(...authorities.map(({ untilMs }) => untilMs)),
});
