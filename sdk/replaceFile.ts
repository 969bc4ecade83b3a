import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

export interface ReplaceOptions {
  /** The permissions of the new file, such as 0o600. */
  readonly mode: number;
  /** Whether the content reaches the disk before the name does, so that a power loss leaves the old file or the new one; true by default. */
  readonly flush?: boolean;
}

/** The suffix of an unfinished file. A killed process leaves it behind. */
export const UNFINISHED = '.part';

/**
 * Writes a file completely or not at all. It replaces a link instead of following it, and sets the permissions of a file that had others.
 * @throws the error of the disk
 */
export async function replaceFile(file: string, text: string, { mode, flush = true }: ReplaceOptions): Promise<void> {
  const part = nameUnfinished(file);
  try {
    await writeFile(part, text, { mode, flag: 'wx', flush });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** The blocking form of `replaceFile`. @throws the error of the disk */
export function replaceFileSync(file: string, text: string, { mode, flush = true }: ReplaceOptions): void {
  const part = nameUnfinished(file);
  try {
    writeFileSync(part, text, { mode, flag: 'wx', flush });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

const nameUnfinished = (file: string): string => `${file}.${randomUUID()}${UNFINISHED}`;
