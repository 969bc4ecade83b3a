import { writeSync } from 'node:fs';

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Writes the whole text before it returns, even to a slow reader: a program that never ends would block a later write. */
export function writeNow(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += writeSync(fd, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(PAUSE, 0, 0, 2);
    }
  }
}
