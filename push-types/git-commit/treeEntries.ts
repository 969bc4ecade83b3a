/** A file, folder, link or submodule in the tree of a commit. */
export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** The entries that `git ls-tree -z` lists, by path. */
export const parseTree = (listed: string): ReadonlyMap<string, TreeEntry> =>
  new Map(
    listed.split('\0').flatMap((line): [string, TreeEntry][] => {
      const [, mode = '', id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return path === '' ? [] : [[path, { mode, id }]];
    }),
  );

/** A plain file, executable or not. */
export const isPlainFile = ({ mode }: TreeEntry): boolean => mode.startsWith('100');
