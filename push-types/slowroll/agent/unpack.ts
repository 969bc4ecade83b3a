import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  createReadStream,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import {
  FOLDER,
  HARD_LINK,
  inspectTar,
  readTarPath,
  SYMBOLIC_LINK,
  TarError,
  type TarEntry,
  type TarSink,
} from '../../hosts/tarEntries';
import { flushFolder, writeFully } from './disk';
import { AGENT_LIMITS } from './limits';

/** Beside the releases, while an archive is unpacked. */
const UNPACK_FOLDER = '.unpack';

export interface UnpackOptions {
  /** A tar.gz whose digest is right. */
  readonly archive: string;
  /** The folder that appears once all of it is on the disk. */
  readonly into: string;
  readonly mostBytes?: number;
  readonly mostEntries?: number;
}

/**
 * Unpacks an archive beside its folder, and gives it its name at the end. Every entry is checked before it is made, so no file appears out of the folder.
 * @throws TarError if the archive is refused, or the error of the disk; nothing is left of it then
 */
export async function unpackArchive({ archive, into, mostBytes, mostEntries }: UnpackOptions): Promise<void> {
  const beside = join(dirname(into), UNPACK_FOLDER);
  rmSync(beside, { recursive: true, force: true });
  rmSync(into, { recursive: true, force: true });
  const sink = new FolderSink(beside, mostBytes ?? AGENT_LIMITS.unpackedBytes);
  const packed = createReadStream(archive);
  try {
    const inspector = inspectTar({ mostEntries: mostEntries ?? AGENT_LIMITS.packageEntries, dropsRights: true, sink });
    const plain = packed.pipe(createGunzip());
    packed.on('error', (error) => plain.destroy(error));
    for await (const chunk of plain) inspector.take(chunk as Buffer);
    inspector.end();
    sink.finish();
    renameSync(beside, into);
    flushFolder(dirname(into));
  } catch (error) {
    sink.abandon();
    rmSync(beside, { recursive: true, force: true });
    throw isDamage(error) ? new TarError(`it is no gzip archive, or damaged: ${(error as Error).message}`) : error;
  } finally {
    // An open file keeps its room on the disk after it was removed.
    packed.destroy();
    if (!packed.closed) await once(packed, 'close');
  }
}

const isDamage = (error: unknown): boolean => String((error as NodeJS.ErrnoException).code).startsWith('Z_');

/** Makes the entries below a folder. It creates each file anew and follows no link, whatever the archive contains twice. */
class FolderSink implements TarSink {
  private readonly made = new Set<string>();
  private handle: number | undefined;
  private bytes = 0;

  constructor(
    private readonly root: string,
    private readonly mostBytes: number,
  ) {
    mkdirSync(root, { mode: 0o755 });
    this.made.add('');
  }

  open({ path, type, link, mode }: TarEntry): void {
    const name = readTarPath(path);
    this.makeFolder(parentFolder(name));
    if (type === FOLDER) return this.makeFolder(name);
    const place = join(this.root, name);
    this.makeRoom(name, place);
    if (type === SYMBOLIC_LINK) return symlinkSync(link, place);
    if (type === HARD_LINK) return this.linkFile(link, place);
    this.handle = openSync(place, 'wx', 0o600);
    // Without setuid, setgid and sticky, and never writable for others.
    chmodSync(place, (mode & 0o755) | 0o600);
  }

  write(bytes: Buffer): void {
    if (this.handle === undefined) return;
    this.bytes += bytes.length;
    if (this.bytes > this.mostBytes) throw new TarError(`it has more than ${this.mostBytes} bytes unpacked`);
    writeFully(this.handle, bytes);
  }

  close(): void {
    if (this.handle === undefined) return;
    const { handle } = this;
    this.handle = undefined;
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  }

  /** Closes the open file, whatever the disk makes of its content. */
  abandon(): void {
    if (this.handle !== undefined) closeSync(this.handle);
    this.handle = undefined;
  }

  /** All files are on the disk; now their names. */
  finish(): void {
    this.close();
    for (const folder of this.made) flushFolder(join(this.root, folder));
  }

  private makeFolder(name: string): void {
    if (this.made.has(name)) return;
    this.makeFolder(parentFolder(name));
    const place = join(this.root, name);
    this.makeRoom(name, place);
    mkdirSync(place, { mode: 0o755 });
    this.made.add(name);
  }

  /** A later entry of the same name replaces a file or a link, but no folder. */
  private makeRoom(name: string, place: string): void {
    if (this.made.has(name)) throw new TarError(`${JSON.stringify(name)} is a folder and something else`);
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) unlinkSync(place);
  }

  private linkFile(link: string, place: string): void {
    const source = join(this.root, readTarPath(link));
    const isFile = lstatSync(source, { throwIfNoEntry: false })?.isFile() ?? false;
    if (!isFile || !this.made.has(parentFolder(readTarPath(link))))
      throw new TarError(`a link leads to ${JSON.stringify(link)}, which is no file of the package`);
    linkSync(source, place);
  }
}

const parentFolder = (name: string): string => {
  const parent = dirname(name);
  return parent === '.' ? '' : parent;
};
