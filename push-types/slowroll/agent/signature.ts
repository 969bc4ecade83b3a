import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { AGENT_LIMITS } from './limits';

/** Reads the keys that may sign manifests, from a file of PEM blocks. @throws Error if it has none, or one of another kind */
export function parseManifestKeys(text: string): readonly KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it has no PUBLIC KEY in PEM');
  if (blocks.length > AGENT_LIMITS.keys) throw new Error(`it has more than ${AGENT_LIMITS.keys} keys`);
  return blocks.map((block) => {
    const key = createPublicKey(block);
    if (key.asymmetricKeyType !== 'ed25519')
      throw new Error(`it has a key of the kind ${key.asymmetricKeyType}, not ed25519`);
    return key;
  });
}

/** Whether one of the keys signed exactly these bytes. The id of the key in the header is only for people. */
export function isManifestSigned(body: Buffer, header: string | undefined, keys: readonly KeyObject[]): boolean {
  const [, encoded] = /^[^:\s]{1,100}:([A-Za-z0-9+/]{86}==)$/.exec(header ?? '') ?? [];
  if (encoded === undefined) return false;
  const signature = Buffer.from(encoded, 'base64');
  return keys.some((key) => verify(null, body, key, signature));
}
