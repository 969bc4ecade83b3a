import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, open, stat } from 'node:fs/promises';
import { plural } from '../../domain/text';

/** Copies a file, instantly if the disk can share blocks. Only this user can read the copy. */
export async function copyBytes(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
}

/** Flushes a file from memory to the disk. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  await handle.sync().finally(() => handle.close());
}

export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

export async function digestFile(file: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Counts existing files. */
export async function sizeOfFiles(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
  return stats.reduce((sum, one) => sum + (one?.size ?? 0), 0);
}

export const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '') || /no space left/i.test(String(error));

export const MAKE_ROOM = 'make room, or choose a folder on another disk; nothing else was changed';

/** `3 bytes`, `7.2 kB`, `12.3 MB`: by thousands, as disks and `df -H` count. */
export function formatFileSize(bytes: number): string {
  const [unit, size] = UNITS.find(([, least]) => bytes >= least * ROUNDED_UP) ?? [];
  return unit === undefined || size === undefined ? plural(bytes, 'byte') : `${(bytes / size).toFixed(1)} ${unit}`;
}

const UNITS = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const;
/** 999,950 bytes are 1.0 MB. */
const ROUNDED_UP = 0.99995;

export const describeTrouble = (error: unknown): string => (error instanceof Error ? error.message : String(error));
