import { createHash } from 'node:crypto';
import { hasBit, noBits, setBit, type Bits } from '../domain/vessel/bits';
import { sizeOfPiece, type Package } from '../domain/vessel/package';
import { dataFile } from '../../sdk/modelDisk';
import type { PieceDisk } from './disk';
import { sha256 } from '../../sdk/digest';

interface PiecesPlace {
  readonly disk: PieceDisk;
  /** The name of their file. */
  readonly key: string;
  /** The disk is not read before this resolves. */
  readonly after?: Promise<void>;
}

/**
 * The pieces of one package on the disk of a host. A piece counts only if it matches its digest, whatever the disk or a peer claims. The pieces are
 * the package only if all of them together match its digest, whatever the configuration claims.
 */
export class Pieces {
  readonly have: Bits;
  count = 0;
  /** Resolves once the earlier contents of the disk are known. */
  readonly verified: Promise<void>;
  private readonly listeners = new Set<() => void>();
  /** The stamp of the file when all of it was verified. */
  private stamp: string | undefined;
  /** The digest of all pieces together, once known: it cannot change while each piece matches its digest. */
  private whole: string | undefined;
  /** The key under which it is stored. */
  readonly key: string;
  private readonly disk: PieceDisk;
  private readonly file: string;

  constructor(
    readonly pack: Package,
    { disk, key, after = Promise.resolve() }: PiecesPlace,
  ) {
    this.disk = disk;
    this.key = key;
    this.file = dataFile(key);
    this.have = noBits(pack.pieces.length);
    this.verified = after.then(() => this.verify());
  }

  get isWhole(): boolean {
    return this.isComplete && this.whole === this.pack.digest;
  }

  /** The digest of all pieces, if it differs from the package's; otherwise undefined. */
  get otherDigest(): string | undefined {
    return this.whole === this.pack.digest ? undefined : this.whole;
  }

  get place(): string {
    return this.disk.locate(this.file);
  }

  /** Calls `listener` whenever a piece has come, or more has changed; the returned function ends that. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  notify(): void {
    for (const listener of [...this.listeners]) listener();
  }

  /** Undefined if it is not there, or the disk has lost it. */
  async read(piece: number): Promise<Buffer | undefined> {
    if (!hasBit(this.have, piece)) return undefined;
    const bytes = await this.readVerified(piece).catch(() => undefined);
    if (bytes === undefined) this.mark(piece, false);
    return bytes;
  }

  /** False for a piece that does not match its digest, which is not written. Throws the errors of the disk. */
  async write(piece: number, bytes: Uint8Array): Promise<boolean> {
    if (!this.fits(piece, bytes)) return false;
    if (hasBit(this.have, piece)) return true;
    await this.disk.writePart(this.file, piece * this.pack.pieceBytes, bytes);
    this.mark(piece, true);
    if (this.isComplete && this.whole === undefined) await this.digestAll((at) => this.read(at));
    else if (this.isComplete) this.stamp = await this.currentStamp();
    return true;
  }

  /** Reads everything again if the file was changed. Pieces that no longer match count as missing from then on. */
  async recheck(): Promise<void> {
    const stamp = await this.currentStamp();
    if (!this.isComplete || stamp === this.stamp) return;
    this.stamp = stamp;
    for (let piece = 0; piece < this.pack.pieces.length; piece += 1) await this.read(piece);
  }

  private get isComplete(): boolean {
    return this.count === this.pack.pieces.length;
  }

  private currentStamp = (): Promise<string | undefined> => this.disk.readStamp(this.file);

  private verify(): Promise<void> {
    return this.digestAll(async (piece) => {
      const bytes = await this.readVerified(piece).catch(() => undefined);
      if (bytes) this.mark(piece, true);
      return bytes;
    });
  }

  /** Reads all pieces, one after the other. */
  private async digestAll(read: (piece: number) => Promise<Buffer | undefined>): Promise<void> {
    const stamp = await this.currentStamp();
    const whole = createHash('sha256');
    let isAll = true;
    for (let piece = 0; piece < this.pack.pieces.length; piece += 1) {
      const bytes = await read(piece);
      if (bytes) whole.update(bytes);
      else isAll = false;
    }
    if (!isAll) return;
    this.stamp = stamp;
    this.whole = whole.digest('hex');
    this.notify();
  }

  private async readVerified(piece: number): Promise<Buffer | undefined> {
    const { pieceBytes } = this.pack;
    const bytes = await this.disk.readPart(this.file, piece * pieceBytes, sizeOfPiece(this.pack, piece));
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
