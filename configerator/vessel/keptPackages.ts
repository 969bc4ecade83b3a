import { isSha256Digest, parsePackage, type Package } from '../domain/vessel/package';
import { toRemove } from '../domain/vessel/room';
import { dataFile } from '../../sdk/modelDisk';
import { modelPackageKey } from '../../sdk/modelKey';
import type { PieceDisk } from './disk';
import { Pieces } from './pieces';

interface KeptOptions {
  readonly disk: PieceDisk;
  /** The limit for all packages of this host together. */
  readonly mostBytes: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Whether a package must stay; without a path, any package with that digest. */
  readonly isNeeded: (digest: string, path: string | null) => boolean;
}

interface KeptPackage {
  /** Null for a package that an older version left under its digest: the first path that names these pieces takes it over. */
  readonly path: string | null;
  readonly pieces: Pieces;
  wantedAt: number;
}

/** As `modelPackageKey` makes them; older versions kept packages by their digest. */
const KEY = /^[0-9a-f]{12}-[0-9a-f]{64}$/;

/** All packages on the disk of a host, each in its own files. After the process is killed, downloads continue where they were. */
export class KeptPackages {
  private readonly all = new Map<string, KeptPackage>();

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
      const key = name.replace(/\.json$/, '');
      if (!isSha256Digest(key) && !KEY.test(key)) continue;
      const leftOut = (error: unknown): void => log(`${name} is left out: ${(error as Error).message}`);
      const text = await disk.read(name).catch(leftOut);
      if (text === undefined) {
        unread.add(key);
        continue;
      }
      try {
        const { path, pack } = readKept(name, text);
        if (key !== (path === null ? pack.digest : modelPackageKey(path, pack))) continue;
        const pieces = new Pieces(pack, { disk, key, after: before });
        before = pieces.verified;
        this.all.set(key, { path, pieces, wantedAt: now() });
      } catch (error) {
        leftOut(error);
      }
    }
    await this.removeStrays(unread);
  }

  get(path: string, pack: Package): Pieces | undefined {
    return this.all.get(modelPackageKey(path, pack))?.pieces;
  }

  /** If several packages name a digest: the one of the key if it is given, else one whose bytes are known to have that digest. */
  find(digest: string, key: string | undefined): Pieces | undefined {
    if (key !== undefined) return this.all.get(key)?.pieces;
    const same = [...this.all.values()].flatMap(({ pieces }) => (pieces.pack.digest === digest ? [pieces] : []));
    return same.find(({ isWhole }) => isWhole) ?? same[0];
  }

  /** Finds changes that others have made on the disk. */
  async recheck(): Promise<void> {
    for (const { pieces } of [...this.all.values()]) await pieces.recheck();
  }

  /** Makes room for a package; existing pieces of it are kept. Throws if there is no room, or the disk accepts no writes. */
  async hold(path: string, pack: Package): Promise<Pieces> {
    const { disk, now } = this.options;
    const key = modelPackageKey(path, pack);
    const known = this.all.get(key);
    if (known) {
      known.wantedAt = now();
      return known.pieces;
    }
    const old = this.all.get(pack.digest);
    const isSame = old !== undefined && modelPackageKey(path, old.pieces.pack) === key;
    if (!isSame) await this.makeRoom(pack.bytes);
    await disk.write(`${key}.json`, JSON.stringify({ path, ...pack }));
    // If the disk could not be read at the start, nothing is known about it: check its pieces against their digests.
    if (isSame || old === undefined) await disk.rename(dataFile(pack.digest), dataFile(key));
    if (isSame) await this.forget(pack.digest);
    const pieces = new Pieces(pack, { disk, key });
    this.all.set(key, { path, pieces, wantedAt: now() });
    return pieces;
  }

  async drop(path: string, pack: Package): Promise<void> {
    await this.remove(modelPackageKey(path, pack));
  }

  private async makeRoom(bytes: number): Promise<void> {
    const { mostBytes, isNeeded } = this.options;
    const shelved = [...this.all].map(([key, { path, pieces, wantedAt }]) => ({
      ...{ key, wantedAt, bytes: pieces.pack.bytes },
      isNeeded: isNeeded(pieces.pack.digest, path),
    }));
    const gone = toRemove(shelved, bytes, mostBytes);
    if (gone === undefined)
      throw new Error(`${bytes} bytes do not fit: packages may take ${mostBytes}, and the present ones are needed`);
    for (const key of gone) await this.remove(key);
  }

  private async remove(key: string): Promise<void> {
    await this.options.disk.remove(dataFile(key));
    await this.forget(key);
  }

  private async forget(key: string): Promise<void> {
    const known = this.all.get(key);
    this.all.delete(key);
    await this.options.disk.remove(`${key}.json`);
    known?.pieces.notify();
  }

  /** Removes data of unknown packages. Data that could not be read is recovered when its package is wanted again. */
  private async removeStrays(unread: ReadonlySet<string>): Promise<void> {
    const { disk, log } = this.options;
    const names = await disk.dataFiles().catch(() => []);
    for (const name of names) {
      const key = name.replace(/\.data$/, '');
      if (this.all.has(key) || unread.has(key)) continue;
      await disk.remove(name).catch((error: unknown) => log(`${name} stays: ${(error as Error).message}`));
    }
  }
}

/** @throws ConveyorError `package-invalid`, and errors of JSON */
function readKept(name: string, text: string): { readonly path: string | null; readonly pack: Package } {
  const value = JSON.parse(text) as { readonly path?: unknown } | null;
  return { path: typeof value?.path === 'string' ? value.path : null, pack: parsePackage(name, value) };
}
