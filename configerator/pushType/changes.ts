import { isOwned } from '../domain/ownership';
import type { Content } from '../domain/subscriber';
import { conveyorError } from '../../domain/errors';
import { onOneLine } from '../../domain/plainText';
import { ExtensionError } from '../../sdk/server';
import { VALUES } from '../compiler/tree';
import { readBlobs, readDeltas, lastToChange, readCommitLog, lookUp, type Delta } from '../repository/commits';
import { listTreeEntries } from '../repository/gitTree';
import { deltaBetween } from '../repository/history';
import { createDraftFromEdits, propose } from '../repository/propose';
import type { ConfigRepository } from '../repository/repository';
import { TAKES_BACK } from '../repository/rights';
import { findMaker, pathOfValue } from '../repository/revalue';
import type { Requester } from './memory';
import type { Changes } from './ports';
import { asRefusal } from './refusal';

/** Changes of real repositories. `open` returns a repository by its name. */
export function gitChanges(open: (name: string) => Promise<ConfigRepository>, nowMs: () => number): Changes {
  return {
    contentOf: (name, version) => asRefusal(async () => changeContent(await open(name), version)),
    committedVersion: (name, paths, head, since) =>
      asRefusal(async () => {
        const repository = await open(name);
        await ensureCommit(repository, head);
        return findCommittedVersion(repository, paths, head, since);
      }),
    restore: (name, paths, to, own, by) =>
      asRefusal(async () => restore(await open(name), { paths, to, own, by, nowMs })),
    remove: (name, paths, since, by) =>
      asRefusal(async () => proposeRemoval(await open(name), { paths, since, by, nowMs: nowMs() })),
    whyNotLand: (name, version) => asRefusal(async () => findConflict(await open(name), version)),
    contains: (name, newer, older) =>
      asRefusal(async () => {
        const repository = await open(name);
        await ensureCommit(repository, newer);
        return older === '' || newer === older || repository.isAncestor(older, newer);
      }),
  };
}

/** Makes sure that a commit in the store is also on this disk. */
async function ensureCommit(repository: ConfigRepository, commit: string): Promise<void> {
  const [known] = await lookUp(repository.git, [commit]);
  if (known?.type !== 'commit') await repository.head();
}

const VERSION = /^([1-9]\d{0,14})@([0-9a-f]{40,64})$/;

async function changeContent(repository: ConfigRepository, version: string) {
  const [, number = '', commit = ''] = VERSION.exec(version) ?? [];
  if (number === '') throw unknownChange(version, 'expected N@COMMIT, as conveyor config propose prints it');
  const change = Number(number);
  const [found] = await repository.changesOf([change]);
  if (found?.commit !== commit) throw unknownChange(version, `change ${change} is ${found?.commit}`);
  const deltas = (await readDeltas(repository.git, [commit])).get(commit) ?? [];
  const head = await repository.head();
  const landed = head === null ? null : ((await repository.landedBy(head)).get(change) ?? null);
  const values = deltas.filter(({ path }) => path.startsWith(`${VALUES}/`));
  const content = await readContentAfter(repository, values);
  return { change, content: renameToPaths(content), landed };
}

/** Describes a file that matches neither the change's base nor its result. */
async function findConflict(repository: ConfigRepository, version: string): Promise<string | undefined> {
  const [, number = '', commit = ''] = VERSION.exec(version) ?? [];
  const head = await repository.head();
  if (number === '' || head === null) return undefined;
  const deltas = (await readDeltas(repository.git, [commit])).get(commit) ?? [];
  const sources = deltas.filter(({ path }) => !path.startsWith(`${VALUES}/`));
  const now = await lookUp(
    repository.git,
    sources.map(({ path }) => `${head}:${path}`),
  );
  const lost = sources.find(({ before, after }, index) => ![before, after].includes(now[index]?.id ?? null));
  if (lost === undefined) return undefined;
  const by = await lastToChange(repository.git, lost.path, head);
  const { message, hint } = conveyorError('config-conflict', { change: Number(number), file: lost.path, by });
  return `${message}; ${hint}`;
}

/** Renames files to the paths of their values. */
const renameToPaths = (content: Content): Content =>
  Object.fromEntries(Object.entries(content).map(([file, it]) => [pathOfValue(file), it]));

/** Reads the new contents of the changed files. */
async function readContentAfter({ git }: ConfigRepository, deltas: readonly Delta[]): Promise<Content> {
  const blobs = deltas.flatMap(({ after }) => after ?? []);
  const texts = await readBlobs(git, blobs);
  const byBlob = new Map(blobs.map((blob, index) => [blob, texts[index]?.toString('utf8') ?? '']));
  return Object.fromEntries(
    deltas.map(({ path, after }) => [
      path,
      { value: after === null ? null : (byBlob.get(after) ?? ''), version: after ?? '' },
    ]),
  );
}

async function findCommittedVersion(
  repository: ConfigRepository,
  paths: readonly string[],
  head: string,
  since: string | null,
): Promise<string | null> {
  const range = since === null ? ['-1', head] : ['-1', `${since}..${head}`];
  const [newest] = await readCommitLog(repository.git, range, paths.flatMap(listValueFiles));
  if (newest === undefined) return since === null ? '@none' : null;
  if (newest.change === null) return `@${newest.commit}`;
  const [proposed] = await repository.changesOf([newest.change]).catch(() => []);
  return proposed === undefined ? `@${newest.commit}` : `${newest.change}@${proposed.commit}`;
}

/** The value files of a path, or all below it if it ends with a slash. */
const listValueFiles = (path: string): string[] =>
  path === '' || path.endsWith('/') ? [`${VALUES}/${path}`] : [`${VALUES}/${path}.json`, `${VALUES}/${path}`];

interface RestoreRequest {
  readonly paths: readonly string[];
  readonly to: string | null;
  /** The change to undo; null for all changes. */
  readonly own: number | null;
  readonly by: Requester | undefined;
  readonly nowMs: () => number;
}

async function restore(
  repository: ConfigRepository,
  { paths, to, own, by, nowMs }: RestoreRequest,
): Promise<number | null> {
  const head = await repository.head();
  if (head === null) return null;
  const range = to === null ? [head] : [`${to}..${head}`];
  const commits = (await readCommitLog(repository.git, range, paths.flatMap(listValueFiles))).filter(
    ({ change }) => own === null || change === own,
  );
  const changed = await readDeltas(
    repository.git,
    commits.map(({ commit }) => commit),
  );
  const sources = new Set(
    [...changed.values()].flat().flatMap(({ path }) => (path.startsWith(`${VALUES}/`) ? [] : path)),
  );
  const back = (await deltaBetween(repository.git, head, to)).filter(({ path }) => sources.has(path));
  if (back.length === 0) return null;
  if (own !== null)
    await refuseWinners(repository, { own, head, sources, commits: commits.map(({ commit }) => commit) });
  const after = await readContentAfter(repository, back);
  const draft = await createDraftFromEdits(
    repository,
    head,
    new Map(Object.entries(after).map(([path, it]) => [path, it.value])),
  );
  await refuseForeign(repository, { own, head, paths, values: [...draft.values.keys()] });
  const what = own === null ? `the state of ${to?.slice(0, 12) ?? 'the beginning'}` : `the state before change ${own}`;
  const { change } = await propose(repository, draft, {
    author: TAKES_BACK,
    message: `Restore ${what}${requesterTrailers(by)}`,
    nowMs: nowMs(),
  });
  return change;
}

interface RemoveRequest {
  readonly paths: readonly string[];
  readonly since: string | null;
  readonly by: Requester | undefined;
  readonly nowMs: number;
}

async function proposeRemoval(repository: ConfigRepository, request: RemoveRequest): Promise<number | null> {
  const { git } = repository;
  const { paths, since, by, nowMs } = request;
  const head = await repository.head();
  if (head === null) return null;
  const [newer] =
    since === null ? [] : await readCommitLog(git, ['-1', `${since}..${head}`], paths.flatMap(listValueFiles));
  if (newer !== undefined) throw notRemoved(`the commit ${newer.commit.slice(0, 12)} has changed these paths since`);
  const files = new Map((await listTreeEntries(git, head)).map(({ path, blob }) => [path, blob]));
  const values = [...files.keys()].filter((file) => file.startsWith(`${VALUES}/`)).map(pathOfValue);
  const sources = new Set(
    values.filter((path) => isOwned(paths, path)).flatMap((path) => findMaker(path, files) ?? []),
  );
  if (sources.size === 0) return null;
  const draft = await createDraftFromEdits(repository, head, new Map([...sources].map((file) => [file, null])));
  const foreign = [...draft.values.keys()].sort().find((path) => !isOwned(paths, path));
  if (foreign !== undefined) throw notRemoved(`${findMaker(foreign, files) ?? 'a source'} also makes ${foreign}`);
  const message = `Remove ${paths.join(', ')}${requesterTrailers(by)}`;
  return (await propose(repository, draft, { author: TAKES_BACK, message, nowMs })).change;
}

const notRemoved = (why: string): ExtensionError =>
  new ExtensionError('not-removed', `the paths are not removed: ${why}`, { status: 409 });

/** The author stays Conveyor, so that landings and finders recognise such a change; the trailer names the person to ask. */
function requesterTrailers(by: Requester | undefined): string {
  if (by === undefined) return '';
  const actor = by.actor === undefined ? '' : `\nRequested-by: ${onOneLine(by.actor)}`;
  return `\n\nDeploy: ${onOneLine(by.deploy)}${actor}`;
}

/** Refuses to restore a file that others have changed after the change to undo: a person must decide. */
async function refuseWinners(
  { git }: ConfigRepository,
  {
    own,
    head,
    sources,
    commits,
  }: {
    readonly own: number;
    readonly head: string;
    readonly sources: ReadonlySet<string>;
    readonly commits: readonly string[];
  },
): Promise<void> {
  const [landed] = commits;
  for (const file of sources) {
    const [last] = await readCommitLog(git, ['-1', head], [file]);
    if (last === undefined || last.commit === landed) continue;
    const by = last.change === null ? `the commit ${last.commit.slice(0, 12)}` : `change ${last.change}`;
    throw conveyorError('config-conflict', { change: own, file, by });
  }
}

/** Refuses to restore a file that has since become a source of other pipelines' values: no release judged these, so a person must decide. */
async function refuseForeign(
  { git }: ConfigRepository,
  { own, head, paths, values }: Pick<RestoreRequest, 'own' | 'paths'> & { head: string; values: readonly string[] },
): Promise<void> {
  const value = [...values].sort().find((path) => !isOwned(paths, path));
  if (value === undefined) return;
  const files = new Map((await listTreeEntries(git, head)).map(({ path, blob }) => [path, blob]));
  const file = findMaker(value, files) ?? value;
  throw conveyorError('config-conflict', { change: own, file, value, by: await lastToChange(git, file, head) });
}

const unknownChange = (version: string, why: string): ExtensionError =>
  new ExtensionError('unknown-version', `there is no version ${version}: ${why}`, { status: 409 });
