import { createHash } from 'node:crypto';

/** The name that git has for a text, in a repository with these hashes. */
export function blobId(text: string, algorithm: 'sha1' | 'sha256' = 'sha1'): string {
  const bytes = Buffer.from(text);
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Whether a text is what its git blob id says; the id of a repository with SHA-256 is longer. */
export function hasBlobId(text: string, id: string): boolean {
  const algorithm = BLOB_ALGORITHMS[id.length];
  return algorithm !== undefined && blobId(text, algorithm) === id;
}

/** By the length of an id. */
const BLOB_ALGORITHMS: Readonly<Record<number, 'sha1' | 'sha256'>> = { 40: 'sha1', 64: 'sha256' };
