import { listOrEmpty, readOrEmpty } from './files';

/**
 * Open files inherited by this process that its children would inherit, too: Node closes only its own and the first
 * few. Each may be a secret or a way out.
 */
export function listInheritableFiles(from: number): readonly number[] {
  return listOrEmpty('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd >= from && !closesOnExec(fd));
}

const CLOSE_ON_EXEC = 0o2000000;

function closesOnExec(fd: number): boolean {
  const [, flags] = /^flags:\s*(\d+)/m.exec(readOrEmpty(`/proc/self/fdinfo/${fd}`)) ?? [];
  // It is already closed, like the descriptor used for listing.
  if (flags === undefined) return true;
  return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
}
