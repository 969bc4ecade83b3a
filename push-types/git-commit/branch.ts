/** The branch of a repository that a deploy commits to: the way to Git, and a fake in tests. */

/** A file at a revision, or the reason why it cannot be read. */
export type FileState = { readonly text: string } | { readonly trouble: string };

/** A commit of the branch. */
export interface FoundCommit {
  readonly id: string;
  readonly parent: string | undefined;
  readonly author: string;
  readonly message: string;
}

export interface BranchEdit {
  readonly base: string;
  /** The new text of each file. */
  readonly files: ReadonlyMap<string, string>;
  readonly message: string;
  /** ms since the epoch. */
  readonly at: number;
}

export interface DeployBranch {
  /** Fetches the branch, and returns its newest commit. @throws AwayError, RefusedError */
  refresh(): Promise<string>;
  /** Files at a revision that is there, by path. */
  read(revision: string, paths: readonly string[]): Promise<ReadonlyMap<string, FileState>>;
  /** Whether the history of a revision holds a commit; `unknown` for a revision that is not of this branch. */
  relate(revision: string, commit: string): Promise<'holds' | 'lacks' | 'unknown'>;
  /** The commits whose message has this line, the newest first. */
  findCommits(tip: string, line: string): Promise<readonly FoundCommit[]>;
  /** The last commits that changed a file, the newest first. */
  listChanges(tip: string, path: string): Promise<readonly FoundCommit[]>;
  /** Makes a commit, which nothing refers to before it is pushed. @throws RefusedError */
  commit(change: BranchEdit): Promise<string>;
  /** Pushes without force; `stale` if another has pushed meanwhile. @throws AwayError, RefusedError */
  push(commit: string): Promise<'pushed' | 'stale'>;
}

/** The remote repository does not answer, or not in time: the same call may succeed later. A push may have arrived. */
export class AwayError extends Error {
  override readonly name = 'AwayError';
}

/** The remote repository answered that it does not permit it, or has no such branch: a person has to act. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
