import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkPrivate } from './checkPrivate';

/** Signs the bytes of a manifest. */
export interface ManifestSigner {
  readonly keyId: string;
  /** The value of the header: `<keyId>:<base64>`. */
  sign(body: Buffer): string;
}

const KEY_ID_CHARACTERS = 16;

/**
 * Reads an Ed25519 key in PEM. Its id is the beginning of the SHA-256 of the public key (DER, SPKI).
 * @throws Error if others can read the file, or it is no such key
 */
export function readSigner(path: string): ManifestSigner {
  checkPrivate(path);
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path));
  } catch (error) {
    throw new Error(`${path} is no private key: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`${path} is a key of the type ${key.asymmetricKeyType}: openssl genpkey -algorithm ed25519`);
  return createSigner(key);
}

export function createSigner(key: KeyObject): ManifestSigner {
  const keyId = nameKeyId(createPublicKey(key));
  return { keyId, sign: (body) => `${keyId}:${sign(null, body, key).toString('base64')}` };
}

const nameKeyId = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, KEY_ID_CHARACTERS);
