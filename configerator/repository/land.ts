import { ConveyorError, conveyorError } from '../../domain/errors';
import type { Landing, Refusal } from '../domain/landing';
import type { RunMemory } from '../compiler/run';
import { BlobTexts } from './blobTexts';
import { readDeltas, readCommitLog, type CommitInfo } from './commits';
import { listTreeEntries } from './gitTree';
import { makeCommits } from './newCommits';
import { Pass, refusalOfError } from './pass';
import type { ChangeRef, ConfigRepository } from './repository';

/** The number of retries after pushes of others; more conflicts mean that another process lands, too. */
const LANDING_TRIES = 20;

interface Refs {
  readonly refs: readonly ChangeRef[];
  readonly unknown: ReadonlyMap<number, Refusal>;
}

/** Lands changes in order, each once, despite other pushes and repeated requests. */
export class Lander {
  private readonly texts: BlobTexts;
  private known: { readonly head: string | null; readonly files: Map<string, string> } | null = null;

  constructor(
    private readonly repository: ConfigRepository,
    private readonly memory?: RunMemory,
  ) {
    this.texts = new BlobTexts(repository.git);
  }

  /**
   * @param commits the required commit of each change, because moving the ref of a change could otherwise land unseen content
   * @throws ConveyorError for problems that concern no single change, such as a silent repository
   */
  async land(
    changes: readonly number[],
    nowMs: number,
    commits: Readonly<Record<number, string>> = {},
  ): Promise<readonly Landing[]> {
    for (let attempt = 0; attempt < LANDING_TRIES; attempt++) {
      const landed = await this.attempt(changes, nowMs, commits);
      if (landed !== null) return landed;
      this.known = null;
    }
    throw conveyorError('config-repository-unreachable', {
      repository: this.repository.ref.name,
      detail: `the branch ${this.repository.ref.branch} moved in each of ${LANDING_TRIES} tries`,
    });
  }

  private async attempt(
    changes: readonly number[],
    nowMs: number,
    wanted: Readonly<Record<number, string>>,
  ): Promise<readonly Landing[] | null> {
    const { repository } = this;
    const head = await repository.head();
    const done = head === null ? new Map<number, string>() : await repository.landedBy(head);
    const open = changes.filter((change) => !done.has(change));
    const { refs, unknown } = await this.refsOf(open, wanted);
    const commits = refs.map(({ commit }) => commit);
    const [deltas, infos] = [await readDeltas(repository.git, commits), await this.infosOf(commits)];
    const { texts, memory } = this;
    const { name, programs, rightsOf } = repository.ref;
    const pass = new Pass(
      { git: repository.git, texts, memory, repository: name, programs, rightsOf },
      await this.filesAt(head),
      head,
    );
    for (const ref of refs) await pass.take(ref, deltas.get(ref.commit) ?? [], infos.get(ref.commit));
    const made = await this.commit(pass, head, nowMs);
    if (made === null) return null;
    return changes.map((change): Landing => {
      const commit = done.get(change) ?? made.get(change);
      if (commit !== undefined) return { change, commit };
      return { change, refused: pass.refused.get(change) ?? unknown.get(change) ?? refusalOfError(NEVER) };
    });
  }

  /** The changes with valid commits; the others are refused and do not block the rest. */
  private async refsOf(changes: readonly number[], wanted: Readonly<Record<number, string>>): Promise<Refs> {
    try {
      return this.wantedOf(await this.repository.changesOf(changes), wanted);
    } catch (error) {
      const [change] = changes;
      if (change === undefined || !(error instanceof ConveyorError) || error.retryable) throw error;
      if (changes.length === 1) return { refs: [], unknown: new Map([[change, refusalOfError(error)]]) };
    }
    const each: Refs[] = [];
    for (const change of changes) each.push(await this.refsOf([change], wanted));
    return {
      refs: each.flatMap(({ refs }) => refs),
      unknown: new Map(each.flatMap(({ unknown }) => [...unknown])),
    };
  }

  private wantedOf(refs: readonly ChangeRef[], wanted: Readonly<Record<number, string>>): Refs {
    const isWanted = ({ change, commit }: ChangeRef): boolean => (wanted[change] ?? commit) === commit;
    const repository = this.repository.ref.name;
    const moved = refs
      .filter((ref) => !isWanted(ref))
      .map(({ change }): [number, Refusal] => {
        const version = `${change}@${wanted[change] ?? ''}`;
        return [change, refusalOfError(conveyorError('config-change-unknown', { repository, change: version }))];
      });
    return { refs: refs.filter(isWanted), unknown: new Map(moved) };
  }

  private async infosOf(commits: readonly string[]): Promise<ReadonlyMap<string, CommitInfo>> {
    if (commits.length === 0) return new Map();
    const infos = await readCommitLog(this.repository.git, ['--no-walk=unsorted', ...commits]);
    return new Map(infos.map((info) => [info.commit, info]));
  }

  private async filesAt(head: string | null): Promise<Map<string, string>> {
    if (this.known?.head !== head || this.known === null) {
      const entries = head === null ? [] : await listTreeEntries(this.repository.git, head);
      this.known = { head, files: new Map(entries.map(({ path, blob }) => [path, blob])) };
    }
    return new Map(this.known.files);
  }

  /** Null if another push was first, and everything has to be checked again. */
  private async commit(pass: Pass, head: string | null, nowMs: number): Promise<ReadonlyMap<number, string> | null> {
    const { repository } = this;
    if (pass.commits.length === 0) return new Map();
    const ids = await makeCommits(repository.git, `refs/landing/${repository.ref.branch}`, pass.commits, nowMs);
    const isFirst = await repository.push(ids.at(-1) ?? '', `refs/heads/${repository.ref.branch}`, head ?? '');
    if (!isFirst) return null;
    this.known = { head: ids.at(-1) ?? null, files: pass.files };
    return new Map(pass.landed.map((change, index) => [change, ids[index] ?? '']));
  }
}

const NEVER = conveyorError('internal', { detail: 'a change was forgotten' });
