import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** A folder of this user alone; one in which others may have changed what lies there; or one that is not this user's, or no folder. */
type Ownership = 'own' | 'shared' | 'foreign';

const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/** @throws what the disk says of a path that does not exist */
export function ownershipOf(folder: string): Ownership {
  // A link leads to wherever its owner wants, now and later.
  const { uid, mode, isFolder } = describe(folder);
  // Windows has no such ids.
  if (!isFolder || uid !== (process.getuid?.() ?? uid)) return 'foreign';
  return (mode & WRITABLE_BY_OTHERS) === 0 ? 'own' : 'shared';
}

/**
 * Makes a folder that no other user of the machine may enter, or closes the one that is there.
 * @returns whose it was before
 * @throws what the disk says
 */
export function closeFolder(folder: string): Ownership {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const ownership = ownershipOf(folder);
  if (ownership !== 'foreign' && (describe(folder).mode & GROUP_OR_OTHERS) !== 0) chmodSync(folder, 0o700);
  return ownership;
}

function describe(folder: string): { readonly uid: number; readonly mode: number; readonly isFolder: boolean } {
  const stat = lstatSync(folder);
  return { uid: stat.uid, mode: stat.mode, isFolder: stat.isDirectory() };
}
