import type { Artifact } from '../../domain/artifact';
import type { Landing, LandRequest } from '../domain/landing';
import type { Content } from '../domain/subscriber';
import type { ConfigStore } from '../store/port';
import type { Requester } from './memory';

/** The contents of a version in a change of a repository. */
export interface ChangeContent {
  readonly change: number;
  readonly content: Content;
  /** The commit that landed it; null before that. */
  readonly landed: string | null;
}

/** Versions are changes of a repository. */
export interface Changes {
  /**
   * The contents that a version would give its subscribers.
   * @throws ExtensionError `unknown-version`, `not-deployable`
   */
  contentOf(repository: string, version: string, artifacts: readonly Artifact[]): Promise<ChangeContent>;
  /**
   * The version that the newest commit to these paths made, up to `head`: `N@commit` of the change that it landed, else
   * `@commit`; null if none has changed them after `since`.
   */
  committedVersion(
    repository: string,
    paths: readonly string[],
    head: string,
    since: string | null,
  ): Promise<string | null>;
  /**
   * Proposes to restore these paths to their state at a commit.
   * @param own the change to undo, refused if others have changed its files since; null for all changes
   * @param by named at the end of the message; the author of such a change is always Conveyor itself
   * @returns the number of the change, or null if nothing differs
   */
  restore(
    repository: string,
    paths: readonly string[],
    to: string | null,
    own: number | null,
    by?: Requester,
  ): Promise<number | null>;
  /**
   * Proposes to delete the sources of all values of these paths.
   * @param since a commit: refused if any later one has changed the paths; null if there was none
   * @param by as in `restore`
   * @returns the number of the change, or null if there is no value
   * @throws ExtensionError also if a source makes values of other paths, too
   */
  remove(repository: string, paths: readonly string[], since: string | null, by?: Requester): Promise<number | null>;
  /** Why a change could not land on the present branch; undefined if it could. */
  whyNotLand(repository: string, version: string): Promise<string | undefined>;
  /** Whether the newer commit contains the older one. */
  contains(repository: string, newer: string, older: string): Promise<boolean>;
}

/** Lands a change; resolves once it has landed or was refused. A repeated call lands it once. */
export type Land = (request: LandRequest & { readonly repository: string }) => Promise<Landing>;

export interface ConfigPorts {
  /** @throws ExtensionError for a repository that is not configured */
  readonly storeOf: (repository: string) => ConfigStore;
  readonly changes: Changes;
  readonly land: Land;
  /** The number of changes before a waiting one; undefined if it does not wait. */
  readonly landBefore?: (repository: string, change: number) => number | undefined;
  readonly log: (line: string) => void;
  /** ms since the epoch. */
  readonly now: () => number;
}
