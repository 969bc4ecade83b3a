/** A committed value as the store holds it. */
export interface StoredValue {
  readonly path: string;
  readonly value: string;
  /** The git blob id. */
  readonly version: string;
  readonly commit: string;
  readonly sequence: number;
  /** Forged states that hosts replace with this value (`nameState`). */
  readonly overrules?: readonly string[] | undefined;
}

/** One commit of a repository, in its total order. `sequence` counts commits from 1. A value of null deletes the path. */
export interface StoredCommit {
  readonly commit: string;
  readonly sequence: number;
  readonly values: readonly { readonly path: string; readonly value: string | null; readonly version: string }[];
}

/** A value that a deploy exposes to some hosts before it is committed. A null value removes the path for them. */
export interface Override {
  /** The update that exposes it. */
  readonly id: string;
  readonly path: string;
  readonly value: string | null;
  readonly version: string;
  /** The change: `N@commit`. */
  readonly revision: string;
  readonly hosts?: readonly string[];
  /** A share of all hosts, 0 to 1, that only grows. */
  readonly below?: number;
  /** Decides, instead of `id`, which hosts a share begins with: updates of one deploy widen the same share. */
  readonly seed?: string;
  /** For a share: the labels that a host must have. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The state that a host reports for a path. */
export interface HostAcknowledgement {
  readonly host: string;
  readonly path: string;
  /** Empty if the path was deleted. */
  readonly version: string;
  /** The override that the host has, or null. */
  readonly revision: string | null;
  /** The commit of the value that the host has, or null. */
  readonly commit: string | null;
  /** The newest commit to the path that the host knows. */
  readonly sequence?: number;
  /** Why an application refuses it. */
  readonly refused?: string;
  /** The work that an application must finish before it uses the value, such as fetching a model. */
  readonly loading?: string;
  /** The address at which other hosts get pieces of the value's package. */
  readonly peer?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** It accepts only values signed by trusted keys. Missing if it accepts any, and from older proxies. */
  readonly verified?: boolean;
  /** When the host got that state, in ms since the epoch. */
  readonly at: number;
}

/**
 * The present state of one part of a path: its committed value, or all of its overrides. `position` orders all events of a repository when compared
 * as text, and is where a watcher resumes. If a path changes twice while a watcher is away, the watcher gets only the newest state.
 */
export type StoreEvent = { readonly path: string; readonly position: string } & (
  | { readonly kind: 'value'; readonly value: StoredValue }
  | {
      readonly kind: 'removed';
      readonly commit: string;
      readonly sequence: number;
      readonly overrules?: readonly string[] | undefined;
    }
  | { readonly kind: 'override'; readonly overrides: readonly Override[] }
  | { readonly kind: 'override-removed' }
  /** The record there cannot be trusted; a host keeps its value. */
  | { readonly kind: 'disbelieved'; readonly part: 'value' | 'override'; readonly why: string }
);

export interface Head {
  readonly sequence: number;
  readonly commit: string;
}

/**
 * The store from which hosts read configuration: committed values in the order of their commits, overrides of deploys,
 * and acknowledgements of hosts. Every method throws a ConveyorError: `store-unavailable`, `store-full` and
 * `store-forged`, which are worth a retry, and `store-refused`, which is not.
 */
export interface ConfigStore {
  head(repository: string): Promise<Head | undefined>;
  /**
   * Applies a commit if the head is the previous one: `applied`, or `already` if the head is at or past it. A large commit takes several
   * transactions, of which the last moves the head; after a crash between them the same call completes it.
   * @throws ConveyorError `store-out-of-step` on a gap, and if the head is another commit of that sequence; `over-limit` for a value or a path
   */
  apply(repository: string, commit: StoredCommit): Promise<'applied' | 'already'>;
  read(repository: string, path: string): Promise<StoredValue | undefined>;
  /** A repeated call changes nothing. An override replaces the one with the same id on its path. */
  putOverrides(repository: string, overrides: readonly Override[]): Promise<void>;
  /** Removes an override from the named paths, by default from all. Removing it again changes nothing. */
  removeOverrides(repository: string, id: string, paths?: readonly string[]): Promise<void>;
  overrides(repository: string, path: string): Promise<readonly Override[]>;
  /**
   * Events of these paths after `from`, in order, each once; without `from`, first their present state. That state has an `override-removed` for each
   * path without an override: a host may remember an override from before the store was restored. A store that may be restored also sends these to
   * watchers that resume. The watch resumes by itself, and calls `onAway` whenever the store does not answer, and `onHere` whenever everything up to
   * that moment was passed to `on`. Resolves when the signal is aborted. If the store has been set back to an older state, `from` counts as none. If
   * it is set back while a watch runs, the watch delivers the differences, whose positions may be before those of earlier events.
   */
  watch(
    repository: string,
    paths: readonly string[],
    from: string | undefined,
    on: (event: StoreEvent) => void,
    signal: AbortSignal,
    onAway?: (error: unknown) => void,
    onHere?: () => void,
  ): Promise<void>;
  /** Valid for this many seconds, at least 2; a repeated call prolongs it. A silent host disappears. */
  acknowledge(repository: string, what: HostAcknowledgement, ttlSeconds: number): Promise<void>;
  /** The acknowledgements of a path; if it is empty or ends with a slash, of all paths below. */
  subscribers(repository: string, path: string): Promise<readonly HostAcknowledgement[]>;
}
