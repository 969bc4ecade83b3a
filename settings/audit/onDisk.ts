import { open } from 'node:fs/promises';
import { recordIn } from '../../domain/audit/chain';
import type { AuditRecord } from '../../domain/audit/record';
import { streamLines } from './files';

const NEWLINE = 0x0a;

const CHUNK = 65_536;

/** The number of bytes up to the end of the last line; undefined if the file ends there, or does not exist. */
export async function measureWholeLines(path: string): Promise<number | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    for (let end = size; end > 0; end -= CHUNK) {
      const from = Math.max(0, end - CHUNK);
      const chunk = Buffer.alloc(end - from);
      await file.read(chunk, 0, chunk.length, from);
      const at = chunk.lastIndexOf(NEWLINE);
      if (at >= 0) return from + at + 1 === size ? undefined : from + at + 1;
    }
    return size === 0 ? undefined : 0;
  } finally {
    await file.close();
  }
}

/** The first and the last record of a file. */
export async function readEdges(path: string): Promise<readonly [AuditRecord?, AuditRecord?]> {
  let [first, last]: [string | undefined, string | undefined] = [undefined, undefined];
  for await (const line of streamLines(path)) {
    first ??= line;
    last = line;
  }
  return [first === undefined ? undefined : recordIn(first), last === undefined ? undefined : recordIn(last)];
}
