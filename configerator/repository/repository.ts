import { rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { whyNotConfigPath } from '../domain/path';
import { conveyorError } from '../../domain/errors';
import type { Env } from '../../settings/env';
import { closeFolder } from '../../settings/ownFolder';
import { valueFile, VALUES } from '../compiler/tree';
import type { ProgramWalls } from '../compiler/walls';
import { readBlobs, changeLandedFrom, findProposedCommit, readCommitLog, lookUp, type CommitInfo } from './commits';
import { Git } from './git';
import { Remote } from './remote';
import type { RightsOf } from './rights';
import { sha256 } from '../../sdk/digest';

/** The place of a configuration repository. */
export interface RepositoryRef {
  readonly name: string;
  /** A path or a URL for git. */
  readonly git: string;
  readonly branch: string;
  /** The isolation of programs in its changes; without it no program runs. */
  readonly programs?: ProgramWalls;
  /** The rights of authors by path; without it a landing requires no right. */
  readonly rightsOf?: RightsOf;
}

export interface ChangeRef {
  readonly change: number;
  readonly commit: string;
}

/** A change in a list. */
export interface ChangeInfo extends ChangeRef {
  readonly base: string;
  readonly author: string;
  readonly at: string;
  readonly message: string;
  /** The commit that landed it; null before that. */
  readonly landed: string | null;
}

/** A note stored together with a new change. */
export interface ChangeNote {
  readonly ref: string;
  readonly text: (change: number) => string;
}

/** The folder with copies of repositories on this machine; each may be deleted. */
export const copiesFolder = (env: Env): string =>
  join(env.CONVEYOR_CACHE ?? join(homedir(), '.cache', 'conveyor'), 'config');

/** The number of simultaneous proposers that still get a number each. */
const TRIES = 200;

/** The folder of a repository's copy. */
export function locateCopy({ name, git, branch }: RepositoryRef, folder: string): string {
  const id = sha256(`${git}\0${branch}`).slice(0, 12);
  return join(folder, `${name}-${id}.git`);
}

interface LandedIndex {
  readonly head: string | null;
  readonly commits: ReadonlyMap<number, string>;
}

/** A remote repository with a bare copy on this disk, on which all work is done. */
export class ConfigRepository {
  /** The landing commits of changes, up to the last known head. */
  private landed: LandedIndex = { head: null, commits: new Map() };
  private reading: Promise<unknown> = Promise.resolve();
  private readonly remote: Remote;

  private constructor(
    readonly ref: RepositoryRef,
    readonly git: Git,
  ) {
    this.remote = new Remote(git, ref.git);
  }

  /**
   * @param folder the folder of copies @param timeoutMs the limit of each git command
   * @throws ConveyorError `config-repository-unusable`, `config-repository-unreachable`
   */
  static async open(ref: RepositoryRef, folder: string, timeoutMs?: number): Promise<ConfigRepository> {
    const directory = locateCopy(ref, folder);
    const git = new Git(directory, ref.name, timeoutMs);
    const ownership = closeFolder(directory);
    if (ownership === 'foreign')
      throw conveyorError('config-repository-unusable', {
        repository: ref.name,
        detail: `its copy ${directory} belongs to another user, or is a link: remove it, or set CONVEYOR_CACHE`,
      });
    // Other users may have planted something there; everything can be fetched again.
    if (ownership === 'shared') {
      rmSync(directory, { recursive: true, force: true });
      closeFolder(directory);
    }
    await git.init();
    return new ConfigRepository(ref, git);
  }

  /** The newest commit of the branch, fetched to this disk; null if the branch does not exist. */
  async head(): Promise<string | null> {
    const wanted = `refs/heads/${this.ref.branch}`;
    const found = (await this.remote.refs(wanted)).find(({ name }) => name === wanted);
    if (found === undefined) return null;
    const { commit } = found;
    const [known] = await lookUp(this.git, [commit]);
    if (known?.type !== 'commit') {
      await this.remote.fetch([`+refs/heads/${this.ref.branch}:refs/remotes/origin/${this.ref.branch}`]);
      const [fetched] = await lookUp(this.git, [commit]);
      if (fetched?.type !== 'commit') throw this.remote.broken(`refs/heads/${this.ref.branch}`, commit);
    }
    return commit;
  }

  /** The commits of these changes, on this disk. @throws ConveyorError `config-change-unknown` */
  async changesOf(numbers: readonly number[]): Promise<readonly ChangeRef[]> {
    const names = numbers.map((change) => `refs/changes/${change}`);
    const local = await lookUp(this.git, names);
    const missing = names.filter((_name, index) => local[index]?.type !== 'commit');
    if (missing.length > 0) {
      const remote = new Set((await this.remote.refs(...missing)).map(({ name }) => name));
      const unknown = missing.find((name) => !remote.has(name));
      if (unknown !== undefined)
        throw conveyorError('config-change-unknown', {
          repository: this.ref.name,
          change: numbers[names.indexOf(unknown)] ?? 0,
        });
      await this.remote.fetch(missing.map((name) => `+${name}:${name}`));
    }
    const found = await lookUp(this.git, names);
    return numbers.map((change, index) => {
      const commit = found[index];
      if (commit?.type !== 'commit') throw this.remote.broken(`refs/changes/${change}`, commit?.id ?? 'nothing');
      return { change, commit: commit.id };
    });
  }

  /** The newest changes, newest first: the one of a number, those after a number, or all. */
  async changes(
    limit: number = Infinity,
    { only, after = 0 }: { readonly only?: number; readonly after?: number } = {},
  ): Promise<readonly ChangeInfo[]> {
    const all = (await this.remote.refs(`refs/changes/${only ?? '*'}`)).flatMap(({ name, commit }) => {
      const change = parseChangeRef(name);
      return change === null || change <= after ? [] : [{ change, commit }];
    });
    const newest = all.sort((a, b) => b.change - a.change).slice(0, limit);
    if (newest.length === 0) return [];
    await this.changesOf(newest.map(({ change }) => change));
    const infos = await readCommitLog(this.git, ['--no-walk=unsorted', ...newest.map(({ commit }) => commit)]);
    const byCommit = new Map(infos.map((info) => [info.commit, info]));
    const head = await this.head();
    const landed = head === null ? new Map<number, string>() : await this.landedBy(head);
    return newest.flatMap(({ change, commit }) => {
      const info = byCommit.get(commit);
      return info === undefined ? [] : [toChangeInfo(change, info, landed.get(change) ?? null)];
    });
  }

  /** Landed commits, newest first. */
  async log(limit: number): Promise<readonly CommitInfo[]> {
    const head = await this.head();
    return head === null ? [] : readCommitLog(this.git, [`-${limit}`, head]);
  }

  /** A value at a commit. @throws ConveyorError `config-file-unusable` for an invalid path */
  async value(path: string, commit: string | null): Promise<string | null> {
    const why = whyNotConfigPath(path);
    if (why !== undefined) throw conveyorError('config-file-unusable', { file: path, why });
    if (commit === null) return null;
    const [found] = await lookUp(this.git, [`${commit}:${VALUES}/${valueFile(path)}`]);
    if (found?.type !== 'blob') return null;
    const [content] = await readBlobs(this.git, [found.id]);
    return content?.toString('utf8') ?? null;
  }

  /** The landing commits of changes, up to this one. Reads only commits newer than the last call. */
  async landedBy(head: string): Promise<ReadonlyMap<number, string>> {
    if (this.landed.head === head) return this.landed.commits;
    // One at a time, so that the second call reads only what the first did not.
    const read = this.reading.then(() => this.indexUpTo(head));
    this.reading = read.catch(() => undefined);
    return read;
  }

  private async indexUpTo(head: string): Promise<ReadonlyMap<number, string>> {
    const before = this.landed;
    if (before.head === head) return before.commits;
    const follows = before.head !== null && (await this.isAncestor(before.head, head));
    const commits = new Map(follows ? before.commits : []);
    for (const { commit, change } of await readCommitLog(this.git, [follows ? `${before.head}..${head}` : head]))
      if (change !== null) commits.set(change, commit);
    this.landed = { head, commits };
    return commits;
  }

  async isAncestor(commit: string, of: string): Promise<boolean> {
    return (await this.git.run(['merge-base', '--is-ancestor', commit, of])).code === 0;
  }

  /**
   * The revisions of the releases that contain a commit of the branch: those as which changes were proposed that landed as it or after it, the
   * newest first. Null if the branch does not have the commit.
   */
  async revisionsWith(name: string, limit: number): Promise<readonly string[] | null> {
    const head = await this.head();
    const { code, out } = await this.git.run(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
    // A proposed commit may be on another machine; the branch knows its full name.
    const named = code === 0 ? out.toString().trim() : /^[0-9a-f]{40,64}$/.test(name) ? name : null;
    if (head === null || named === null) return null;
    const commit = (await this.isAncestor(named, head)) ? named : await this.findLanding(named, head);
    if (commit === null) return null;
    const after = await readCommitLog(this.git, [`-${limit}`, '--ancestry-path', `${commit}..${head}`]);
    const [own] = await readCommitLog(this.git, ['-1', commit]);
    return [...after, ...(own ? [own] : [])].slice(0, limit).map((one) => findProposedCommit(one) ?? one.commit);
  }

  /** The commit that landed the change that was proposed as this one. */
  private async findLanding(proposed: string, head: string): Promise<string | null> {
    const change = await changeLandedFrom(this.git, proposed, head);
    return change === null ? null : ((await this.landedBy(head)).get(change) ?? null);
  }

  /** The named commit, if the branch has all of it: it is on the branch, or belongs to a change that has landed. @throws ConveyorError `usage` */
  async ancestor(name: string, head: string | null): Promise<string> {
    const isHex = /^[0-9a-f]{7,64}$/.test(name);
    const { code, out } = isHex
      ? await this.git.run(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
      : { code: 1, out: '' };
    const commit = code === 0 ? out.toString().trim() : name;
    if (code === 0 && head !== null && (await this.isAncestor(commit, head))) return commit;
    const change =
      head === null || !/^[0-9a-f]{40,64}$/.test(commit) ? null : await changeLandedFrom(this.git, commit, head);
    // The commit may be on another machine.
    if (change !== null && (await this.changesOf([change]))[0]?.commit === commit) return commit;
    throw conveyorError('usage', {
      text: `${name} is not a commit of the branch ${this.ref.branch}`,
      hint: 'conveyor config log lists them',
    });
  }

  /**
   * Gives a commit the next unique number. @param note a text about the number at a separate ref, set atomically with
   * it @returns null if the note already exists
   */
  number(commit: string): Promise<number>;
  number(commit: string, note: ChangeNote): Promise<number | null>;
  async number(commit: string, note?: ChangeNote): Promise<number | null> {
    let next = 0;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const refs = await this.remote.refs('refs/changes/*', ...(note === undefined ? [] : [note.ref]));
      if (refs.some(({ name }) => name === note?.ref)) return null;
      next = Math.max(next, ...refs.map(({ name }) => parseChangeRef(name) ?? 0)) + 1;
      const updates = [{ object: commit, ref: `refs/changes/${next}`, was: '' }];
      if (note !== undefined) updates.push({ object: await this.written(note.text(next)), ref: note.ref, was: '' });
      if (await this.remote.push(updates)) return next;
    }
    throw conveyorError('config-repository-unreachable', {
      repository: this.ref.name,
      detail: `no number was free in ${TRIES} tries: too many propose at once`,
    });
  }

  /** The text of a note at a ref; null if there is none. */
  async note(ref: string): Promise<string | null> {
    const [found] = await this.remote.refs(ref);
    if (found === undefined) return null;
    await this.remote.fetch([`+${ref}:${ref}`]);
    const [text] = await readBlobs(this.git, [found.commit]);
    return text?.toString('utf8') ?? null;
  }

  /** Sets a remote ref if it still has its former value; '' means that it does not exist. */
  push(commit: string, ref: string, was: string): Promise<boolean> {
    return this.remote.push([{ object: commit, ref, was }]);
  }

  private async written(text: string): Promise<string> {
    return (await this.git.text(['hash-object', '-w', '--stdin'], text)).trim();
  }
}

const parseChangeRef = (name: string): number | null => {
  const [, digits] = /^refs\/changes\/([1-9]\d{0,14})$/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
};

const toChangeInfo = (
  change: number,
  { commit, parents, author, at, subject, body }: CommitInfo,
  landed: string | null,
): ChangeInfo => ({
  ...{ change, commit, author, at, landed },
  base: parents[0] ?? '',
  message: body === '' ? subject : `${subject}\n\n${body}`,
});
