import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** A folder of this user alone; one in which others may have changed what lies there; or one that is not this user's, or no folder. */
type Ownership = 'own' | 'shared' | 'foreign';

const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/** Whether this user or root has put it there. Windows has no such ids. */
export const isOwn = ({ uid }: Pick<Stats, 'uid'>): boolean => [process.getuid?.() ?? uid, 0].includes(uid);

/**
 * Makes a folder that no other user of the machine may enter, or closes the one that is there.
 * @returns whose it was before
 * @throws what the disk says
 */
export function closeFolder(folder: string): Ownership {
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // A link leads to wherever its owner wants, now and later.
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid)) return 'foreign';
  if ((stat.mode & GROUP_OR_OTHERS) !== 0) chmodSync(folder, 0o700);
  return (stat.mode & WRITABLE_BY_OTHERS) === 0 ? 'own' : 'shared';
}
