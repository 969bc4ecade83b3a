import { digestOf, readPackage, type Package } from '../../domain/vessel/package';
import { toRemove } from '../../domain/vessel/room';
import { dataFile } from '../../sdk/modelDisk';
import type { PieceDisk } from './disk';
import { Pieces } from './pieces';

interface KeptOptions {
  readonly disk: PieceDisk;
  /** How much all packages of this host may take. */
  readonly mostBytes: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Digests of what may not go. */
  readonly needed: () => ReadonlySet<string>;
}

/** All packages on the disk of a host. What was begun before it was killed continues where it was. */
export class KeptPackages {
  private readonly all = new Map<string, { readonly pieces: Pieces; wantedAt: number }>();

  constructor(private readonly options: KeptOptions) {}

  async load(): Promise<void> {
    const { disk, log, now } = this.options;
    let before = Promise.resolve();
    const names = await disk.list().catch((error: unknown) => {
      log(`packages on the disk are left out: ${(error as Error).message}`);
      return undefined;
    });
    // Their data is found again once they are wanted.
    if (names === undefined) return;
    const unread = new Set<string>();
    for (const name of names) {
      const digest = name.replace(/\.json$/, '');
      if (!digestOf(digest)) continue;
      const leftOut = (error: unknown): void => log(`${name} is left out: ${(error as Error).message}`);
      const text = await disk.read(name).catch(leftOut);
      if (text === undefined) {
        unread.add(digest);
        continue;
      }
      try {
        const pack = readPackage(name, text);
        if (pack.digest !== digest) continue;
        const pieces = new Pieces(pack, disk, before);
        before = pieces.verified;
        this.all.set(digest, { pieces, wantedAt: now() });
      } catch (error) {
        leftOut(error);
      }
    }
    await this.removeStrays(unread);
  }

  get(digest: string): Pieces | undefined {
    return this.all.get(digest)?.pieces;
  }

  /** Finds what others have changed on the disk. */
  async recheck(): Promise<void> {
    for (const { pieces } of [...this.all.values()]) await pieces.recheck();
  }

  /** Makes room for a package; what was there of it is kept. Throws where there is no room, or the disk takes nothing. */
  async hold(pack: Package): Promise<Pieces> {
    const { disk, now } = this.options;
    const known = this.all.get(pack.digest);
    if (known && isSamePackage(known.pieces.pack, pack)) {
      known.wantedAt = now();
      return known.pieces;
    }
    if (known) await this.remove(pack.digest);
    await this.makeRoom(pack.bytes);
    await disk.write(`${pack.digest}.json`, JSON.stringify(pack));
    const pieces = new Pieces(pack, disk);
    this.all.set(pack.digest, { pieces, wantedAt: now() });
    return pieces;
  }

  private async makeRoom(bytes: number): Promise<void> {
    const { mostBytes, needed } = this.options;
    const keep = needed();
    const shelved = [...this.all].map(([digest, { pieces, wantedAt }]) => ({
      ...{ digest, wantedAt, bytes: pieces.pack.bytes },
      isNeeded: keep.has(digest),
    }));
    const gone = toRemove(shelved, bytes, mostBytes);
    if (gone === undefined)
      throw new Error(`${bytes} bytes do not fit: packages may take ${mostBytes}, and the present ones are needed`);
    for (const digest of gone) await this.remove(digest);
  }

  private async remove(digest: string): Promise<void> {
    const { disk } = this.options;
    const pieces = this.get(digest);
    this.all.delete(digest);
    await disk.remove(`${digest}.json`);
    await disk.remove(dataFile(digest));
    pieces?.notify();
  }

  /** Data of which nobody knows what it is. What could not be read is found again once it is wanted. */
  private async removeStrays(unread: ReadonlySet<string>): Promise<void> {
    const { disk, log } = this.options;
    const names = await disk.dataFiles().catch(() => []);
    for (const name of names) {
      const digest = name.replace(/\.data$/, '');
      if (this.all.has(digest) || unread.has(digest)) continue;
      await disk.remove(name).catch((error: unknown) => log(`${name} stays: ${(error as Error).message}`));
    }
  }
}

/** Two packages of one digest in other pieces are two packages, and the newer one takes the place. */
const isSamePackage = (one: Package, other: Package): boolean =>
  one.pieceBytes === other.pieceBytes && one.pieces.every((digest, at) => digest === other.pieces[at]);
