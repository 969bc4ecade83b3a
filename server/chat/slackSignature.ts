import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../settings/secrets';
import { TOLERANCE_MS, whyUntimely } from '../webhooks/signature';

/** Slack's `v0=<hex>` of `v0:<timestamp>:<body>`, at most five minutes old. */

interface SlackHeaders {
  readonly timestamp: string;
  readonly signature: string;
}

/** Why these headers fit no body. */
export function whyMalformedSlack({ timestamp, signature }: SlackHeaders, nowMs: number): string | undefined {
  if (!/^v0=[0-9a-f]{64}$/.test(signature)) return 'X-Slack-Signature is not v0=<64 hexadecimal digits>';
  return whyUntimely('X-Slack-Request-Timestamp', timestamp, nowMs);
}

/** Compares with all secrets, so that the duration does not reveal how close a wrong signature was. */
export const fitsSlack = (
  secrets: readonly string[],
  body: Uint8Array,
  { timestamp, signature }: SlackHeaders,
): boolean =>
  secrets
    .map((secret) =>
      isSameSecret(
        signature,
        `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`,
      ),
    )
    .includes(true);

/** Signatures of the last minutes: each counts once. */
export class SeenSignatures {
  private readonly seen = new Map<string, number>();

  constructor(private readonly now: () => number) {}

  /** Whether it is new; from then on it is not. */
  take(signature: string): boolean {
    for (const [one, atMs] of this.seen) {
      if (this.now() - atMs < 2 * TOLERANCE_MS && this.seen.size < MOST_SEEN) break;
      this.seen.delete(one);
    }
    if (this.seen.has(signature)) return false;
    this.seen.set(signature, this.now());
    return true;
  }
}

const MOST_SEEN = 10_000;
