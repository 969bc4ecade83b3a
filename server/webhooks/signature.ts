import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookSource } from '../../settings/access';

/** Verifies that a delivery was signed with one of our secrets, over the raw body before any parsing. */

export interface StandardHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** Replays older than this, and clocks further off, are refused (Standard Webhooks, Slack). */
export const TOLERANCE_MS = 300_000;

/** Why GitHub's header `sha256=<hex>` cannot fit any body. */
export function whyMalformedGithub(header: string | undefined): string | undefined {
  if (header === undefined) return 'X-Hub-Signature-256 is missing';
  return parseHexSignature(header) === undefined
    ? 'X-Hub-Signature-256 is not sha256=<64 hexadecimal digits>'
    : undefined;
}

/** The source with a secret that fits the header, else why none does. */
export function findGithubSigner(
  body: Uint8Array,
  header: string | undefined,
  sources: readonly WebhookSource[],
): WebhookSource | string {
  const given = Buffer.from(parseHexSignature(header) ?? '', 'hex');
  const fits = sources.filter(({ secrets }) =>
    fitsAny(
      given,
      secrets.map((secret) => hmac(secret, body)),
    ),
  );
  return fits[0] ?? 'X-Hub-Signature-256 does not match the body';
}

const parseHexSignature = (header: string | undefined): string | undefined =>
  /^sha256=([0-9a-f]{64})$/i.exec(header ?? '')?.[1];

/** Why these headers of Standard Webhooks cannot fit any body. */
export function whyMalformedStandard({ timestamp }: StandardHeaders, nowMs: number): string | undefined {
  return whyUntimely('webhook-timestamp', timestamp, nowMs);
}

/** Why a header with the time of a delivery, in seconds, refuses it. */
export function whyUntimely(header: string, timestamp: string, nowMs: number): string | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return `${header} is not a number of seconds`;
  const offMs = Math.abs(nowMs - Number(timestamp) * 1000);
  return offMs > TOLERANCE_MS ? `${header} is ${Math.round(offMs / 1000)} s away from the server's clock` : undefined;
}

/**
 * Standard Webhooks: `v1,<base64>` of `<id>.<timestamp>.<body>`, several signatures separated by spaces, one for each
 * secret that the sender knows. Returns the source with a fitting secret, else why none fits.
 */
export function findStandardSigner(
  body: Uint8Array,
  { id, timestamp, signature }: StandardHeaders,
  sources: readonly WebhookSource[],
): WebhookSource | string {
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const given = signature.split(' ').filter((part) => part.startsWith('v1,'));
  const signatures = given.map((part) => Buffer.from(part.slice(3), 'base64'));
  const fits = sources.filter(({ secrets }) => {
    const expected = secrets.flatMap(secretKeys).map((key) => hmac(key, signed));
    return signatures.map((one) => fitsAny(one, expected)).includes(true);
  });
  return fits[0] ?? 'no v1 signature in webhook-signature matches the body';
}

const hmac = (key: string | Uint8Array, body: Uint8Array): Buffer => createHmac('sha256', key).update(body).digest();

/** Compares with all, so that the duration does not reveal how close a wrong secret was. */
function fitsAny(given: Buffer, expected: readonly Buffer[]): boolean {
  const fits = expected.map((one) => one.length === given.length && timingSafeEqual(one, given));
  return fits.includes(true);
}

/** Secrets of the standard are `whsec_<base64>`; any other may be base64 or is taken literally. */
function secretKeys(secret: string): Uint8Array[] {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded);
  const keys = [
    ...(isBase64 ? [Buffer.from(encoded, 'base64')] : []),
    ...(encoded === secret ? [Buffer.from(secret)] : []),
  ];
  // An empty key would let any sender sign.
  return keys.filter(({ length }) => length > 0);
}
