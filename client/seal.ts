import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import type { Proof } from '../domain/proof';

/**
 * Signs what goes into Temporal, so that a workflow believes only who holds the platform's key: the server, which knows whom it speaks for,
 * and the workers. Whatever somebody else sends to Temporal, or starts there, arrives empty: an update without an actor, a signal without
 * a word, an activity without a result. A signed payload stays readable, and is bound to the workflow that receives it.
 */
export interface Seal {
  /** The first signs, any of them is believed: a new one is believed everywhere before it signs. */
  readonly keys: readonly SealKey[];
  /** `accept` while workflows run that began before there were keys. */
  readonly unsealed: 'refuse' | 'accept';
}

export interface SealKey {
  /** As signatures name it. */
  readonly id: string;
  readonly secret: Uint8Array;
}

/** For clients and workers; undefined where Temporal is trusted. */
export const sealing = (seal: Seal | null | undefined): { readonly dataConverter?: DataConverter } =>
  hasKeys(seal) ? { dataConverter: { payloadCodecs: [new SealCodec(seal)] } } : {};

/** What is asked for, with the proof that it is asked for now. */
export const proven = <T extends object>(seal: Seal | null | undefined, verb: string, input: T): T =>
  hasKeys(seal) ? { ...input, proof: newProof(verb) } : input;

/** Who has none sends what nobody believes, and may look all the same. */
const hasKeys = (seal: Seal | null | undefined): seal is Seal => seal != null && seal.keys.length > 0;

const newProof = (verb: string): Proof => ({ verb, id: randomBytes(9).toString('base64url'), atMs: Date.now() });

/** Names of a payload's metadata. */
const [SIGNATURE, BOUND_TO] = ['conveyor-seal', 'conveyor-for'] as const;

export class SealCodec implements PayloadCodec {
  constructor(private readonly seal: Seal) {}

  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const [key] = this.seal.keys;
    if (key === undefined) throw new Error('there is no key to seal with');
    return Promise.resolve(payloads.map((payload) => sealed(payload, key, boundTo(context))));
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
    // Where the SDK does not say to whom it comes, it is enough that the signature fits what it says itself.
    if (key === undefined || (context !== undefined && to !== boundTo(context))) return false;
    return isSameMac(mac, macOf(payload, key, to));
  }
}

/** Of nothing at all; it is decoded to undefined. */
const EMPTY: Payload = { metadata: { encoding: Buffer.from('binary/null') } };

const sealed = (payload: Payload, key: SealKey, to: string): Payload => ({
  ...payload,
  metadata: {
    ...payload.metadata,
    [BOUND_TO]: Buffer.from(to),
    [SIGNATURE]: Buffer.from(`${key.id}:${macOf(payload, key, to)}`),
  },
});

/** Each part with its length, so that none of them can end as another begins. */
function macOf({ metadata, data }: Payload, { id, secret }: SealKey, to: string): string {
  const mac = createHmac('sha256', secret);
  // An empty value comes as an array.
  for (const part of [Buffer.from(id), Buffer.from(to), metadata?.['encoding'] ?? [], data ?? []])
    mac.update(`${part.length}:`).update(Buffer.from(part));
  return mac.digest('base64url');
}

/** A Schedule gives each of its workflows an id of its own, by when it was due, and the result of one to the next. */
const DUE = /-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function boundTo(context: SerializationContext | undefined): string {
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
