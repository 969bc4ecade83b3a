import { pickOverride, type Aim, type Host } from './overrides';

/** The newest committed state of a path that a host has seen; `value` is null once the path was deleted. */
export interface CommittedValue {
  readonly value: string | null;
  readonly version: string;
  readonly commit: string;
  readonly sequence: number;
}

export interface Offer extends Aim {
  readonly value: string | null;
  readonly version: string;
}

/** A host's knowledge of a path. */
export interface HostPathState {
  readonly committed: CommittedValue | null;
  readonly overrides: readonly Offer[];
}

export const NOTHING: HostPathState = { committed: null, overrides: [] };

/** The answer to applications of a host. */
export interface Answer {
  readonly path: string;
  /** Null if there is none, or no longer. */
  readonly value: string | null;
  /** Empty if there is no value. */
  readonly version: string;
  /** The commit of the value; null for an override. */
  readonly commit: string | null;
  /** The change that is exposed to this host: `N@commit`; null for a committed value. */
  readonly override: string | null;
  /**
   * The number of the newest commit to this path that the host knows; 0 without one. It decreases only if that commit
   * was forged.
   */
  readonly sequence: number;
}

/**
 * The state after a newer commit; unchanged if the commit is not newer, because a host never goes back. @param
 * overrules states that were never on the branch: a host with one of them replaces it by the true one
 */
export function withCommitted(
  held: HostPathState,
  next: CommittedValue,
  overrules: readonly string[] = [],
): HostPathState {
  const { committed } = held;
  const isForged = committed !== null && overrules.includes(nameState(committed));
  return isForged || next.sequence > (committed?.sequence ?? 0) ? { ...held, committed: next } : held;
}

/** A committed state of a path, as one text. */
export const nameState = ({ sequence, commit, version }: Omit<CommittedValue, 'value'>): string =>
  `${sequence} ${commit} ${version}`;

export function resolveAnswer(path: string, { committed, overrides }: HostPathState, host: Host): Answer {
  const sequence = committed?.sequence ?? 0;
  const override = pickOverride(overrides, host);
  if (override) {
    const { value, version, revision } = override;
    return { path, value, version: value === null ? '' : version, commit: null, override: revision, sequence };
  }
  const value = committed?.value ?? null;
  const version = value === null ? '' : (committed?.version ?? '');
  return { path, value, version, commit: committed?.commit ?? null, override: null, sequence };
}

/** Whether applications would see no difference. */
export const isSameAnswer = (one: Answer, other: Answer): boolean =>
  one.version === other.version &&
  one.commit === other.commit &&
  one.override === other.override &&
  one.value === other.value;
