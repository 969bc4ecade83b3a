import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { isOffered, computeOfferedBits, recordServedPiece, type ServedPieces } from '../domain/vessel/offer';
import { parsePackage, pieceBytesFor, sizeOfPiece, type Package } from '../domain/vessel/package';
import { readPart } from './disk';
import type { PieceProvider } from './peerApp';
import { sha256 } from '../../sdk/digest';

/**
 * Describes a file for the configuration. It is read once, piece by piece.
 * @throws ConveyorError `package-invalid` for a file that is empty or too large, and errors of the disk
 */
export async function describePackage(
  file: string,
  { path, version, source, pieceBytes }: { path: string; version: number; source: string; pieceBytes?: number },
): Promise<Package> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const piece = pieceBytes ?? pieceBytesFor(size);
    const buffer = Buffer.allocUnsafe(piece);
    const whole = createHash('sha256');
    const pieces: string[] = [];
    for (let at = 0; at < size; at += piece) {
      const { bytesRead } = await handle.read(buffer, 0, piece, at);
      const bytes = buffer.subarray(0, bytesRead);
      whole.update(bytes);
      pieces.push(sha256(bytes));
    }
    return parsePackage(path, { version, digest: whole.digest('hex'), bytes: size, pieceBytes: piece, pieces, source });
  } finally {
    await handle.close();
  }
}

/** Serves a file to the first hosts, each piece a few times: they get the rest from each other. */
export class PieceSource implements PieceProvider {
  /** How often each piece was served since the start. */
  readonly counts: number[];
  private readonly served = new Map<number, ServedPieces>();

  constructor(
    private readonly file: string,
    private readonly pack: Package,
    private readonly now: () => number,
  ) {
    this.counts = pack.pieces.map(() => 0);
  }

  getBits(digest: string) {
    const { length } = this.pack.pieces;
    return digest === this.pack.digest
      ? { pieces: length, have: computeOfferedBits(this.served, length, this.now()) }
      : undefined;
  }

  async read(_digest: string, piece: number): Promise<Uint8Array | undefined> {
    const before = this.served.get(piece);
    if (!isOffered(before, this.now())) return undefined;
    // Counted before the disk is read, so that two concurrent requests count as two.
    this.served.set(piece, recordServedPiece(before, this.now()));
    const { pieceBytes, pieces } = this.pack;
    const bytes = await readPart(this.file, piece * pieceBytes, sizeOfPiece(this.pack, piece));
    if (sha256(bytes) !== pieces[piece]) throw new Error(`${this.file} has changed since it was published`);
    this.counts[piece] = (this.counts[piece] ?? 0) + 1;
    return bytes;
  }
}
