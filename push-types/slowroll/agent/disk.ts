import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes that are on the disk when they return, so that a power loss leaves the old content or the new one. All calls block: the agent does one thing at a time. */

/** The suffix of a file or link that is not finished. */
const UNFINISHED_SUFFIX = '.part';

/** Replaces a file. A full disk leaves the old one. @throws the error of the disk */
export function writeDurably(file: string, text: string): void {
  const part = `${file}${UNFINISHED_SUFFIX}`;
  try {
    const handle = openSync(part, 'w', 0o600);
    try {
      writeFully(handle, Buffer.from(text));
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(part, file);
    flushFolder(dirname(file));
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** A write may be a short one, on a disk that becomes full. */
export function writeFully(handle: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at);
}

/** Makes the names in a folder durable. */
export const flushFolder = (folder: string): void => flushFile(folder);

/** Makes the content of a file durable. */
export function flushFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Lets a link lead to another target, in one rename: it never leads nowhere. */
export function switchLink(link: string, target: string): void {
  const part = `${link}${UNFINISHED_SUFFIX}`;
  rmSync(part, { force: true });
  symlinkSync(target, part);
  renameSync(part, link);
  flushFolder(dirname(link));
}

/** The target of a link; null if there is none. */
export function readLinkTarget(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

/** The names in a folder; none if it does not exist. */
function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes the entries of a folder that are not kept. */
export function removeOthers(folder: string, kept: ReadonlySet<string>): void {
  for (const name of listEntries(folder))
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
}
