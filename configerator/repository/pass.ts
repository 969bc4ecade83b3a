import { ConveyorError, conveyorError } from '../../domain/errors';
import type { TouchedPath } from '../../domain/access/paths';
import { refuseTooMuch } from '../domain/commits';
import type { Refusal } from '../domain/landing';
import type { RunMemory } from '../compiler/run';
import { admitFile, valueFile, VALUES, whyNotSource } from '../compiler/tree';
import type { ProgramWalls } from '../compiler/walls';
import type { BlobTexts } from './blobTexts';
import { formatLandingTrailer, lastToChange, type CommitInfo, type Delta } from './commits';
import type { Git } from './git';
import { linkRefused } from './gitTree';
import type { NewCommit, NewFile } from './newCommits';
import type { ChangeRef } from './repository';
import { blobId } from '../../sdk/blobId';
import { groupsIn, requirePaths, TAKES_BACK, listTouchedPaths, type RightsOf } from './rights';
import { findMaker, recompileValues } from './revalue';

interface PassParts {
  readonly git: Git;
  readonly texts: BlobTexts;
  readonly memory: RunMemory | undefined;
  readonly programs?: ProgramWalls | undefined;
  /** Its name. */
  readonly repository: string;
  readonly rightsOf?: RightsOf | undefined;
}

/** One attempt on the present branch: applies changes on top of it, and on top of each other. */
export class Pass {
  readonly commits: NewCommit[] = [];
  readonly landed: number[] = [];
  readonly refused = new Map<number, Refusal>();
  private readonly winners = new Map<string, number>();

  constructor(
    private readonly parts: PassParts,
    /** Blobs by path, including changes accepted so far. */
    readonly files: Map<string, string>,
    private readonly head: string | null,
  ) {}

  async take({ change, commit }: ChangeRef, deltas: readonly Delta[], info: CommitInfo | undefined): Promise<void> {
    try {
      const sources = deltas.filter(({ path }) => !path.startsWith(`${VALUES}/`));
      for (const source of sources) requireSource(source);
      const conflict = sources.find((delta) => !this.fits(delta));
      if (conflict !== undefined) throw await this.conflict(change, conflict.path);
      const proposed = new Set(deltas.flatMap(({ path }) => (path.startsWith(`${VALUES}/`) ? path : [])));
      await this.add({ change, commit }, { sources, proposed }, info);
    } catch (error) {
      if (!(error instanceof ConveyorError) || error.retryable || error.code === 'config-repository-unusable')
        throw error;
      this.refused.set(change, refusalOfError(error));
    }
  }

  /**
   * A file has to match the base or the result of the change, and must not be a folder in one and a file in the other.
   */
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
    return conveyorError('config-conflict', { change, file, by: await this.lastToChange(file) });
  }

  /** Refuses a value that was not part of the change, such as that of a program that later imports one of its modules. */
  private async unproposed(change: number, value: string, deltas: readonly Delta[]): Promise<ConveyorError> {
    const own = new Map(deltas.flatMap(({ path, after }) => (after === null ? [] : [[path, after] as const])));
    const file = findMaker(value, own) ?? findMaker(value, this.files) ?? value;
    const by = own.has(file) ? `change ${change}` : await this.lastToChange(file);
    return conveyorError('config-conflict', { change, file, by, value });
  }

  private async lastToChange(file: string): Promise<string> {
    const winner = this.winners.get(file);
    return winner === undefined ? lastToChange(this.parts.git, file, this.head ?? '') : `change ${winner}`;
  }

  /** @param proposed the value files of the change: only these were shown to its pipeline and judged on hosts */
  private async add(
    { change, commit }: ChangeRef,
    { sources: deltas, proposed }: { readonly sources: readonly Delta[]; readonly proposed: ReadonlySet<string> },
    info: CommitInfo | undefined,
  ): Promise<void> {
    const texts = await this.textsOf(deltas);
    const edits = new Map(deltas.map(({ path, after }) => [path, after === null ? null : (texts.get(path) ?? '')]));
    const { values, problems } = await recompileValues(this.files, edits, (path) => texts.get(path) ?? '', this.parts);
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    // It may now produce more values than when it was proposed, or it was never proposed.
    refuseTooMuch([...values].map(([path, value]) => ({ path, value })));
    const unjudged = [...values.keys()].sort().find((path) => !proposed.has(`${VALUES}/${valueFile(path)}`));
    if (unjudged !== undefined) throw await this.unproposed(change, unjudged, deltas);
    this.requireRights(change, info, listTouchedPaths(edits.keys(), values.keys()));
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
    const message = `${words.join('\n\n')}\n\n${formatLandingTrailer(change, commit)}`;
    const parent = this.commits.length === 0 ? this.head : this.commits.length - 1;
    this.commits.push({ parent, author: info?.author ?? 'unknown', message, files });
    this.landed.push(change);
  }

  /** The author of the commit needs the rights under the present settings. @throws ConveyorError `not-permitted` */
  private requireRights(change: number, info: CommitInfo | undefined, touched: readonly TouchedPath[]): void {
    const { rightsOf, repository } = this.parts;
    const author = info?.author ?? 'unknown';
    if (rightsOf === undefined || author === TAKES_BACK) return;
    requirePaths(rightsOf(author, groupsIn(info?.body ?? '')), touched, repository, change);
  }

  /** The files that recompiling may read: changed files, programs and modules, schemas and their raw files. */
  private async textsOf(deltas: readonly Delta[]): Promise<ReadonlyMap<string, string>> {
    const isCode =
      [...this.files.keys()].some((path) => path.endsWith('.ts')) || deltas.some(({ path }) => path.endsWith('.ts'));
    const isSchema = deltas.some(({ path }) => path.endsWith('.schema.json'));
    const wanted = [...this.files].flatMap(([path, blob]) => {
      if (path.startsWith(`${VALUES}/`)) return [];
      return isCode || isSchema || path.endsWith('.schema.json') ? [{ path, blob }] : [];
    });
    const changed = deltas.flatMap(({ path, after }) => (after === null ? [] : [{ path, blob: after }]));
    return this.parts.texts.of([...wanted, ...changed]);
  }

  private set(path: string, blob: string | null): void {
    if (blob === null) this.files.delete(path);
    else this.files.set(path, blob);
  }
}

/** A hand-made change may contain anything. @throws ConveyorError `config-file-unusable` */
function requireSource({ path, isLink }: Delta): void {
  admitFile(path, 0);
  if (isLink) throw linkRefused(path);
  // Git cannot check out a commit with a .git folder.
  const why = whyNotSource(path);
  if (why !== undefined) throw conveyorError('config-file-unusable', { file: path, why });
}

export const refusalOfError = ({ code, message, hint }: ConveyorError): Refusal => ({ code, message, hint });
