import { createHash } from 'node:crypto';

/** The git blob id of a text or its bytes, in a repository with this hash algorithm. */
export function blobId(content: string | Uint8Array, algorithm: 'sha1' | 'sha256' = 'sha1'): string {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Whether a text, or its bytes, matches its git blob id; the ids of a repository with SHA-256 are longer. */
export function hasBlobId(content: string | Uint8Array, id: string): boolean {
  const algorithm = BLOB_ALGORITHMS[id.length];
  return algorithm !== undefined && blobId(content, algorithm) === id;
}

/** By the length of an id. */
const BLOB_ALGORITHMS: Readonly<Record<number, 'sha1' | 'sha256'>> = { 40: 'sha1', 64: 'sha256' };
