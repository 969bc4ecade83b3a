import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const LOCK_EVERY_MS = 100;
const FLOCK_BUSY = 1;

/**
 * Takes the lock of a folder until this process ends, however it ends: `flock` locks the open file, which the kernel closes with the process. Files with a
 * process id would have to be judged after a crash, and two agents can judge at the same time.
 * @throws Error if another agent has the folder, or this machine has no `flock`
 */
export async function lockFolder(folder: string, patienceMs: number): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const handle = openSync(join(folder, 'lock'), 'a', 0o600);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { status, error } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', handle] });
    if (status === 0) return;
    if (status !== FLOCK_BUSY || performance.now() > deadline) {
      closeSync(handle);
      throw new Error(
        status === FLOCK_BUSY
          ? `another agent uses ${folder}: end it first, since a host has one agent`
          : `${folder} cannot be locked: ${error?.message ?? `flock ended with ${status}`}; it is a part of util-linux and of BusyBox`,
      );
    }
    await delay(LOCK_EVERY_MS);
  }
}
