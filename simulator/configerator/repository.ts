import { createHash } from 'node:crypto';
import type { Changes } from '../../configerator/pushType/ports';
import { asRefusal } from '../../configerator/pushType/refusal';
import type { Landing } from '../../configerator/domain/landing';
import type { Content } from '../../configerator/domain/subscriber';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { ExtensionError } from '../../sdk/server';
import type { Branch, BranchCommit, BranchChange, BranchValues } from './branches';
import { hasLeader, type Configerator } from './configerator';
import { publish } from './tree';

/** On a large repository git takes 5 s to commit, and the tailer 5 s to find the commit (Configerator §6.3). */
const COMMIT_MS = 5_000;
const TAILER_MS = 5_000;
/** A store without a leader is asked again after this time. */
const LEADERLESS_MS = 1_000;

export function openBranch({ state }: Pick<Configerator, 'state'>, repository: string): Branch {
  let branch = state.branches.get(repository);
  if (branch === undefined) state.branches.set(repository, (branch = { commits: [], changes: [] }));
  return branch;
}

/** The git blob id of a value. */
const hashBlob = (value: string | null): string =>
  value === null
    ? ''
    : createHash('sha1')
        .update(`blob ${Buffer.byteLength(value)}\0${value}`)
        .digest('hex');

const hashParts = (...parts: readonly unknown[]): string =>
  createHash('sha1').update(JSON.stringify(parts)).digest('hex');

/** The value of a path on a branch at a commit, by default the newest. */
const valueAt = ({ commits }: Branch, path: string, sequence = commits.length): string | null =>
  commits
    .slice(0, sequence)
    .flatMap(({ values }) => values.filter((one) => one.path === path))
    .at(-1)?.value ?? null;

/** A change that waits for its release; it lands when a deploy lands it. */
export function proposeChange(it: Configerator, repository: string, values: BranchValues): BranchChange {
  const branch = openBranch(it, repository);
  const number = branch.changes.length + 1;
  const base = Object.fromEntries(Object.keys(values).map((path) => [path, hashBlob(valueAt(branch, path))]));
  const change = { number, version: `${number}@${hashParts(repository, number, values)}`, values, base };
  branch.changes.push(change);
  return change;
}

/** A commit pushed by hand. The first commit of a repository is in the store at once, as if it had always been there. */
export function commitValues(
  it: Configerator,
  repository: string,
  values: BranchValues,
  change: number | null = null,
): BranchCommit {
  const branch = openBranch(it, repository);
  const sequence = branch.commits.length + 1;
  const commit: BranchCommit = {
    ...{ change, sequence, commit: hashParts(repository, sequence, values, change) },
    values: Object.entries(values).map(([path, value]) => ({ path, value, version: hashBlob(value) })),
  };
  branch.commits.push(commit);
  if (sequence === 1) onTail(it, repository);
  else it.world.after(TAILER_MS, { kind: 'config-tail', repository });
  return commit;
}

/** A user lands a change by hand. @throws ExtensionError, ConveyorError */
export function landNow(it: Configerator, repository: string, number: number): BranchCommit {
  const branch = openBranch(it, repository);
  const change = branch.changes[number - 1];
  if (change === undefined)
    throw new ExtensionError('unknown-change', `change: there is no change ${number} in ${repository}`, {
      status: 404,
    });
  const conflict = findLandingConflict(it, repository, number);
  if (conflict) throw new ExtensionError(conflict.code, `change: ${conflict.message}`, { status: 409 });
  return findLandedCommit(branch, number) ?? commitValues(it, repository, change.values, number);
}

/** The tailer brings the commits that the store lacks, in order. */
export function onTail(it: Configerator, repository: string): void {
  const { commits } = openBranch(it, repository);
  const isOf = (one: Configerator['state']['log'][number]) => one.kind === 'commit' && one.repository === repository;
  const stored = it.state.log.findLast(isOf);
  const head = stored?.kind === 'commit' ? stored.commit.sequence : 0;
  if (head >= commits.length) return;
  if (!hasLeader(it)) return it.world.after(LEADERLESS_MS, { kind: 'config-tail', repository });
  for (const { commit, sequence, values } of commits.slice(head)) {
    void it.leader.apply(repository, { commit, sequence, values });
    publish(it, { kind: 'commit', repository, commit: { commit, sequence, values } });
  }
}

/** Lands a change; resolves once it has landed. Repeated calls land it once, even if the first caller is gone. */
export function land(it: Configerator, repository: string, change: number): Promise<Landing> {
  const key = `${repository} ${change}`;
  const waiting = it.landers.get(key) ?? [];
  const landed = findLandedCommit(openBranch(it, repository), change);
  if (landed) return Promise.resolve({ change, commit: landed.commit });
  if (waiting.length === 0) it.world.after(COMMIT_MS, { kind: 'config-commit', repository, change });
  return new Promise((resolve) => {
    const settle = (commit: string | null): void =>
      resolve(
        commit === null
          ? { change, refused: toLandingRefusal(findLandingConflict(it, repository, change)) }
          : { change, commit },
      );
    it.landers.set(key, [...waiting, settle]);
  });
}

/** A change becomes a commit, unless one of its paths has changed since the change was made. */
export function onCommit(it: Configerator, repository: string, number: number): void {
  const branch = openBranch(it, repository);
  const change = branch.changes[number - 1];
  const key = `${repository} ${number}`;
  const waiting = it.landers.get(key) ?? [];
  it.landers.delete(key);
  if (change === undefined) return;
  const refused = findLandingConflict(it, repository, number);
  const landed =
    findLandedCommit(branch, number) ?? (refused ? undefined : commitValues(it, repository, change.values, number));
  for (const settle of waiting) settle(landed?.commit ?? null);
}

const findLandedCommit = ({ commits }: Branch, change: number): BranchCommit | undefined =>
  commits.find((one) => one.change === change);

function findLandingConflict(it: Configerator, repository: string, number: number): ConveyorError | undefined {
  const branch = openBranch(it, repository);
  const { base = {}, values = {} } = branch.changes[number - 1] ?? {};
  const file = Object.keys(base).find((path) => {
    const present = valueAt(branch, path);
    return hashBlob(present) !== base[path] && present !== values[path];
  });
  if (file === undefined) return undefined;
  return conveyorError('config-conflict', { change: number, file, by: describeWinner(branch, file) });
}

function describeWinner({ commits }: Branch, path: string): string {
  const last = commits.findLast(({ values }) => values.some((one) => one.path === path));
  return last?.change ? `change ${last.change}` : `the commit ${last?.commit.slice(0, 12)}`;
}

const toLandingRefusal = (error: ConveyorError | undefined) => ({
  code: error?.code ?? 'config-conflict',
  message: error?.message ?? 'it does not fit any more',
  hint: error?.hint ?? '',
});

/** The changes behind versions, for the push type `config`. */
export const createSimulatedChanges = (world: () => Configerator): Changes => ({
  contentOf: async (repository, version) => {
    const branch = openBranch(world(), repository);
    const change = branch.changes.find((one) => one.version === version);
    if (change === undefined)
      throw new ExtensionError('unknown-version', `there is no version ${version}`, { status: 409 });
    const content: Content = Object.fromEntries(
      Object.entries(change.values).map(([path, value]) => [path, { value, version: hashBlob(value) }]),
    );
    return { change: change.number, content, landed: findLandedCommit(branch, change.number)?.commit ?? null };
  },
  committedVersion: async (repository, paths, head, since) => {
    const branch = openBranch(world(), repository);
    const [to, from] = [branchSequence(branch, head), since === null ? 0 : branchSequence(branch, since)];
    const newest = branch.commits
      .slice(from, to)
      .findLast(({ values }) => values.some(({ path }) => paths.some((own) => isBelow(own, path))));
    if (newest === undefined) return since === null ? '@none' : null;
    return branch.changes[(newest.change ?? 0) - 1]?.version ?? `@${newest.commit}`;
  },
  restore: (repository, paths, to, own) => asRefusal(async () => restore(world(), repository, { paths, to, own })),
  remove: async (repository, paths, since) => deleteValues(world(), repository, paths, since),
  whyNotLand: async (repository, version) => {
    const change = openBranch(world(), repository).changes.find((one) => one.version === version);
    return change === undefined ? undefined : findLandingConflict(world(), repository, change.number)?.message;
  },
  contains: async (repository, newer, older) => {
    const branch = openBranch(world(), repository);
    return older === '' || branchSequence(branch, newer) >= branchSequence(branch, older);
  },
});

interface PathRestore {
  readonly paths: readonly string[];
  readonly to: string | null;
  readonly own: number | null;
}

function restore(it: Configerator, repository: string, { paths, to, own }: PathRestore): number | null {
  const branch = openBranch(it, repository);
  const since = to === null ? 0 : branchSequence(branch, to);
  const taken = branch.commits.slice(since).filter(({ change }) => own === null || change === own);
  const touched = new Set(taken.flatMap(({ values }) => values.map(({ path }) => path)));
  const back = [...touched]
    .filter((path) => paths.some((one) => isBelow(one, path)))
    .map((path) => [path, valueAt(branch, path, since)] as const)
    .filter(([path, value]) => value !== valueAt(branch, path));
  if (back.length === 0) return null;
  for (const [path] of back) {
    const last = branch.commits.findLast(({ values }) => values.some((one) => one.path === path));
    if (own !== null && last?.change !== own)
      throw conveyorError('config-conflict', { change: own, file: path, by: describeWinner(branch, path) });
  }
  return proposeChange(it, repository, Object.fromEntries(back)).number;
}

function deleteValues(
  it: Configerator,
  repository: string,
  paths: readonly string[],
  since: string | null,
): number | null {
  const branch = openBranch(it, repository);
  const isOwn = (path: string): boolean => paths.some((own) => isBelow(own, path));
  const later = branch.commits.slice(since === null ? 0 : branchSequence(branch, since));
  const newer = since !== null && later.find(({ values }) => values.some(({ path }) => isOwn(path)));
  if (newer) {
    const text = `the paths are not removed: the commit ${newer.commit.slice(0, 12)} has changed these paths since`;
    throw new ExtensionError('not-removed', text, { status: 409 });
  }
  const all = new Set(branch.commits.flatMap(({ values }) => values.map(({ path }) => path)));
  const there = [...all].filter((path) => isOwn(path) && valueAt(branch, path) !== null);
  if (there.length === 0) return null;
  return proposeChange(it, repository, Object.fromEntries(there.map((path) => [path, null]))).number;
}

const branchSequence = ({ commits }: Branch, commit: string): number =>
  commits.find((one) => one.commit === commit)?.sequence ?? 0;

const isBelow = (own: string, path: string): boolean =>
  own === '' || own.endsWith('/') ? path.startsWith(own) : path === own;
