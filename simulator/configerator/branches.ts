import type { StoredCommit } from '../../configerator/store/port';

/** The branches of repositories without git: commits of values, and proposed changes. */
export type Branches = Map<string, Branch>;

export interface Branch {
  readonly commits: BranchCommit[];
  readonly changes: BranchChange[];
}

export interface BranchCommit extends StoredCommit {
  /** The change that this commit landed. */
  readonly change: number | null;
}

export type BranchValues = Readonly<Record<string, string | null>>;

export interface BranchChange {
  readonly number: number;
  /** `N@commit`. */
  readonly version: string;
  readonly values: BranchValues;
  /** The values that it was based on, by path. */
  readonly base: Readonly<Record<string, string>>;
}
