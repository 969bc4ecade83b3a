import { createHash } from 'node:crypto';
import type { Package } from '../domain/vessel/package';

/**
 * What a package is kept and asked for by: its path and what it is made of. The digest alone would let the publisher of one path name
 * the package of another, with pieces of its own. It begins with the digest, for people.
 */
export function modelPackageKey(path: string, { digest, bytes, pieceBytes, pieces }: Package): string {
  const own = createHash('sha256').update(JSON.stringify([path, digest, bytes, pieceBytes, pieces]));
  return `${digest.slice(0, 12)}-${own.digest('hex')}`;
}
