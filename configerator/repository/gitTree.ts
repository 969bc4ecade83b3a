import { admitFile, getFileKind, decodeUtf8, VALUES, type SourceTree } from '../compiler/tree';
import { conveyorError } from '../../domain/errors';
import { readBlobs } from './commits';
import type { Git } from './git';

/** A file in a git tree. */
export interface TreeEntry {
  readonly path: string;
  readonly blob: string;
}

/** Every plain file of a commit or tree. @throws ConveyorError `config-file-unusable` for a link among its sources */
export async function listTreeEntries(git: Git, tree: string): Promise<readonly TreeEntry[]> {
  const rows = (await git.text(['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', tree])).split('\0');
  return rows.flatMap((row) => {
    const [, mode = '', blob = '', size = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(row) ?? [];
    if (path === '') return [];
    if (path.startsWith(`${VALUES}/`)) return [{ path, blob }];
    if (getFileKind(path) === 'other' || path.split('/').some((name) => name.startsWith('.'))) return [];
    if (!mode.startsWith('100')) throw linkRefused(path);
    admitFile(path, Number(size));
    return [{ path, blob }];
  });
}

export const linkRefused = (file: string): Error =>
  conveyorError('config-file-unusable', { file, why: 'it is a symbolic link or another repository' });

/** Contents by blob: successive trees share nearly all of them. */
export type Blobs = Map<string, string>;

/** The sources of a commit. All unknown files are read at once. */
export async function gitTree(git: Git, entries: readonly TreeEntry[], blobs: Blobs): Promise<SourceTree> {
  const sources = entries.filter(({ path }) => !path.startsWith(`${VALUES}/`));
  const unknown = sources.filter(({ blob }) => !blobs.has(blob));
  const contents = await readBlobs(
    git,
    unknown.map(({ blob }) => blob),
  );
  unknown.forEach(({ path, blob }, index) => blobs.set(blob, decodeUtf8(path, contents[index] ?? Buffer.alloc(0))));
  const byPath = new Map(sources.map(({ path, blob }) => [path, blob]));
  return {
    paths: [...byPath.keys()].sort(),
    read: (path) => blobs.get(byPath.get(path) ?? '') ?? '',
  };
}
