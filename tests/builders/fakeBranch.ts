import { createHash } from 'node:crypto';
import {
  AwayError,
  RefusedError,
  type DeployBranch,
  type BranchEdit,
  type FoundCommit,
  type FileState,
} from '../../push-types/git-commit/branch';

interface FakeCommit extends FoundCommit {
  readonly files: ReadonlyMap<string, string>;
}

/** A branch in memory, with the faults of a remote repository. */
export class FakeBranch implements DeployBranch {
  readonly commits = new Map<string, FakeCommit>();
  tip = '';
  isAway = false;
  refusal: string | undefined;
  /** The next pushes that are stale because somebody else was faster. */
  onPush: () => void = () => undefined;
  /** The next push arrives, and its answer is lost. */
  losesAnswer = false;

  constructor(files: Readonly<Record<string, string>>) {
    this.edit(files, 'first');
  }

  /** The commits of the branch, the newest first. */
  get history(): FakeCommit[] {
    return this.walk(this.tip);
  }

  /** Another person commits. @returns the commit */
  edit(files: Readonly<Record<string, string | null>>, message = 'by hand', author = 'alice'): string {
    const before = this.commits.get(this.tip)?.files ?? [];
    const now = new Map([
      ...before,
      ...Object.entries(files).flatMap(([path, text]) => (text === null ? [] : [[path, text] as const])),
    ]);
    for (const [path, text] of Object.entries(files)) if (text === null) now.delete(path);
    this.tip = this.add({ parent: this.tip || undefined, author, message, files: now });
    return this.tip;
  }

  text(path: string): string {
    return this.commits.get(this.tip)?.files.get(path) ?? '';
  }

  refresh(): Promise<string> {
    if (this.isAway) return Promise.reject(new AwayError('the branch main of deployments does not answer'));
    if (this.refusal !== undefined) return Promise.reject(new RefusedError(this.refusal));
    return Promise.resolve(this.tip);
  }

  read(revision: string, paths: readonly string[]): Promise<ReadonlyMap<string, FileState>> {
    const files = this.commits.get(revision)?.files;
    if (files === undefined) return Promise.reject(new Error(`there is no ${revision}`));
    return Promise.resolve(
      new Map(
        paths.map((path) => {
          const text = files.get(path);
          return [path, text === undefined ? { trouble: `${path} is not in the branch main` } : { text }];
        }),
      ),
    );
  }

  relate(revision: string, commit: string): Promise<'holds' | 'lacks' | 'unknown'> {
    if (!this.commits.has(revision) || !this.commits.has(commit)) return Promise.resolve('unknown');
    return Promise.resolve(this.walk(revision).some(({ id }) => id === commit) ? 'holds' : 'lacks');
  }

  findCommits(tip: string, line: string): Promise<readonly FoundCommit[]> {
    return Promise.resolve(this.walk(tip).filter(({ message }) => message.split('\n').includes(line)));
  }

  listChanges(tip: string, path: string): Promise<readonly FoundCommit[]> {
    return Promise.resolve(
      this.walk(tip).filter(({ parent, files }) => files.get(path) !== this.commits.get(parent ?? '')?.files.get(path)),
    );
  }

  commit({ base, files, message }: BranchEdit): Promise<string> {
    const all = new Map([...(this.commits.get(base)?.files ?? []), ...files]);
    return Promise.resolve(this.add({ parent: base, author: 'Conveyor', message, files: all }));
  }

  push(commit: string): Promise<'pushed' | 'stale'> {
    this.onPush();
    if (this.isAway) return Promise.reject(new AwayError('the branch main of deployments does not answer'));
    if (this.refusal !== undefined) return Promise.reject(new RefusedError(this.refusal));
    if (this.commits.get(commit)?.parent !== this.tip) return Promise.resolve('stale');
    this.tip = commit;
    if (!this.losesAnswer) return Promise.resolve('pushed');
    this.losesAnswer = false;
    return Promise.reject(new AwayError('the branch main of deployments does not answer'));
  }

  private walk(from: string): FakeCommit[] {
    const found: FakeCommit[] = [];
    for (let one = this.commits.get(from); one !== undefined; one = this.commits.get(one.parent ?? '')) found.push(one);
    return found;
  }

  private add(commit: Omit<FakeCommit, 'id'>): string {
    const seed = JSON.stringify([commit.parent, commit.author, commit.message, [...commit.files], this.commits.size]);
    const id = createHash('sha1').update(seed).digest('hex');
    this.commits.set(id, { ...commit, id });
    return id;
  }
}
