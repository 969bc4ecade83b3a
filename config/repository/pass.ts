import { ConveyorError, conveyorError } from '../../domain/errors';
import { refuseTooMuch } from '../../domain/config/commits';
import type { Refusal } from '../../domain/config/landing';
import type { RunMemory } from '../compiler/run';
import { admitFile, valueFile, VALUES, whyNotSource } from '../compiler/tree';
import type { ProgramWalls } from '../compiler/walls';
import type { BlobTexts } from './blobTexts';
import { landingTrailer, lastToChange, type CommitInfo, type Delta } from './commits';
import type { Git } from './git';
import { linkRefused } from './gitTree';
import type { NewCommit, NewFile } from './importing';
import type { ChangeRef } from './repository';
import { blobId } from '../../sdk/blobId';
import { revalue } from './revalue';

interface PassParts {
  readonly git: Git;
  readonly texts: BlobTexts;
  readonly memory: RunMemory | undefined;
  readonly programs: ProgramWalls | undefined;
}

/** One look at the branch: changes on top of it, and of each other. */
export class Pass {
  readonly commits: NewCommit[] = [];
  readonly landed: number[] = [];
  readonly refused = new Map<number, Refusal>();
  private readonly winners = new Map<string, number>();

  constructor(
    private readonly parts: PassParts,
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
    const by = winner === undefined ? await lastToChange(this.parts.git, file, this.head ?? '') : `change ${winner}`;
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
    const { values, problems } = await revalue(this.files, edits, (path) => texts.get(path) ?? '', this.parts);
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    // More values may come of it than when it was proposed, or nobody proposed it.
    refuseTooMuch([...values].map(([path, value]) => ({ path, value })));
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
    return this.parts.texts.of([...wanted, ...changed]);
  }

  private set(path: string, blob: string | null): void {
    if (blob === null) this.files.delete(path);
    else this.files.set(path, blob);
  }
}

/** A change that somebody made by hand may hold anything. @throws ConveyorError `config-file-unusable` */
function requireSource({ path, isLink }: Delta): void {
  admitFile(path, 0);
  if (isLink) throw linkRefused(path);
  // Git cannot check out a commit that has a folder .git.
  const why = whyNotSource(path);
  if (why !== undefined) throw conveyorError('config-file-unusable', { file: path, why });
}

export const refusalOfError = ({ code, message, hint }: ConveyorError): Refusal => ({ code, message, hint });
