import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeOfPiece, type Package } from '../configerator/domain/vessel/package';
import { modelPackageKey } from './modelKey';
import { sha256 } from './digest';

/** Packages in a proxy's cache folder. */
export const PACKAGES_FOLDER = 'packages';

/** The data of a package there: each piece at its offset. */
export const dataFile = (key: string): string => `${key}.data`;

/**
 * The pieces of a package from a given one on, as the proxy of this host left them on its disk. Ends with the first
 * that is missing or does not match its digest. All of them come in the same buffer.
 */
export async function* piecesOnDisk(
  path: string,
  pack: Package,
  from: number,
  buffer: Uint8Array,
  cache: string,
): AsyncGenerator<Uint8Array> {
  const place = join(cache, PACKAGES_FOLDER, dataFile(modelPackageKey(path, pack)));
  const file = await open(place, 'r').catch(() => undefined);
  if (file === undefined) return;
  try {
    for (let piece = from; piece < pack.pieces.length; piece += 1) {
      const bytes = buffer.subarray(0, sizeOfPiece(pack, piece));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, piece * pack.pieceBytes);
      if (bytesRead < bytes.length || sha256(bytes) !== pack.pieces[piece]) return;
      yield bytes;
    }
  } finally {
    await file.close();
  }
}
