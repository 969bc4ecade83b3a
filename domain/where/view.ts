import type { DeployOutcome, DeployState, ReleaseState, Undone } from '../views';
import type { RevisionMatch } from './revision';

/** The JSON of `where`: the releases that contain a revision (docs/reference/cli.md#where). */
export interface WhereView {
  readonly kind: 'where';
  /** The revision as it was asked for. */
  readonly asked: string;
  /** In full, as releases have it recorded; null if none contains it, or if it is ambiguous. */
  readonly revision: string | null;
  /** The revisions that an abbreviation may mean, if there are several: the releases are not listed then. */
  readonly candidates: readonly WhereCandidate[];
  /** By pipeline, that of the newest release first; newest release of each pipeline first. */
  readonly releases: readonly WhereRelease[];
  /** The number of releases that contain it, with those that are not listed. */
  readonly total: number;
  /** How many of these are under way, and how many have succeeded. */
  readonly underWay: number;
  readonly succeeded: number;
  readonly searched: WhereSearched;
}

export interface WhereCandidate {
  readonly revision: string;
  /** The newest release that contains it. */
  readonly release: string;
}

/** Where the search looked, and what it could not see. */
export interface WhereSearched {
  /** Temporal forgets ended releases after this time; null if it did not say, or never. */
  readonly retentionMs: number | null;
  /**
   * Releases that began before their revisions were listed: how many there are, and how many of them, the newest, were read. Null if these were
   * not needed, or could not be read in time.
   */
  readonly older: { readonly count: number; readonly read: number } | null;
  /** Whether releases were looked up that Temporal has forgotten; null if there is no archive. */
  readonly archive: ArchiveSearch | null;
  /** The repositories that were asked which newer revisions contain it, by name; with the reason if one did not answer. */
  readonly repositories: readonly { readonly name: string; readonly problem: string | null }[];
}

export interface ArchiveSearch {
  /** Why the archive did not answer; null if it did. */
  readonly problem: string | null;
}

export type WhereStage =
  | 'building'
  | 'testing'
  | 'waiting'
  | 'deploying'
  | 'paused'
  | 'reverting'
  | 'running'
  | 'everywhere'
  | 'replaced'
  | 'succeeded'
  | 'undone'
  | 'reverted'
  | 'superseded'
  | 'cancelled'
  | 'failed';

export interface WhereRelease {
  readonly id: string;
  readonly pipeline: string;
  readonly number: number;
  readonly state: ReleaseState;
  /** Its present work, or its end. `everywhere`: its version is in production; `replaced`: another release has replaced it since. */
  readonly stage: WhereStage;
  /** The artifact by which it contains the revision; `ancestor`: by a newer revision that contains it. */
  readonly contains: Omit<RevisionMatch, 'by'> & { readonly by: RevisionMatch['by'] | 'ancestor' };
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly deploys: readonly WhereDeploy[];
  /** The share of the tasks of all its deploys that runs its version, from 0 to 1; null if it is not known. */
  readonly share: number | null;
  /** The release that runs instead, if it was replaced, superseded or undone. */
  readonly by: string | null;
  /** Its known-bad artifacts, by identity. */
  readonly knownBad: readonly string[];
  readonly undone: Undone | null;
  /** The reason why it is held, and until when; null if nothing does, or it is not known. */
  readonly wait: { readonly why: string; readonly until: string | null } | null;
  /** When its version will run everywhere if all goes well; null if that is not known. */
  readonly everywhereAt: string | null;
  /** The command to type next. */
  readonly next: string;
  /** Why this information is old or incomplete; missing if it is not. */
  readonly problem?: string;
}

export interface WhereDeploy {
  readonly action: string;
  readonly state: DeployState;
  readonly outcome: DeployOutcome | null;
  /** The phase under way: counted from 1. */
  readonly phase: { readonly n: number; readonly of: number; readonly name: string } | null;
  readonly share: number | null;
}

/** The request for it. */
export interface WhereQuery {
  readonly revision: string;
  readonly limit: number;
  /** Newer revisions that contain it, as a repository says. Only a server asks one: they are not sent. */
  readonly newer?: readonly string[];
}
