import { whyNotConfigPath } from '../../domain/config/path';
import { conveyorError, unfitError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { CONFIG_LIMITS } from '../../domain/limits';
import { canonicalValue } from '../compiler/child/canonical';
import type { Memory } from '../compiler/run';
import { valueFile, VALUES, type SourceTree } from '../compiler/tree';
import { entriesOf, gitTree, type Blobs } from './gitTree';
import { makeCommits, type NewFile } from './importing';
import type { ConfigRepository } from './repository';
import { blobId, revalue, type Edits, type Revalued } from './revalue';

/** What a proposal would change: sources, and the values that come of them. */
export interface Draft extends Revalued {
  readonly base: string | null;
  readonly edits: Edits;
}

export interface Proposed {
  readonly change: number;
  /** `N@<commit>`: the version of the artifact. */
  readonly version: string;
}

/** How a tree of sources differs from a commit; null: from nothing at all. */
export async function draftOfTree(
  repository: ConfigRepository,
  base: string | null,
  tree: SourceTree,
  memory?: Memory,
): Promise<Draft> {
  const known = await filesAt(repository, base);
  const edits = new Map<string, string | null>();
  for (const path of tree.paths) {
    const text = tree.read(path);
    if (known.files.get(path) !== blobId(text)) edits.set(path, text);
  }
  const kept = new Set(tree.paths);
  for (const path of known.files.keys()) if (!path.startsWith(`${VALUES}/`) && !kept.has(path)) edits.set(path, null);
  return { base, edits, ...(await revalue(known.files, edits, known.read, memory)) };
}

/** Sources as they are to become; null: gone. */
export async function draftOfEdits(
  repository: ConfigRepository,
  base: string | null,
  edits: Edits,
  memory?: Memory,
): Promise<Draft> {
  const known = await filesAt(repository, base);
  return { base, edits, ...(await revalue(known.files, edits, known.read, memory)) };
}

/** What programs change by values: each becomes a raw file, which a program of the same path would contradict. */
export async function draftOfValues(
  repository: ConfigRepository,
  base: string | null,
  values: Readonly<Record<string, unknown>>,
  memory?: Memory,
): Promise<Draft> {
  const known = await filesAt(repository, base);
  const edits = new Map<string, string | null>();
  for (const [path, value] of Object.entries(values)) {
    const why = whyNotConfigPath(path);
    if (why !== undefined) throw conveyorError('config-file-unusable', { file: path, why });
    const file = valueFile(path);
    if (value !== null) {
      const text = file === path && typeof value === 'string' ? value : canonicalValue(value);
      if (known.files.get(file) !== blobId(text)) edits.set(file, text);
    } else if (known.files.has(file)) edits.set(file, null);
    else if (known.files.has(`${VALUES}/${file}`))
      throw conveyorError('config-path-taken', { path, files: [`${path}.config.ts`, 'the request'] });
  }
  return { base, edits, ...(await revalue(known.files, edits, known.read, memory)) };
}

/**
 * Makes a change of a draft: one commit that holds sources and values, at a ref with a number of its own.
 * @throws the first of its problems; ConveyorError `config-unchanged`, `over-limit`, `config-repository-unreachable`
 */
export async function propose(
  repository: ConfigRepository,
  draft: Draft,
  by: { readonly author: string; readonly message: string; readonly nowMs: number },
): Promise<Proposed> {
  const [problem] = draft.problems;
  if (problem !== undefined) throw problem;
  if (draft.edits.size === 0 && draft.values.size === 0)
    throw conveyorError('config-unchanged', { repository: repository.ref.name });
  const bytes = [...draft.values.values()].reduce((sum, text) => sum + Buffer.byteLength(text ?? '', 'utf8'), 0);
  const excess = over(CONFIG_LIMITS.values, draft.values.size) ?? over(CONFIG_LIMITS.change, bytes);
  if (excess !== undefined) throw unfitError(excess);
  const { author, message, nowMs } = by;
  const own = `refs/drafts/${blobId(`${process.pid} ${nowMs} ${message} ${performance.now()}`)}`;
  const commit = { parent: draft.base, author, message, files: newFiles(draft) };
  const [made = ''] = await makeCommits(repository.git, own, [commit], nowMs);
  const change = await repository.number(made);
  await repository.git.run(['update-ref', '-d', own]);
  return { change, version: `${change}@${made}` };
}

/** Both in one commit: whoever has it has what was reviewed and what is distributed, and neither without the other. */
export const newFiles = ({ edits, values }: Pick<Draft, 'edits' | 'values'>): readonly NewFile[] => [
  ...[...edits].map(([path, text]) => fileOf(path, text)),
  ...[...values].map(([path, text]) => fileOf(`${VALUES}/${valueFile(path)}`, text)),
];

const fileOf = (path: string, text: string | null): NewFile => (text === null ? { path, gone: true } : { path, text });

/** The files of a commit with their texts. */
async function filesAt(repository: ConfigRepository, commit: string | null) {
  if (commit === null) return { files: new Map<string, string>(), read: () => '' };
  const entries = await entriesOf(repository.git, commit);
  const blobs: Blobs = new Map();
  const tree = await gitTree(repository.git, entries, blobs);
  return { files: new Map(entries.map(({ path, blob }) => [path, blob])), read: (path: string) => tree.read(path) };
}
