import { refuseUnreleasable, type OwnedPaths } from '../domain/ownership';
import type { PathRights } from '../../domain/access/paths';
import { conveyorError } from '../../domain/errors';
import { canonicalValue, NoJson } from '../compiler/child/canonical';
import type { RunMemory } from '../compiler/run';
import { admitFile, getFileKind, decodeUtf8, valueFile, VALUES, whyNotSource, type SourceTree } from '../compiler/tree';
import { requireProposable, type Draft } from './fit';
import { listTreeEntries, gitTree, type Blobs } from './gitTree';
import { makeCommits, type NewFile } from './newCommits';
import { groupsTrailer, requirePaths, listTouchedPaths } from './rights';
import type { ConfigRepository } from './repository';
import { blobId } from '../../sdk/blobId';
import { recompileValues, type Edits } from './revalue';

export interface Proposal {
  readonly change: number;
  /** `N@<commit>`: the version of the artifact. */
  readonly version: string;
  /** Its parent commit; null for the first of a branch. */
  readonly base: string | null;
  /** The values that it sets or deletes, in order. */
  readonly paths: readonly string[];
  /** The sources that it deletes, in order. */
  readonly deleted: readonly string[];
}

/** The author of a proposal, and the reason. */
export interface Proposer {
  readonly author: string;
  readonly message: string;
  readonly nowMs: number;
  /** The paths that pipelines release; without them, any path may be changed. */
  readonly pipelines?: readonly OwnedPaths[];
  /** The paths that the author may change; null or missing for all. */
  readonly rights?: PathRights | null;
  /** Groups of the author that only an identity provider knows: a landing trusts those named in the change. */
  readonly groups?: readonly string[];
}

/** The differences of a tree of sources from a commit, or from an empty branch (null). */
export async function createDraftFromTree(
  repository: ConfigRepository,
  base: string | null,
  tree: SourceTree,
  memory?: RunMemory,
): Promise<Draft> {
  const known = await readFilesAt(repository, base);
  const edits = new Map<string, string | null>();
  for (const path of tree.paths) {
    const text = tree.read(path);
    if (known.files.get(path) !== blobId(text)) edits.set(path, text);
  }
  const kept = new Set(tree.paths);
  for (const path of known.files.keys()) if (!path.startsWith(`${VALUES}/`) && !kept.has(path)) edits.set(path, null);
  return {
    base,
    edits,
    ...(await recompileValues(known.files, edits, known.read, { memory, programs: repository.ref.programs })),
  };
}

/** The new texts of sources; null deletes one. */
export async function createDraftFromEdits(
  repository: ConfigRepository,
  base: string | null,
  edits: Edits,
  memory?: RunMemory,
): Promise<Draft> {
  for (const [file, text] of edits) {
    const why = whyNotSource(file);
    if (why !== undefined) throw conveyorError('config-file-unusable', { file, why });
    if (text !== null) requireText(file, text);
  }
  const known = await readFilesAt(repository, base);
  return {
    base,
    edits,
    ...(await recompileValues(known.files, edits, known.read, { memory, programs: repository.ref.programs })),
  };
}

/** Changes that programs request by value: each becomes a raw file, which must not share its path with a program. */
export async function createDraftFromValues(
  repository: ConfigRepository,
  base: string | null,
  values: Readonly<Record<string, unknown>>,
  memory?: RunMemory,
): Promise<Draft> {
  const known = await readFilesAt(repository, base);
  const edits = new Map<string, string | null>();
  for (const [path, value] of Object.entries(values)) {
    const file = valueFile(path);
    const why = whyNotSource(file) ?? (getFileKind(file) === 'raw' ? undefined : 'it is not the path of a value');
    if (why !== undefined) throw conveyorError('config-file-unusable', { file: path, why });
    if (value !== null) {
      const text = file === path && typeof value === 'string' ? value : formatValueJson(path, value);
      requireText(file, text);
      if (known.files.get(file) !== blobId(text)) edits.set(file, text);
    } else if (known.files.has(file)) edits.set(file, null);
    else if (known.files.has(`${VALUES}/${file}`))
      throw conveyorError('config-path-taken', { path, files: [`${path}.config.ts`, 'the request'] });
  }
  return {
    base,
    edits,
    ...(await recompileValues(known.files, edits, known.read, { memory, programs: repository.ref.programs })),
  };
}

/** The checks for a file of a folder. @throws ConveyorError `config-file-unusable` */
function requireText(file: string, text: string): void {
  const bytes = Buffer.from(text);
  admitFile(file, bytes.length);
  decodeUtf8(file, bytes);
}

function formatValueJson(path: string, value: unknown): string {
  try {
    return canonicalValue(value);
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw conveyorError('config-value-refused', {
      ...{ path, file: valueFile(path), by: 'JSON', why: error.message },
      chain: [],
    });
  }
}

/**
 * Creates a change from a draft: one commit with sources and values, at its own numbered ref.
 * @throws its first problem; ConveyorError `config-unchanged`, `not-permitted`, `config-not-one-pipeline`,
 * `config-conflict`, `over-limit`, `config-repository-unreachable`
 */
export async function propose(repository: ConfigRepository, draft: Draft, by: Proposer): Promise<Proposal> {
  const made = await commitDraft(repository, draft, by);
  return toProposal(draft, made, await repository.number(made));
}

/** The same, with a note at a separate ref that is set together with the change; null if the note already exists. */
export async function proposeWithNote(
  repository: ConfigRepository,
  draft: Draft,
  by: Proposer,
  note: { readonly ref: string; readonly text: (proposed: Proposal) => string },
): Promise<Proposal | null> {
  const made = await commitDraft(repository, draft, by);
  const text = (change: number): string => note.text(toProposal(draft, made, change));
  const change = await repository.number(made, { ref: note.ref, text });
  return change === null ? null : toProposal(draft, made, change);
}

const toProposal = ({ base, values, edits }: Draft, commit: string, change: number): Proposal => ({
  ...{ change, version: `${change}@${commit}`, base },
  paths: [...values.keys()].sort(),
  deleted: listDeleted(edits),
});

/** The deleted sources. */
export const listDeleted = (edits: Edits): string[] =>
  [...edits].flatMap(([path, text]) => (text === null ? [path] : [])).sort();

/** The commit of a draft that may be proposed, without a number yet. */
async function commitDraft(
  repository: ConfigRepository,
  draft: Draft,
  { author, message, nowMs, pipelines = [], rights = null, groups = [] }: Proposer,
): Promise<string> {
  await requireProposable(repository, draft, message);
  requirePaths(rights, listTouchedPaths(draft.edits.keys(), draft.values.keys()), repository.ref.name);
  refuseUnreleasable([...draft.values.keys()].sort(), pipelines);
  const own = `refs/drafts/${blobId(`${process.pid} ${nowMs} ${message} ${performance.now()}`)}`;
  const commit = { parent: draft.base, author, message: `${message}${groupsTrailer(groups)}`, files: newFiles(draft) };
  const [made = ''] = await makeCommits(repository.git, own, [commit], nowMs);
  await repository.git.run(['update-ref', '-d', own]);
  return made;
}

/** Sources and values in one commit, so that the reviewed text and the distributed values never come apart. */
const newFiles = ({ edits, values }: Pick<Draft, 'edits' | 'values'>): readonly NewFile[] => [
  ...[...edits].map(([path, text]) => toNewFile(path, text)),
  ...[...values].map(([path, text]) => toNewFile(`${VALUES}/${valueFile(path)}`, text)),
];

const toNewFile = (path: string, text: string | null): NewFile =>
  text === null ? { path, gone: true } : { path, text };

/** The files of a commit with their texts. */
async function readFilesAt(repository: ConfigRepository, commit: string | null) {
  if (commit === null) return { files: new Map<string, string>(), read: () => '' };
  const entries = await listTreeEntries(repository.git, commit);
  const blobs: Blobs = new Map();
  const tree = await gitTree(repository.git, entries, blobs);
  return { files: new Map(entries.map(({ path, blob }) => [path, blob])), read: (path: string) => tree.read(path) };
}
