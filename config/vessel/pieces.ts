import { createHash } from 'node:crypto';
import { hasBit, noBits, setBit, type Bits } from '../../domain/vessel/bits';
import { sizeOfPiece, type Package } from '../../domain/vessel/package';
import { dataFile } from '../../sdk/modelDisk';
import type { PieceDisk } from './disk';

/** The pieces of one package on the disk of a host. Whatever a disk or a peer says, a piece counts once it fits its digest. */
export class Pieces {
  readonly have: Bits;
  count = 0;
  /** Resolves once what the disk had before is known. */
  readonly verified: Promise<void>;
  private readonly listeners = new Set<() => void>();
  /** Of the file when all of it was known to fit. */
  private stamp: string | undefined;

  constructor(
    readonly pack: Package,
    private readonly disk: PieceDisk,
    /** Until then it does not read the disk. */
    after: Promise<void> = Promise.resolve(),
  ) {
    this.have = noBits(pack.pieces.length);
    this.verified = after.then(() => this.verify());
  }

  get isWhole(): boolean {
    return this.count === this.pack.pieces.length;
  }

  get place(): string {
    return this.disk.placeOf(dataFile(this.pack.digest));
  }

  /** Calls `listener` whenever a piece has come, or more has changed; the function ends that. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  notify(): void {
    for (const listener of [...this.listeners]) listener();
  }

  /** Undefined where it is not there, or the disk has lost it. */
  async read(piece: number): Promise<Buffer | undefined> {
    if (!hasBit(this.have, piece)) return undefined;
    const bytes = await this.onDisk(piece).catch(() => undefined);
    if (bytes === undefined) this.mark(piece, false);
    return bytes;
  }

  /** False for what does not fit its digest, which is not written. Throws what the disk throws. */
  async write(piece: number, bytes: Uint8Array): Promise<boolean> {
    if (!this.fits(piece, bytes)) return false;
    if (hasBit(this.have, piece)) return true;
    await this.disk.writePart(dataFile(this.pack.digest), piece * this.pack.pieceBytes, bytes);
    this.mark(piece, true);
    if (this.isWhole) this.stamp = await this.currentStamp();
    return true;
  }

  /** Reads all of it again where somebody else has changed the file: pieces that do not fit any more are missing from then on. */
  async recheck(): Promise<void> {
    const stamp = await this.currentStamp();
    if (!this.isWhole || stamp === this.stamp) return;
    this.stamp = stamp;
    for (let piece = 0; piece < this.pack.pieces.length; piece += 1) await this.read(piece);
  }

  private currentStamp = (): Promise<string | undefined> => this.disk.stampOf(dataFile(this.pack.digest));

  private async verify(): Promise<void> {
    this.stamp = await this.currentStamp();
    for (let piece = 0; piece < this.pack.pieces.length; piece += 1)
      if (await this.onDisk(piece).catch(() => undefined)) this.mark(piece, true);
  }

  private async onDisk(piece: number): Promise<Buffer | undefined> {
    const { digest, pieceBytes } = this.pack;
    const bytes = await this.disk.readPart(dataFile(digest), piece * pieceBytes, sizeOfPiece(this.pack, piece));
    return this.fits(piece, bytes) ? bytes : undefined;
  }

  private fits = (piece: number, bytes: Uint8Array): boolean =>
    bytes.length === sizeOfPiece(this.pack, piece) && sha256(bytes) === this.pack.pieces[piece];

  private mark(piece: number, isThere: boolean): void {
    if (hasBit(this.have, piece) === isThere) return;
    setBit(this.have, piece, isThere);
    this.count += isThere ? 1 : -1;
    this.notify();
  }
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
