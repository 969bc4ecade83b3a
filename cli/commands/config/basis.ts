import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Git } from '../../../configerator/repository/git';
import { ConveyorError } from '../../../domain/errors';

/**
 * The base of a folder separates the author's changes from later changes of others. A checkout knows its base; any
 * other folder remembers it in a file, which a copy of the folder includes.
 */

const MEMORY = '.conveyor-base.json';

const memorySchema = z.object({
  repository: z.string(),
  /** The commit; null if the folder began before the branch had one. */
  base: z.string().nullable(),
  /** Commits of changes proposed from it since, oldest first: once one has landed, the folder in its state at that time is on the branch. */
  proposed: z.array(z.string()),
});
type FolderMemory = z.output<typeof memorySchema>;

/** How many proposals in a row are remembered if none of them lands. */
const MAX_PROPOSED = 20;

/**
 * The newest commit that a folder fully contains, or the given one.
 * @param ask queries the repository about a commit; throws `usage` if the commit is neither on the branch nor belongs to a change that has landed
 * @returns its answer; null if the folder began before there was a commit; undefined if its base is unknown
 */
export async function findBasis<T>(
  folder: string,
  asked: { readonly repository: string; readonly given: string | undefined },
  ask: (commit: string) => Promise<T>,
): Promise<T | null | undefined> {
  const { repository, given } = asked;
  if (given !== undefined) return ask(given);
  const checkout = await findCheckoutCommit(folder);
  const { base, proposed = [] } = readFolderMemory(folder, repository) ?? {};
  const candidates = checkout === null ? [...proposed.toReversed(), ...(base === undefined ? [] : [base])] : [checkout];
  for (const commit of candidates) {
    const known = commit === null ? null : await ask(commit).catch(unknownAt);
    if (known !== undefined) return known;
  }
  return undefined;
}

function unknownAt(error: unknown): undefined {
  if (!(error instanceof ConveyorError) || error.code !== 'usage') throw error;
}

/** Records in a folder which change was proposed from it. @returns why that failed */
export function rememberBasis(
  folder: string,
  { repository, base, commit }: { readonly repository: string; readonly base: string | null; readonly commit: string },
): string | undefined {
  if (isCheckout(folder)) return undefined;
  const before = readFolderMemory(folder, repository);
  const earlier = before?.base === base ? before.proposed : [];
  const proposed = [...earlier, commit].slice(-MAX_PROPOSED);
  try {
    writeFileSync(join(folder, MEMORY), `${JSON.stringify({ repository, base, proposed } satisfies FolderMemory)}\n`);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `the base of the folder could not be saved (${why}): give the next proposal --base`;
  }
}

function readFolderMemory(folder: string, repository: string): FolderMemory | undefined {
  const file = join(folder, MEMORY);
  try {
    const found = memorySchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return found.repository === repository ? found : undefined;
  } catch {
    // If the file is damaged, the command asks for the base.
    return undefined;
  }
}

const isCheckout = (folder: string): boolean => existsSync(resolve(folder, '.git'));

/** The commit of a folder that is itself a checkout; null for any other folder. */
async function findCheckoutCommit(folder: string): Promise<string | null> {
  if (!isCheckout(folder)) return null;
  const { code, out } = await new Git(resolve(folder, '.git'), folder).run([
    ...['rev-parse', '--verify', '--quiet'],
    'HEAD^{commit}',
  ]);
  return code === 0 ? out.toString().trim() : null;
}
