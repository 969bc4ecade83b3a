import type { Artifact } from '../../domain/artifact';
import type { Landing, LandRequest } from '../../domain/config/landing';
import type { Content } from '../../domain/config/subscriber';
import type { ConfigStore } from '../store/port';

/** A version as a change of a repository has it. */
export interface ChangeContent {
  readonly change: number;
  readonly content: Content;
  /** The commit that landed it; null while none did. */
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
   * The version that the newest commit to these paths made, up to `head`: `N@commit` of the change that it landed, else `@commit`; null
   * where none has changed them after `since`.
   */
  committedVersion(
    repository: string,
    paths: readonly string[],
    head: string,
    since: string | null,
  ): Promise<string | null>;
  /**
   * Proposes that these paths become what they were at a commit.
   * @param own the change that is taken back; where others have changed its files since it is refused. Null: whatever was changed.
   * @returns the number of the change, or null where nothing differs
   */
  restore(repository: string, paths: readonly string[], to: string | null, own: number | null): Promise<number | null>;
  /** Why a change could not land on the branch as it is now; undefined if nothing is in its way. */
  whyNotLand(repository: string, version: string): Promise<string | undefined>;
  /** Whether the newer commit has the older one before it. */
  contains(repository: string, newer: string, older: string): Promise<boolean>;
}

/** Has a change land; resolves once it has, or is not to. Asked twice it lands once. */
export type Land = (request: LandRequest & { readonly repository: string }) => Promise<Landing>;

export interface ConfigPorts {
  /** @throws ExtensionError for a repository that is not configured */
  readonly storeOf: (repository: string) => ConfigStore;
  readonly changes: Changes;
  readonly land: Land;
  /** How many changes are to land before one that waits for its turn; undefined for one that does not. */
  readonly landBefore?: (repository: string, change: number) => number | undefined;
  readonly log: (line: string) => void;
  /** ms since the epoch. */
  readonly now: () => number;
}
