import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { Signers } from '../domain/access/platform';
import type { Artifact } from '../domain/artifact';
import { isJsonObject, parseNestedJson } from '../domain/json';
import { ARTIFACT_LIMITS } from '../domain/limits';
import { onOneLine } from '../domain/plainText';
import { cutText, sizeAndLimit, textBytes } from '../domain/size';

/**
 * Attestations: DSSE envelopes around in-toto Statements, which travel in the metadata of their artifacts. Their
 * contents are untrusted until a key has verified them.
 */

export interface SigningKey {
  readonly name: string;
  readonly key: KeyObject;
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT = 'https://in-toto.io/Statement/v1';

/** A verifying key, or why the text is not one. */
export function parsePublicKey(pem: string): KeyObject | string {
  if (pem.includes('PRIVATE KEY'))
    return 'this is a private key: give its public half (openssl pkey -in FILE -pubout), and sign with another one from now on';
  if (!/^\s*-----BEGIN PUBLIC KEY-----/.test(pem)) return 'expected a public key in PEM: -----BEGIN PUBLIC KEY-----';
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    return 'expected a public key in PEM; this one cannot be read';
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve } = {} } = key;
  if (type === 'ed25519' || (type === 'ec' && namedCurve === 'prime256v1')) return key;
  return `expected a key of Ed25519 or ECDSA P-256; this one is ${type ?? 'unknown'}${namedCurve === undefined ? '' : ` ${namedCurve}`}`;
}

/**
 * The keys that have signed an artifact for a pipeline, or for all (null), according to the attestations in its
 * metadata. Never throws, even for malformed ones.
 */
export function findSigners(
  keys: readonly SigningKey[],
  { metadata, ...artifact }: Artifact,
  pipeline: string | null,
): Signers {
  const found = Object.entries(metadata)
    .filter(([name]) => name === 'attestation' || name.startsWith('attestation.'))
    .map(([name, text]) => [name, verifyAttestation(keys, text, { ...artifact, pipeline })] as const);
  if (found.length === 0) return { by: [], not: ['its metadata has no attestation'] };
  return {
    by: [...new Set(found.flatMap(([, { by }]) => by))],
    not: found.flatMap(([name, { not }]) => not.map((why) => `metadata.${name}: ${why}`)),
  };
}

type AttestedArtifact = Pick<Artifact, 'name' | 'version' | 'digest'> & { readonly pipeline: string | null };

/** The keys that have signed exactly this version in one attestation. */
function verifyAttestation(keys: readonly SigningKey[], text: string, about: AttestedArtifact): Signers {
  const envelope = readEnvelope(text);
  if (typeof envelope === 'string') return { by: [], not: [envelope] };
  const message = preAuthenticated(envelope.payload);
  const names = envelope.signatures.map(({ sig }) => keys.find(({ key }) => signs(key, message, sig))?.name);
  const by = [...new Set(names.filter((name) => name !== undefined))];
  const not = [
    ...by.flatMap((name) =>
      names.filter((other) => other === name).length > 1 ? [`${name} has signed it twice, which counts once`] : [],
    ),
    ...envelope.signatures.flatMap(({ keyid }, at) => (names[at] === undefined ? [ofNoKey(keyid)] : [])),
  ];
  const other = by.length === 0 ? undefined : whyNotFor(envelope.payload, about);
  return other === undefined ? { by, not } : { by: [], not: [other] };
}

/** The id is only an unsigned hint. */
const ofNoKey = (keyid: string | undefined): string =>
  `a signature${keyid ? ` (keyid ${excerptLine(keyid)})` : ''} is by none of the platform's keys, or for other content`;

interface Envelope {
  readonly payload: Buffer;
  readonly signatures: readonly { readonly sig: Buffer; readonly keyid?: string | undefined }[];
}

/** Either alphabet, with padding or without, and nothing else: Node would skip unknown characters. */
const BASE64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/;
const base64 = z
  .string()
  .min(1)
  .regex(BASE64, { error: 'expected base64' })
  .transform((text) => Buffer.from(text, 'base64'));
const envelopeSchema = z.object({
  payloadType: z.literal(PAYLOAD_TYPE, { error: `expected ${PAYLOAD_TYPE}` }),
  payload: base64,
  signatures: z
    .array(
      z.object({
        keyid: z
          .string()
          .nullish()
          .transform((id) => id ?? undefined),
        sig: base64,
      }),
    )
    .min(1),
});

/** @returns the envelope, or why the text is not one */
function readEnvelope(text: string): Envelope | string {
  const { max } = ARTIFACT_LIMITS.metadataValue;
  const bytes = text.length > max ? text.length : textBytes(text);
  if (bytes <= max) return parseJsonAs(envelopeSchema, text, 'a DSSE envelope');
  const { size, limit } = sizeAndLimit(bytes, max);
  return `it takes ${size}, and an entry of metadata ${limit} at most`;
}

function parseJsonAs<T>(schema: z.ZodType<T>, text: string, what: string): T | string {
  let value: unknown;
  try {
    value = parseNestedJson(text);
  } catch {
    return `it is not ${what}: no JSON`;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `it is not ${what}: ${issue?.path.join('.') || '(top)'}: ${issue?.message ?? ''}`;
}

/** The signed bytes: the type together with the payload, so that a signature for another type does not fit. */
const preAuthenticated = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload]);

/** ECDSA as OpenSSL, cosign and key services write it (DER), or as the Web Crypto API does (r and s). */
function signs(key: KeyObject, message: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, message, key, signature);
  const dsaEncoding = signature.length === 64 ? 'ieee-p1363' : 'der';
  return verify('sha256', message, { key, dsaEncoding }, signature);
}

const statementSchema = z.object({
  _type: z.literal(STATEMENT, { error: `expected ${STATEMENT}` }),
  predicateType: z.string().min(1),
  subject: z
    .array(z.object({ name: z.string().optional(), digest: z.record(z.string(), z.string()).optional() }))
    .min(1),
  predicate: z.unknown(),
});
type Statement = z.output<typeof statementSchema>;
type Subject = Statement['subject'][number];

function whyNotFor(payload: Buffer, about: AttestedArtifact): string | undefined {
  const statement = parseJsonAs(statementSchema, payload.toString('utf8'), 'an in-toto Statement');
  if (typeof statement === 'string') return statement;
  return whyNotAbout(statement, about) ?? whyNotVerified(statement);
}

/** Predicates with a field that says whether something passed (slsa.dev and in-toto.io). For all others the signature is enough. */
const VERDICTS: readonly { readonly type: RegExp; readonly fields: readonly string[] }[] = [
  { type: /^https:\/\/slsa\.dev\/verification_summary\//, fields: ['verificationResult', 'verification_result'] },
  { type: /^https:\/\/in-toto\.io\/attestation\/test-result\//, fields: ['result'] },
];

/** A signature on "failed" approves nothing. */
function whyNotVerified({ predicateType, predicate }: Statement): string | undefined {
  const verdict = VERDICTS.find(({ type }) => type.test(predicateType));
  if (verdict === undefined) return undefined;
  const said = verdict.fields.map((field) => (isJsonObject(predicate) ? predicate[field] : undefined));
  const result = said.find((one) => one !== undefined);
  if (result === 'PASSED') return undefined;
  const field = verdict.fields[0] ?? '';
  return `its predicate has ${typeof result === 'string' ? `${field} ${excerptLine(result)}` : `no ${field}`}, and not PASSED`;
}

/** A signature counts for this artifact only with its name, version and digest; one that names a pipeline counts only for that pipeline. */
function whyNotAbout(statement: Statement, { name, version, digest, pipeline }: AttestedArtifact): string | undefined {
  const wanted = `${name}@${version}`;
  const forOne = pipeline === null ? wanted : `${pipeline}/${wanted}`;
  const same = statement.subject.filter((one) => one.name === wanted || one.name === forOne);
  if (same.length === 0) {
    const names = statement.subject.map((one) => one.name ?? 'something without a name').join(', ');
    return `it is about ${excerptLine(names)}, and not about ${wanted}`;
  }
  if (same.some((one) => hasDigest(one, digest))) return undefined;
  const digests = same.map(formatDigests).join(', ');
  return `it is about ${wanted} with ${digests ? excerptLine(digests) : 'no digest'}, and this one has ${digest ?? 'no digest'}`;
}

/** If neither has a digest, the version suffices. */
function hasDigest({ digest = {} }: Subject, wanted: string | undefined): boolean {
  if (wanted === undefined) return Object.keys(digest).length === 0;
  return Object.entries(digest).some(
    ([algorithm, hex]) => `${algorithm}:${hex}`.toLowerCase() === wanted.toLowerCase(),
  );
}

const formatDigests = ({ digest = {} }: Subject): string =>
  Object.entries(digest)
    .map(([algorithm, hex]) => `${algorithm}:${hex}`)
    .join(', ');

const excerptLine = (text: string): string => cutText(onOneLine(text), 200);
