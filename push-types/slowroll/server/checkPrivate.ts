import { statSync } from 'node:fs';

/** Read, write or execute for the group or for others. */
const OTHERS_MAY = 0o077;

/** Refuses a file with secrets that others can read. @throws Error with the command that helps, or the error of the disk */
export function checkPrivate(path: string): void {
  if ((statSync(path).mode & OTHERS_MAY) !== 0) throw new Error(`${path} can be read by others: chmod 600 ${path}`);
}
