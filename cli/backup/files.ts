import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, open, stat } from 'node:fs/promises';
import { formatBytes } from '../../domain/size';

/** The same bytes; at once where the disk can share them. For this user alone. */
export async function copyBytes(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
}

/** Onto the disk, past what the system keeps in memory. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  await handle.sync().finally(() => handle.close());
}

export interface Digested {
  readonly bytes: number;
  readonly sha256: string;
}

export async function digestFile(file: string): Promise<Digested> {
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

export const MAKE_ROOM = 'make room, or name a folder on another disk; nothing else was changed';

export const formatFileSize = (bytes: number): string =>
  bytes < 1e6 ? formatBytes(bytes) : `${(bytes / 1e6).toFixed(1)} MB`;

export const describeTrouble = (error: unknown): string => (error instanceof Error ? error.message : String(error));
