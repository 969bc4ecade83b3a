import { constants } from 'node:fs';
import { open, readdir, rename, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { filesIn, type Files } from '../proxy/files';

/** The disk on which a host keeps packages, so that tests can fill it. */
export interface PieceDisk extends Files {
  /** Fewer bytes if the file ends earlier; none if there is no file. */
  readPart(name: string, at: number, bytes: number): Promise<Buffer>;
  writePart(name: string, at: number, bytes: Uint8Array): Promise<void>;
  /** Does nothing if there is no such file. */
  rename(from: string, to: string): Promise<void>;
  /** Changes with the file; undefined if there is none. */
  readStamp(name: string): Promise<string | undefined>;
  /** Names of the files that hold pieces. */
  dataFiles(): Promise<readonly string[]>;
  /** The path of a file for applications of the host. */
  locate(name: string): string;
}

export function pieceDiskIn(folder: string): PieceDisk {
  const place = (name: string): string => join(folder, name);
  return {
    ...filesIn(folder),
    locate: place,
    dataFiles: async () => (await readdir(folder)).filter((name) => name.endsWith('.data')),
    readPart: (name, at, bytes) => readPart(place(name), at, bytes),
    rename: async (from, to) => {
      await rename(place(from), place(to)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    },
    readStamp: async (name) => {
      const found = await stat(place(name)).catch(() => undefined);
      return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
    },
    writePart: async (name, at, bytes) => {
      // Pieces arrive in any order; existing ones stay.
      const file = await open(place(name), constants.O_RDWR | constants.O_CREAT, 0o644);
      try {
        await writeWhole(file, bytes, at);
      } finally {
        await file.close();
      }
    },
  };
}

/** Writes all bytes: a nearly full disk writes only a part of them, without an error. @throws Error, and errors of the disk */
export async function writeWhole(file: Pick<FileHandle, 'write'>, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    if (bytesWritten === 0) throw new Error(`it took ${done} of ${bytes.length} bytes`);
    done += bytesWritten;
  }
}

/** Bytes of a file; fewer if it ends earlier, none if it does not exist. */
export async function readPart(place: string, at: number, bytes: number): Promise<Buffer> {
  const file = await open(place, 'r').catch(() => undefined);
  if (file === undefined) return Buffer.alloc(0);
  try {
    const buffer = Buffer.allocUnsafe(bytes);
    const { bytesRead } = await file.read(buffer, 0, bytes, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
