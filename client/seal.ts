import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import type { Proof } from '../domain/proof';

/**
 * Signs payloads to Temporal, so that workflows trust only holders of the platform's key: the server, which
 * authenticates its callers, and the workers. Payloads of any other sender arrive empty: an update without an actor, a
 * signal without content, an activity without a result. A signed payload stays readable, and is bound to the receiving
 * workflow.
 */
export interface Seal {
  /** The first key signs, and all of them are accepted, so that a new key is accepted everywhere before it signs. */
  readonly keys: readonly SealKey[];
  /** `accept` while workflows older than the keys still run. */
  readonly unsealed: 'refuse' | 'accept';
}

export interface SealKey {
  /** Its name in signatures. */
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The data converter for clients and workers; undefined if Temporal is trusted. */
export const createSealOptions = (seal: Seal | null | undefined): { readonly dataConverter?: DataConverter } =>
  hasKeys(seal) ? { dataConverter: { payloadCodecs: [new SealCodec(seal)] } } : {};

/** A request with a proof of its time. */
export const signRequest = <T extends object>(seal: Seal | null | undefined, verb: string, input: T): T =>
  hasKeys(seal) ? { ...input, proof: newProof(verb) } : input;

/** A process without keys may still read, but its messages are ignored. */
const hasKeys = (seal: Seal | null | undefined): seal is Seal => seal != null && seal.keys.length > 0;

const newProof = (verb: string): Proof => ({ verb, id: randomBytes(9).toString('base64url'), atMs: Date.now() });

/** Names of a payload's metadata. */
const [SIGNATURE, BOUND_TO] = ['conveyor-seal', 'conveyor-for'] as const;

export class SealCodec implements PayloadCodec {
  constructor(private readonly seal: Seal) {}

  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const [key] = this.seal.keys;
    if (key === undefined) throw new Error('there is no key to seal with');
    return Promise.resolve(payloads.map((payload) => signPayload(payload, key, formatReceiver(context))));
  }

  decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => (this.isBelieved(payload, context) ? payload : EMPTY)));
  }

  private isBelieved(payload: Payload, context: SerializationContext | undefined): boolean {
    const signature = decodeText(payload.metadata?.[SIGNATURE]);
    if (signature === '') return this.seal.unsealed === 'accept';
    const [id = '', mac = ''] = signature.split(':');
    const key = this.seal.keys.find((each) => each.id === id);
    const to = decodeText(payload.metadata?.[BOUND_TO]);
    // If the SDK does not name the receiver, the signature must fit the receiver named in the payload.
    if (key === undefined || (context !== undefined && to !== formatReceiver(context))) return false;
    return isSameMac(mac, computeMac(payload, key, to));
  }
}

/** An empty payload, which decodes to undefined. */
const EMPTY: Payload = { metadata: { encoding: Buffer.from('binary/null') } };

const signPayload = (payload: Payload, key: SealKey, to: string): Payload => ({
  ...payload,
  metadata: {
    ...payload.metadata,
    [BOUND_TO]: Buffer.from(to),
    [SIGNATURE]: Buffer.from(`${key.id}:${computeMac(payload, key, to)}`),
  },
});

/** Each part is prefixed with its length, so that their boundaries are unambiguous. */
function computeMac({ metadata, data }: Payload, { id, secret }: SealKey, to: string): string {
  const mac = createHmac('sha256', secret);
  // An empty value arrives as an array.
  for (const part of [Buffer.from(id), Buffer.from(to), metadata?.['encoding'] ?? [], data ?? []])
    mac.update(`${part.length}:`).update(Buffer.from(part));
  return mac.digest('base64url');
}

/** A Schedule gives each workflow an id with its due time, and passes the result of one to the next. */
const DUE = /-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function formatReceiver(context: SerializationContext | undefined): string {
  if (context === undefined) return '';
  const workflow = (context.workflowId ?? '').replace(DUE, '');
  const activity = context.type === 'activity' ? [context.activityId ?? ''] : [];
  return [context.type, context.namespace, workflow, ...activity].join(' ');
}

const decodeText = (bytes: Uint8Array | null | undefined): string => (bytes ? Buffer.from(bytes).toString() : '');

function isSameMac(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
