/** A certificate by which a connection of this installation is made, or one that its other side showed. */
export interface CertificateLook {
  /** `client certificate for Temporal` */
  readonly use: string;
  /** A file, the variable that holds it, or the address that showed it. */
  readonly at: string;
  /** RFC 3339; null where it could not be read. */
  readonly from: string | null;
  readonly until: string | null;
  /** Why it could not be read. */
  readonly trouble: string | null;
}

export type CertificateState =
  { readonly kind: 'valid' | 'ending' | 'ended' | 'early' } | { readonly kind: 'unreadable'; readonly why: string };

/** Long enough to renew one by hand; one that lives shorter is renewed by a program, when a third of its life is left. */
const RENEW_WITHIN_MS = 14 * 86_400_000;

/** How a certificate stands: `early` is valid only later, `ending` ends within 14 days, and within the last third of its life. */
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

/** The time in which all certificates of a chain are valid. */
export const validityOfChain = (chain: readonly Validity[]): Validity => ({
  fromMs: Math.max(...chain.map(({ fromMs }) => fromMs)),
  untilMs: Math.min(...chain.map(({ untilMs }) => untilMs)),
});

/** Of authorities any one may do: files hold the next one beside the present one while they change. */
export const validityOfAuthorities = (authorities: readonly Validity[]): Validity => ({
  fromMs: Math.min(...authorities.map(({ fromMs }) => fromMs)),
  untilMs: Math.max(...authorities.map(({ untilMs }) => untilMs)),
});
