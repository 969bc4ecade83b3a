import { hasBlobId } from '../../sdk/blobId';
import type { Git } from './git';

/** A file of a change: its blobs in the base and afterwards; null if it does not exist. */
export interface Delta {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** It becomes a symbolic link or another repository. */
  readonly isLink: boolean;
}

/** The fields of a commit that people and programs read. */
export interface CommitInfo {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: string;
  /** ISO-8601, UTC. */
  readonly at: string;
  readonly subject: string;
  readonly body: string;
  /** The change that it landed, by its trailer. */
  readonly change: number | null;
}

/** A message may hold anything except NUL. */
const FORMAT = ['%H', '%P', '%an', '%ct', '%s', '%b'].join('%x00');
const LOG_FIELDS = 6;

/** The end of the message of a commit that landed a change. Git also finds trailers that a proposer has written. */
export const formatLandingTrailer = (change: number, proposed: string): string =>
  `Change: ${change}\nProposed-as: ${proposed}\n`;
const TRAILER = /(?:^|\n)Change: ([1-9]\d{0,14})\nProposed-as: [0-9a-f]{40,64}\n*$/;

/** Commits of a range, newest first; limited to these paths, if any are given. */
export async function readCommitLog(
  git: Git,
  range: readonly string[],
  paths: readonly string[] = [],
): Promise<readonly CommitInfo[]> {
  const text = await git.text(['log', '-z', `--format=${FORMAT}`, ...range, '--', ...paths]);
  const fields = text.split('\0').slice(0, -1);
  return Array.from({ length: fields.length / LOG_FIELDS }, (_, row) => {
    const [commit = '', parents = '', author = '', at = '', subject = '', body = ''] = fields.slice(
      row * LOG_FIELDS,
      (row + 1) * LOG_FIELDS,
    );
    const change = TRAILER.exec(body)?.[1];
    return {
      ...{ commit, author, subject, body: body.trim() },
      parents: parents.split(' ').filter((parent) => parent !== ''),
      at: new Date(Number(at) * 1_000).toISOString(),
      change: change === undefined ? null : Number(change),
    };
  });
}

/** The commit as which the change of a landing commit was proposed; null for any other commit. */
export const findProposedCommit = ({ body, change }: Pick<CommitInfo, 'body' | 'change'>): string | null =>
  change === null ? null : (/\nProposed-as: ([0-9a-f]{40,64})$/.exec(`\n${body}`)?.[1] ?? null);

/** The change that was proposed as this commit, if it has landed; otherwise null. */
export async function changeLandedFrom(git: Git, proposed: string, head: string): Promise<number | null> {
  const found = await readCommitLog(git, ['-1', `--grep=^Proposed-as: ${proposed}$`, head]);
  return found.find(({ body }) => body.endsWith(`Proposed-as: ${proposed}`))?.change ?? null;
}

/** The last change of a file on the branch: a change, or a pushed commit. */
export async function lastToChange(git: Git, path: string, head: string): Promise<string> {
  const [last] = await readCommitLog(git, ['-1', head], [path]);
  if (last === undefined) return 'a commit of the branch';
  return last.change === null ? `the commit ${last.commit.slice(0, 12)}` : `change ${last.change}`;
}

/** The changes of each commit against its first parent, by commit. One process reads all of them. */
export async function readDeltas(git: Git, commits: readonly string[]): Promise<ReadonlyMap<string, readonly Delta[]>> {
  const found = new Map<string, readonly Delta[]>(commits.map((commit) => [commit, []]));
  if (commits.length === 0) return found;
  const args = ['diff-tree', '--stdin', '--root', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', FIRST_PARENT];
  const fields = (await git.text(args, commits.map((commit) => `${commit}\n`).join(''))).split('\0');
  let current: Delta[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = (fields[at] ?? '').trim();
    if (field === '') continue;
    if (!field.startsWith(':')) {
      current = [];
      found.set(field, current);
      continue;
    }
    current.push(parseDelta(field, fields[++at] ?? ''));
  }
  return found;
}

/** Parses the output of `diff-tree -z --raw`. */
export function deltasOfRaw(text: string): readonly Delta[] {
  const fields = text.split('\0').filter((field) => field !== '');
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, index) =>
    parseDelta(fields[2 * index] ?? '', fields[2 * index + 1] ?? ''),
  );
}

/** Without it a merge shows no changes. */
const FIRST_PARENT = '--diff-merges=first-parent';
const NOTHING = /^0+$/;

/** `:100644 100644 <before> <after> M` */
function parseDelta(row: string, path: string): Delta {
  const [, mode = '', before = '', after = ''] = row.split(' ');
  const isGone = NOTHING.test(after);
  return {
    path,
    before: NOTHING.test(before) ? null : before,
    after: isGone ? null : after,
    isLink: !isGone && !mode.startsWith('100'),
  };
}

/**
 * The id and type of the objects at these places, each `<commit>:<path>` or an object id; null if missing. One process
 * reads all of them.
 */
export async function lookUp(
  git: Git,
  places: readonly string[],
): Promise<readonly ({ readonly id: string; readonly type: string; readonly bytes: number } | null)[]> {
  if (places.length === 0) return [];
  const text = await git.text(['cat-file', '--batch-check'], places.map((place) => `${place}\n`).join(''));
  const rows = text.split('\n');
  return places.map((_place, index) => {
    const [, id = '', type = '', size = ''] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(rows[index] ?? '') ?? [];
    return id === '' ? null : { id, type, bytes: Number(size) };
  });
}

/** The contents of blobs, in order. @throws ConveyorError `config-repository-unusable` if one is missing or corrupt */
export async function readBlobs(git: Git, ids: readonly string[]): Promise<readonly Buffer[]> {
  const blobs: Buffer[] = [];
  for (let at = 0; at < ids.length; at += TOGETHER) blobs.push(...(await someBlobs(git, ids.slice(at, at + TOGETHER))));
  return blobs;
}

/** The number of files read together: at the maximum size they still fit into one answer of git. */
const TOGETHER = 200;

async function someBlobs(git: Git, ids: readonly string[]): Promise<readonly Buffer[]> {
  const out = await git.bytes(['cat-file', '--batch'], ids.map((id) => `${id}\n`).join(''));
  const blobs: Buffer[] = [];
  let at = 0;
  for (const id of ids) {
    const end = out.indexOf(10, at);
    const header = out.subarray(at, end).toString();
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1];
    const blob = out.subarray(end + 1, end + 1 + Number(size));
    // git itself notices a damaged object file, but not one with the content of another object.
    if (size === undefined || !hasBlobId(blob, id))
      throw git.failure(['cat-file'], `fatal: the object ${id} is missing or corrupt`);
    blobs.push(blob);
    at = end + 2 + Number(size);
  }
  return blobs;
}
