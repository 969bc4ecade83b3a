import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Whether a process of this machine, recorded by another one, still runs. */

/** The id of this boot of the machine or container, because process ids are only valid within it. */
export function machineId(): string {
  const boot = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return boot === undefined ? hostname() : `${boot} ${read(() => readlinkSync('/proc/self/ns/pid')) ?? ''}`;
}

/** The start time of a process, in its machine's units. Ids are reused, but never with the same start. Null if the system does not report it. */
export const readProcessStart = (pid: number): string | null => readProcStat(pid)?.[19] ?? null;

/** Includes processes of other users. A zombie does not count as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !['Z', 'X'].includes(readProcStat(pid)?.[0] ?? '');
}

/** The fields of Linux's process status, from the state on; undefined on other systems. */
function readProcStat(pid: number): readonly string[] | undefined {
  const text = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The program name comes first, in parentheses, and may contain anything.
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(from: () => string): string | undefined {
  try {
    return from();
  } catch {
    return undefined;
  }
}
