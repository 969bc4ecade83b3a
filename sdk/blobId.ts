import { createHash } from 'node:crypto';

/** Whether a text is what its git blob id says; the id of a repository with SHA-256 is longer. */
export function hasBlobId(text: string, id: string): boolean {
  const algorithm = BLOB_ALGORITHMS[id.length];
  if (algorithm === undefined) return false;
  return (
    createHash(algorithm)
      .update(`blob ${Buffer.byteLength(text)}\0${text}`)
      .digest('hex') === id
  );
}

/** By the length of an id. */
const BLOB_ALGORITHMS: Readonly<Record<number, string>> = { 40: 'sha1', 64: 'sha256' };
