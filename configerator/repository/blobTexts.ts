import { admitFile, decodeUtf8 } from '../compiler/tree';
import { readBlobs, lookUp } from './commits';
import type { Git } from './git';
import type { Blobs } from './gitTree';

const KEPT = 50_000;

/** Texts of blobs, cached in memory. */
export class BlobTexts {
  private readonly blobs: Blobs = new Map();

  constructor(private readonly git: Git) {}

  /** By path. @throws ConveyorError `config-file-unusable` for one that is too large or not text */
  async of(wanted: readonly { readonly path: string; readonly blob: string }[]): Promise<ReadonlyMap<string, string>> {
    if (this.blobs.size > KEPT) this.blobs.clear();
    const unknown = wanted.filter(({ blob }) => !this.blobs.has(blob));
    const ids = unknown.map(({ blob }) => blob);
    const found = await lookUp(this.git, ids);
    // Checked before reading, because an oversized one would kill git again and again.
    unknown.forEach(({ path }, index) => admitFile(path, found[index]?.bytes ?? 0));
    const contents = await readBlobs(this.git, ids);
    unknown.forEach(({ path, blob }, index) =>
      this.blobs.set(blob, decodeUtf8(path, contents[index] ?? Buffer.alloc(0))),
    );
    return new Map(wanted.map(({ path, blob }) => [path, this.blobs.get(blob) ?? '']));
  }
}
