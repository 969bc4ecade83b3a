import { ConveyorError, conveyorError } from '../../domain/errors';
import type { Landing, Refusal } from '../../domain/config/landing';
import type { RunMemory } from '../compiler/run';
import { admitFile, kindOf, textOf, valueFile, VALUES } from '../compiler/tree';
import { blobsOf, deltasOf, landingTrailer, lastToChange, logOf, lookUp, type CommitInfo, type Delta } from './commits';
import { entriesOf, linkRefused, type Blobs } from './gitTree';
import { makeCommits, type NewCommit, type NewFile } from './importing';
import type { ChangeRef, ConfigRepository } from './repository';
import { blobId, revalue, type Edits, type Files, type Revalued } from './revalue';

/** Somebody else pushed to the branch meanwhile; a strip that loses so often is not alone. */
const LANDING_TRIES = 20;

interface Refs {
  readonly refs: readonly ChangeRef[];
  readonly unknown: ReadonlyMap<number, Refusal>;
}

/** Lands changes in order, each once, whoever else pushes, and however often it is asked. */
export class Lander {
  private readonly blobs: Blobs = new Map();
  private known: { readonly head: string | null; readonly files: Map<string, string> } | null = null;

  constructor(
    private readonly repository: ConfigRepository,
    private readonly memory?: RunMemory,
  ) {}

  /**
   * @param commits by change, where it has to be this one: who could move the ref of a change could land what nobody has seen
   * @throws ConveyorError for what concerns no single change, such as a repository that does not answer
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
    const [deltas, infos] = [await deltasOf(repository.git, commits), await this.infosOf(commits)];
    const pass = new Pass(this, await this.filesAt(head), head);
    for (const ref of refs) await pass.take(ref, deltas.get(ref.commit) ?? [], infos.get(ref.commit));
    const made = await this.commit(pass, head, nowMs);
    if (made === null) return null;
    return changes.map((change): Landing => {
      const commit = done.get(change) ?? made.get(change);
      if (commit !== undefined) return { change, commit };
      return { change, refused: pass.refused.get(change) ?? unknown.get(change) ?? refusalOfError(NEVER) };
    });
  }

  /** Those that are commits; the others are refused, and keep nobody else from landing. */
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
    const infos = await logOf(this.repository.git, ['--no-walk=unsorted', ...commits]);
    return new Map(infos.map((info) => [info.commit, info]));
  }

  private async filesAt(head: string | null): Promise<Map<string, string>> {
    if (this.known?.head !== head || this.known === null) {
      const entries = head === null ? [] : await entriesOf(this.repository.git, head);
      this.known = { head, files: new Map(entries.map(({ path, blob }) => [path, blob])) };
    }
    return new Map(this.known.files);
  }

  /** Null: somebody else was first, and all of it has to be looked at anew. */
  private async commit(pass: Pass, head: string | null, nowMs: number): Promise<ReadonlyMap<number, string> | null> {
    const { repository } = this;
    if (pass.commits.length === 0) return new Map();
    const ids = await makeCommits(repository.git, `refs/landing/${repository.ref.branch}`, pass.commits, nowMs);
    const isFirst = await repository.push(ids.at(-1) ?? '', `refs/heads/${repository.ref.branch}`, head ?? '');
    if (!isFirst) return null;
    this.known = { head: ids.at(-1) ?? null, files: pass.files };
    return new Map(pass.landed.map((change, index) => [change, ids[index] ?? '']));
  }

  /** Texts of blobs, from memory where they are known. */
  async texts(
    wanted: readonly { readonly path: string; readonly blob: string }[],
  ): Promise<ReadonlyMap<string, string>> {
    if (this.blobs.size > KEPT) this.blobs.clear();
    const unknown = wanted.filter(({ blob }) => !this.blobs.has(blob));
    const ids = unknown.map(({ blob }) => blob);
    const found = await lookUp(this.repository.git, ids);
    // Before it is read: one that is too large would be the end of git, time and again.
    unknown.forEach(({ path }, index) => admitFile(path, found[index]?.bytes ?? 0));
    const contents = await blobsOf(this.repository.git, ids);
    unknown.forEach(({ path, blob }, index) => this.blobs.set(blob, textOf(path, contents[index] ?? Buffer.alloc(0))));
    return new Map(wanted.map(({ path, blob }) => [path, this.blobs.get(blob) ?? '']));
  }

  lastToChange(path: string, head: string): Promise<string> {
    return lastToChange(this.repository.git, path, head);
  }

  revalued(files: Files, edits: Edits, read: (path: string) => string): Promise<Revalued> {
    return revalue(files, edits, read, this.memory);
  }
}

const KEPT = 50_000;
const NEVER = conveyorError('internal', { detail: 'a change was forgotten' });

const refusalOfError = ({ code, message, hint }: ConveyorError): Refusal => ({ code, message, hint });

/** A change that somebody made by hand may hold anything. @throws ConveyorError `config-file-unusable` */
function requireSource({ path, isLink }: Delta): void {
  admitFile(path, 0);
  if (isLink) throw linkRefused(path);
  if (kindOf(path) === 'other')
    throw conveyorError('config-file-unusable', { file: path, why: 'it is no source of configuration' });
}

/** One look at the branch: changes on top of it, and of each other. */
class Pass {
  readonly commits: NewCommit[] = [];
  readonly landed: number[] = [];
  readonly refused = new Map<number, Refusal>();
  private readonly winners = new Map<string, number>();

  constructor(
    private readonly lander: Lander,
    /** Blobs by path, with what was taken so far. */
    readonly files: Map<string, string>,
    private readonly head: string | null,
  ) {}

  async take({ change, commit }: ChangeRef, deltas: readonly Delta[], info: CommitInfo | undefined): Promise<void> {
    try {
      const sources = deltas.filter(({ path }) => !path.startsWith(`${VALUES}/`));
      for (const source of sources) requireSource(source);
      const conflict = sources.find((delta) => !this.fits(delta));
      if (conflict !== undefined) throw await this.conflict(change, conflict.path);
      await this.add(change, sources, info, commit);
    } catch (error) {
      if (!(error instanceof ConveyorError) || error.retryable || error.code === 'config-repository-unusable')
        throw error;
      this.refused.set(change, refusalOfError(error));
    }
  }

  /** A file has to be as the change found it, or already as it wants it; and no folder where it is a file, or the other way around. */
  private fits({ path, before, after }: Delta): boolean {
    const now = this.files.get(path) ?? null;
    if (now !== before && now !== after) return false;
    return now !== null || after === null || !this.isInTheWay(path);
  }

  private isInTheWay(path: string): boolean {
    const above = path.split('/').map((_name, index, names) => names.slice(0, index).join('/'));
    return (
      above.some((folder) => this.files.has(folder)) ||
      [...this.files.keys()].some((file) => file.startsWith(`${path}/`))
    );
  }

  private async conflict(change: number, file: string): Promise<ConveyorError> {
    const winner = this.winners.get(file);
    const by = winner === undefined ? await this.lander.lastToChange(file, this.head ?? '') : `change ${winner}`;
    return conveyorError('config-conflict', { change, file, by });
  }

  private async add(
    change: number,
    deltas: readonly Delta[],
    info: CommitInfo | undefined,
    commit: string,
  ): Promise<void> {
    const texts = await this.textsOf(deltas);
    const edits = new Map(deltas.map(({ path, after }) => [path, after === null ? null : (texts.get(path) ?? '')]));
    const { values, problems } = await this.lander.revalued(this.files, edits, (path) => texts.get(path) ?? '');
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    const files: NewFile[] = [];
    for (const { path, after } of deltas) {
      files.push(after === null ? { path, gone: true } : { path, blob: after });
      this.set(path, after);
      this.winners.set(path, change);
    }
    for (const [path, text] of values) {
      const file = `${VALUES}/${valueFile(path)}`;
      files.push(text === null ? { path: file, gone: true } : { path: file, text });
      this.set(file, text === null ? null : blobId(text));
    }
    const words = [info?.subject || `Change ${change}`, info?.body ?? ''].filter((part) => part !== '');
    const message = `${words.join('\n\n')}\n\n${landingTrailer(change, commit)}`;
    const parent = this.commits.length === 0 ? this.head : this.commits.length - 1;
    this.commits.push({ parent, author: info?.author ?? 'unknown', message, files });
    this.landed.push(change);
  }

  /** What revaluing may read: what changes, programs and modules, schemas and what these judge. */
  private async textsOf(deltas: readonly Delta[]): Promise<ReadonlyMap<string, string>> {
    const isCode =
      [...this.files.keys()].some((path) => path.endsWith('.ts')) || deltas.some(({ path }) => path.endsWith('.ts'));
    const isSchema = deltas.some(({ path }) => path.endsWith('.schema.json'));
    const wanted = [...this.files].flatMap(([path, blob]) => {
      if (path.startsWith(`${VALUES}/`)) return [];
      return isCode || isSchema || path.endsWith('.schema.json') ? [{ path, blob }] : [];
    });
    const changed = deltas.flatMap(({ path, after }) => (after === null ? [] : [{ path, blob: after }]));
    return this.lander.texts([...wanted, ...changed]);
  }

  private set(path: string, blob: string | null): void {
    if (blob === null) this.files.delete(path);
    else this.files.set(path, blob);
  }
}
