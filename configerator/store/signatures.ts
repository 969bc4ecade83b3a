import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { conveyorError } from '../../domain/errors';

/** Keys in PEM, of Ed25519. */
export interface SigningKeys {
  /** The key with which this side signs what it writes. */
  readonly key?: string | undefined;
  /** Public keys, any number in each text; only records signed by one of them are trusted. */
  readonly trusted?: readonly string[] | undefined;
}

/** A record without its signature. `own`: signed with the key of this side. */
export interface OpenedRecord {
  readonly text: string;
  readonly isOwn: boolean;
  /** It carries a signature, of any key. */
  readonly isSealed: boolean;
  /** Why it cannot be trusted. */
  readonly fault?: string;
}

/**
 * Signatures of records of a store (docs/adr/0061-a-host-believes-what-is-signed.md). A signature covers the place
 * of its record, so that no record can be moved, and is last in the header. Without keys everything is trusted.
 */
export class StoreSigning {
  private readonly key: KeyObject | undefined;
  private readonly own: KeyObject | undefined;
  private readonly trusted: readonly KeyObject[];

  /** @throws ConveyorError `usage` for a text that is not an Ed25519 key */
  constructor({ key, trusted = [] }: SigningKeys = {}) {
    this.key = key === undefined ? undefined : parseKey(() => createPrivateKey(key));
    this.own = this.key && createPublicKey(this.key);
    const others = trusted.flatMap(parsePublicKeys);
    this.trusted = [...(this.own ? [this.own] : []), ...others];
  }

  get isOn(): boolean {
    return this.trusted.length > 0;
  }

  seal(place: string, text: string): string {
    if (this.key === undefined) return text;
    const { line, rest } = splitHeader(text);
    const signature = sign(null, Buffer.from(`${place}\n${text}`), this.key).toString('base64');
    return `${line.slice(0, -1)}${MARK}${signature}"}${rest}`;
  }

  open(place: string, sealed: string): OpenedRecord {
    const { line, rest } = splitHeader(sealed);
    const at = line.lastIndexOf(MARK);
    const isSealed = at !== -1;
    const text = isSealed ? `${line.slice(0, at)}}${rest}` : sealed;
    if (this.trusted.length === 0) return { text, isOwn: true, isSealed };
    if (!isSealed) return { text, isOwn: false, isSealed, fault: 'it is not signed' };
    const signature = Buffer.from(line.slice(at + MARK.length, -2), 'base64');
    const signer = this.trusted.find((key) => verify(null, Buffer.from(`${place}\n${text}`), key, signature));
    if (signer === undefined)
      return { text, isOwn: false, isSealed, fault: 'it is not signed by a key that is trusted here' };
    return { text, isOwn: this.own === undefined || signer === this.own, isSealed };
  }
}

const MARK = ',"signature":"';

function splitHeader(text: string): { readonly line: string; readonly rest: string } {
  const at = text.indexOf('\n');
  return at === -1 ? { line: text, rest: '' } : { line: text.slice(0, at), rest: text.slice(at) };
}

const PUBLIC_KEY = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

function parsePublicKeys(pem: string): KeyObject[] {
  const found = pem.match(PUBLIC_KEY) ?? [];
  if (found.length === 0) throw notAKey('it holds no public key');
  return found.map((one) => parseKey(() => createPublicKey(one)));
}

function parseKey(parse: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = parse();
  } catch (error) {
    throw notAKey((error as Error).message);
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw notAKey(`it is of ${key.asymmetricKeyType ?? 'another kind'}`);
}

const notAKey = (why: string) =>
  conveyorError('usage', {
    text: `a key of the store of configuration is none of Ed25519 in PEM: ${why}`,
    hint: 'openssl genpkey -algorithm ed25519 -out key.pem, and openssl pkey -in key.pem -pubout -out key.pub',
  });
