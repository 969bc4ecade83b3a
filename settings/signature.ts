import { createHmac } from 'node:crypto';

interface SignedMessage {
  readonly id: string;
  readonly atMs: number;
  readonly body: string;
}

/**
 * Standard Webhooks: a signature for each key of the receiver over id, time and body, so that receivers can rotate
 * their keys at any time.
 */
export function signatureHeaders(
  keys: readonly Buffer[],
  { id, atMs, body }: SignedMessage,
): Readonly<Record<string, string>> {
  // The name of a phase may have characters that a header cannot hold.
  const plain = encodeURI(id);
  const timestamp = String(Math.floor(atMs / 1000));
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${plain}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'webhook-id': plain,
    'webhook-timestamp': timestamp,
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
  };
}
