import type { Package } from '../configerator/domain/vessel/package';
import { sha256 } from './digest';

/**
 * The key under which a package is stored and requested: its path and its composition. With only the digest, the publisher of one path could name the
 * package of another, with its own pieces. The key begins with the digest, for people.
 */
export function modelPackageKey(path: string, { digest, bytes, pieceBytes, pieces }: Package): string {
  return `${digest.slice(0, 12)}-${sha256(JSON.stringify([path, digest, bytes, pieceBytes, pieces]))}`;
}
