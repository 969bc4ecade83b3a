import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The disk of a proxy, so that tests can fill it. */
export interface Files {
  list(): Promise<readonly string[]>;
  read(name: string): Promise<string>;
  /** Whole, or not at all. */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export function filesIn(folder: string): Files {
  let number = 0;
  return {
    list: async () => {
      await mkdir(folder, { recursive: true });
      const names = await readdir(folder);
      // What a process that was killed had begun.
      const left = names.filter((name) => name.endsWith(TEMPORARY));
      await Promise.all(left.map((name) => removeOld(join(folder, name))));
      return names.filter((name) => name.endsWith('.json'));
    },
    read: (name) => readFile(join(folder, name), 'utf8'),
    write: async (name, text) => {
      const temporary = join(folder, `${name}.${process.pid}.${(number += 1)}${TEMPORARY}`);
      try {
        const file = await open(temporary, 'w', 0o644);
        try {
          await file.writeFile(text);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, join(folder, name));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

const TEMPORARY = '.part';

/** What is newer another process may be writing. */
const OLD_MS = 60_000;

async function removeOld(file: string): Promise<void> {
  const { mtimeMs = Infinity } = await stat(file).catch(() => ({}) as { mtimeMs?: number });
  if (Date.now() - mtimeMs > OLD_MS) await rm(file, { force: true });
}
