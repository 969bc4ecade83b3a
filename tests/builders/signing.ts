import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { Artifact } from '../../domain/artifact';

/** A signer, such as cosign or a build system. */
export interface Signer {
  readonly pem: string;
  readonly privateKey: KeyObject;
}

export function signer(type: 'ed25519' | 'p256' = 'ed25519'): Signer {
  const { publicKey, privateKey } =
    type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, pem: String(publicKey.export({ type: 'spki', format: 'pem' })) };
}

const TYPE = 'application/vnd.in-toto+json';

/** A Statement that contains only its subject. */
export const statement = (name: string, digest?: Readonly<Record<string, string>>) => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name, ...(digest ? { digest } : {}) }],
  predicateType: 'https://slsa.dev/verification_summary/v1',
  predicate: { verificationResult: 'PASSED' },
});

/** The signed bytes of DSSE: type and payload, each with its length. */
const pae = (type: string, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);

export const signature = (
  { privateKey }: Signer,
  payload: Buffer,
  { type = TYPE, dsaEncoding = 'der' as 'der' | 'ieee-p1363' } = {},
): Buffer =>
  sign(privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256', pae(type, payload), {
    key: privateKey,
    dsaEncoding,
  });

export function envelope(about: object, signers: readonly Signer[], type = TYPE): string {
  const payload = Buffer.from(JSON.stringify(about));
  const signatures = signers.map((one) => ({ keyid: 'k', sig: signature(one, payload, { type }).toString('base64') }));
  return JSON.stringify({ payloadType: type, payload: payload.toString('base64'), signatures });
}

export const artifact = (version: string, attestation?: string, more: Partial<Artifact> = {}): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version },
  metadata: attestation === undefined ? {} : { attestation },
  ...more,
});

/** `executable` of that version, signed by these signers. */
export const signed = (version: string, ...signers: readonly Signer[]): Artifact =>
  artifact(version, envelope(statement(`executable@${version}`), signers));
