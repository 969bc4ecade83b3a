import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** A folder of only this user; a folder in which others may have changed something; a folder of another user, or no folder at all. */
type Ownership = 'own' | 'shared' | 'foreign';

const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/** Whether it belongs to this user or root. Windows has no such ids. */
export const isOwn = ({ uid }: Pick<Stats, 'uid'>): boolean => [process.getuid?.() ?? uid, 0].includes(uid);

/**
 * Makes a folder that no other user of the machine may enter, or closes an existing one.
 * @returns its former ownership @throws the error of the disk
 */
export function closeFolder(folder: string): Ownership {
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // The owner of a link decides where it leads, now and later.
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid)) return 'foreign';
  if ((stat.mode & GROUP_OR_OTHERS) !== 0) chmodSync(folder, 0o700);
  return (stat.mode & WRITABLE_BY_OTHERS) === 0 ? 'own' : 'shared';
}
