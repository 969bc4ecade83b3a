import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwn } from '../../settings/ownFolder';
import { replaceFile, UNFINISHED } from '../../sdk/replaceFile';

/** The disk of a proxy, so that tests can fill it. */
export interface Files {
  list(): Promise<readonly string[]>;
  read(name: string): Promise<string>;
  /** Writes atomically. */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export function filesIn(folder: string): Files {
  return {
    list: async () => {
      await mkdir(folder, { recursive: true });
      const names = await readdir(folder);
      // Removes files that a killed process left unfinished.
      const left = names.filter((name) => name.endsWith(UNFINISHED));
      await Promise.all(left.map((name) => removeOld(join(folder, name))));
      return names.filter((name) => name.endsWith('.json'));
    },
    read: (name) => readOwn(join(folder, name)),
    write: (name, text) => replaceFile(join(folder, name), text, { mode: 0o644 }),
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

/** Refuses a file that another user of the machine has put into the folder. */
async function readOwn(place: string): Promise<string> {
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if (!isOwn(await file.stat())) throw new Error('another user of this machine has written it');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** A newer file may still be in use by another process. */
const OLD_MS = 60_000;

async function removeOld(file: string): Promise<void> {
  const { mtimeMs = Infinity } = await stat(file).catch(() => ({}) as { mtimeMs?: number });
  if (Date.now() - mtimeMs > OLD_MS) await rm(file, { force: true });
}
