import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes to write to a place, which need not exist yet. */
interface Write {
  readonly path: string;
  readonly bytes: number;
}

interface Shortage {
  /** A folder on the disk in question. */
  readonly folder: string;
  readonly neededBytes: number;
  readonly roomBytes: number;
}

/** The first disk without space for all writes to it; undefined if every disk has enough. */
export async function findShortage(writes: readonly Write[]): Promise<Shortage | undefined> {
  const disks = new Map<number, { readonly folder: string; neededBytes: number }>();
  for (const { path, bytes } of writes) {
    const folder = folderAbove(path);
    const { dev } = await stat(folder);
    const disk = disks.get(dev) ?? { folder, neededBytes: 0 };
    disk.neededBytes += bytes;
    disks.set(dev, disk);
  }
  for (const { folder, neededBytes } of disks.values()) {
    const roomBytes = await roomIn(folder);
    if (neededBytes > roomBytes) return { folder, neededBytes, roomBytes };
  }
  return undefined;
}

/** Bytes that this user may still write there. */
async function roomIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function folderAbove(path: string): string {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
