import { deltasOfRaw, type Delta } from './commits';
import type { Git } from './git';

/** The empty tree, which every repository knows. */
const NOTHING = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** The files that differ between two commits; null means an empty tree. */
export async function deltaBetween(git: Git, from: string | null, to: string | null): Promise<readonly Delta[]> {
  const flags = ['-r', '-z', '--raw', '--no-renames', '--no-abbrev'];
  return deltasOfRaw(await git.text(['diff-tree', ...flags, from ?? NOTHING, to ?? NOTHING]));
}

/**
 * The commits after one, up to the head, oldest first, each the first parent of the next; null if the start is not
 * among them.
 */
export async function firstParents(git: Git, head: string, after: string | null): Promise<readonly string[] | null> {
  const range = after === null ? [head] : [`${after}..${head}`];
  if (after !== null) {
    const known = await git.run(['cat-file', '-e', `${after}^{commit}`]);
    if (known.code !== 0) return null;
  }
  const text = await git.text(['rev-list', '--first-parent', '--reverse', '--parents', ...range, '--']);
  const rows = text.split('\n').filter((row) => row !== '');
  const before = rows[0]?.split(' ')[1] ?? null;
  // A range leaves out everything reachable from the other commit, even on another line.
  return rows.length > 0 && before === after ? rows.map((row) => row.slice(0, row.search(/ |$/))) : null;
}
