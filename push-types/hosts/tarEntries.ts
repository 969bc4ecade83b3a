import { posix } from 'node:path';

/** The entries of a tar archive, and whether it is safe to unpack. Without imports of ours, because the agent of slowroll contains it too. */

export interface TarEntry {
  /** As in the archive; `readTarPath` makes it the path of a file. */
  readonly path: string;
  readonly type: string;
  readonly link: string;
  readonly mode: number;
}

/** Receives the entries that were accepted, each with its bytes. */
export interface TarSink {
  open(entry: TarEntry): void;
  write(bytes: Buffer): void;
  close(): void;
}

export interface InspectOptions {
  readonly mostEntries: number;
  /** Accepts setuid and setgid programs; the sink then drops these bits. */
  readonly dropsRights?: boolean;
  readonly sink?: TarSink;
}

/** The archive is refused; the message says why. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

/** Called with each block of the archive, in order; throws for an archive that is refused. */
export interface TarInspector {
  take(chunk: Buffer): void;
  /** @throws Error if the archive ends in the middle */
  end(): void;
}

const BLOCK = 512;
const [FILE, OLD_FILE] = ['0', '\0'];
export const HARD_LINK = '1';
export const SYMBOLIC_LINK = '2';
export const FOLDER = '5';
const [LONG_NAME, LONG_LINK, PAX, PAX_GLOBAL] = ['L', 'K', 'x', 'g'];
/** The longest name or extended header that is read. */
const MOST_TEXT = 64 * 1024;

/**
 * Refuses paths with `..`, absolute paths, links out of the package, entries behind a link, devices, and programs that take other rights. The host
 * compares the digest of the same bytes before it unpacks them.
 */
export function inspectTar({ mostEntries, dropsRights = false, sink }: InspectOptions): TarInspector {
  const links = new Set<string>();
  let rest: Buffer = Buffer.alloc(0);
  let [entries, skip, isOver] = [0, 0, false];
  let left = 0;
  let text: { readonly type: string; readonly size: number; readonly padded: number } | undefined;
  let next: { path?: string; link?: string } = {};
  const takeHeader = (block: Buffer): void => {
    const { size, ...entry } = readHeader(block);
    if ([LONG_NAME, LONG_LINK, PAX, PAX_GLOBAL].includes(entry.type)) {
      if (size > MOST_TEXT) throw new TarError(`it has a header of ${size} bytes`);
      text = { type: entry.type, size, padded: padSize(size) };
      return;
    }
    const named = { ...entry, ...next };
    // GNU tar takes the bytes after a link for further entries, which were not looked at.
    if (size > 0 && (![FILE, OLD_FILE].includes(entry.type) || named.path.endsWith('/')))
      throw new TarError(`${JSON.stringify(named.path.slice(0, 200))} is no file, and has ${size} bytes`);
    refuseEntry(named, links, dropsRights);
    next = {};
    entries += 1;
    if (entries > mostEntries) throw new TarError(`it has more than ${mostEntries} files`);
    [left, skip] = [size, padSize(size)];
    sink?.open(named);
    if (size === 0) sink?.close();
  };
  const takeContent = (bytes: Buffer): void => {
    const content = bytes.subarray(0, left);
    if (content.length === 0) return;
    sink?.write(content);
    left -= content.length;
    if (left === 0) sink?.close();
  };
  const takeText = (block: Buffer, { type, size }: { type: string; size: number }): void => {
    const words = block.subarray(0, size).toString('utf8');
    if (type === LONG_NAME) next.path = words.replace(/\0.*$/s, '');
    else if (type === LONG_LINK) next.link = words.replace(/\0.*$/s, '');
    else if (type === PAX) next = { ...next, ...readPax(block.subarray(0, size)) };
    else if ('path' in readPax(block.subarray(0, size))) throw new TarError('it names files by a global header');
  };
  return {
    take: (chunk) => {
      // The archive is over: the rest of the file is not kept in memory.
      if (isOver) return refuseRest(chunk);
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (;;) {
        if (skip > 0) {
          const some = Math.min(skip, rest.length);
          takeContent(rest.subarray(0, some));
          [rest, skip] = [rest.subarray(some), skip - some];
          if (skip > 0) return;
        }
        const need = text?.padded ?? BLOCK;
        if (isOver) return refuseRest(rest);
        if (rest.length < need) return;
        const block = rest.subarray(0, need);
        rest = rest.subarray(need);
        if (text) {
          takeText(block, text);
          text = undefined;
        } else if (block.every((byte) => byte === 0)) isOver = true;
        else takeHeader(block);
      }
    },
    end: () => {
      if (!isOver || entries === 0)
        throw new TarError(entries === 0 ? 'it is no tar archive with files' : 'it ends in the middle');
    },
  };
}

/** An archive ends with zeros alone; some programs look for entries after them. */
function refuseRest(bytes: Buffer): void {
  if (bytes.some((byte) => byte !== 0)) throw new TarError('it has bytes after its end');
}

const padSize = (size: number): number => Math.ceil(size / BLOCK) * BLOCK;

function readHeader(block: Buffer): TarEntry & { readonly size: number } {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== readNumber(block, 148, 8)) throw new TarError('it is no tar archive, or damaged');
  const prefix = readField(block, 257, 5) === 'ustar' && block[262] === 0 ? readField(block, 345, 155) : '';
  const name = readField(block, 0, 100);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    ...{ mode: readNumber(block, 100, 8), size: readNumber(block, 124, 12) },
    ...{ type: String.fromCharCode(block[156] ?? 0), link: readField(block, 157, 100) },
  };
}

const readField = (block: Buffer, from: number, length: number): string =>
  block
    .subarray(from, from + length)
    .toString('utf8')
    .replace(/\0.*$/s, '');

/** Octal, or binary if the first bit is set. */
function readNumber(block: Buffer, from: number, length: number): number {
  if (((block[from] ?? 0) & 0x80) !== 0) {
    const value = [...block.subarray(from + 1, from + length)].reduce((total, byte) => total * 256 + byte, 0);
    if (!Number.isSafeInteger(value)) throw new TarError('it has an impossible size');
    return value;
  }
  const value = Number.parseInt(readField(block, from, length).trim() || '0', 8);
  if (!Number.isSafeInteger(value) || value < 0) throw new TarError('it is no tar archive, or damaged');
  return value;
}

/** `path` and `linkpath` of an extended header, whose lines are `<length> <key>=<value>\n`. */
function readPax(bytes: Buffer): { path?: string; link?: string } {
  const found: { path?: string; link?: string } = {};
  for (let at = 0; at < bytes.length;) {
    const length = Number.parseInt(bytes.subarray(at, at + 20).toString('latin1'), 10);
    if (!(length > 0)) throw new TarError('it has a damaged extended header');
    const line = bytes
      .subarray(at, at + length)
      .toString('utf8')
      .replace(/^\d+ /, '')
      .replace(/\n$/, '');
    if (line.startsWith('path=')) found.path = line.slice('path='.length);
    if (line.startsWith('linkpath=')) found.link = line.slice('linkpath='.length);
    if (/^(size|GNU\.sparse)/.test(line)) throw new TarError('it has a file in an extended form; pack it without');
    at += length;
  }
  return found;
}

/** The path of an entry within the package; empty for the package itself. */
export function readTarPath(path: string): string {
  const clean = posix.normalize(path).replace(/\/$/, '');
  return clean === '.' ? '' : clean;
}

function refuseEntry({ path, type, link, mode }: TarEntry, links: Set<string>, dropsRights: boolean): void {
  const refuse = (why: string): never => {
    throw new TarError(`${JSON.stringify(path.slice(0, 200))} ${why}`);
  };
  const clean = readTarPath(path);
  if (/[\0\n\r]/.test(path) || path === '') refuse('is a name with a line break, or none');
  if (path.startsWith('/') || path.split('/').includes('..')) refuse('leads out of the package');
  if (clean.split('/')[0]?.startsWith('.conveyor')) refuse('has a name that Conveyor uses itself');
  const parents = clean.split('/').map((_, index, parts) => parts.slice(0, index).join('/'));
  if (parents.some((parent) => links.has(parent))) refuse('is behind a link');
  if (!dropsRights && (mode & 0o6000) !== 0) refuse('takes the rights of its owner (setuid or setgid)');
  if (type === SYMBOLIC_LINK) {
    if (leadsOut(clean, link)) refuse(`is a link to ${JSON.stringify(link.slice(0, 200))}, out of the package`);
    links.add(clean);
  } else if (type === HARD_LINK) {
    if (link.startsWith('/') || link.split('/').includes('..')) refuse('is a link out of the package');
    if (links.has(posix.normalize(link))) refuse('is a link to a link');
  } else if (type !== FILE && type !== OLD_FILE && type !== FOLDER)
    refuse(`is a device or a file of an unknown kind (${JSON.stringify(type)})`);
  else links.delete(clean);
}

/** `..` may only stand at the start of a link: behind another link it would mean another folder. */
function leadsOut(path: string, link: string): boolean {
  if (link === '' || link.startsWith('/') || /[\0\n\r]/.test(link)) return true;
  const parts = link.split('/').filter((part) => part !== '' && part !== '.');
  const ups = parts.findIndex((part) => part !== '..');
  const depth = ups === -1 ? parts.length : ups;
  return parts.slice(depth).includes('..') || depth > path.split('/').length - 1;
}
