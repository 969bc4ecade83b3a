import { hash } from '../../domain/hash';

/** A host that an override may select. */
export interface Host {
  readonly name: string;
  readonly labels?: Labels | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** The selection of an override. */
export interface Aim {
  /** The id of the update that exposes it. */
  readonly id: string;
  /** The change: `N@commit`. */
  readonly revision: string;
  readonly hosts?: readonly string[] | undefined;
  /** A share of all hosts, 0 to 1. */
  readonly below?: number | undefined;
  /** Decides which hosts a share begins with, in place of `id`: updates of one deploy widen the same share. */
  readonly seed?: string | undefined;
  /** For a share: labels that hosts must have. */
  readonly labels?: Labels | undefined;
}

/** The override of a path that applies to a host: of several, that of the newest change. */
export function pickOverride<T extends Aim>(overrides: readonly T[], host: Host): T | undefined {
  return overrides
    .filter((override) => isAimedAt(override, host))
    .toSorted((a, b) => parseRevisionNumber(b.revision) - parseRevisionNumber(a.revision) || (a.id < b.id ? 1 : -1))[0];
}

/**
 * Whether an override selects a host. The place of a host depends on the seed alone: all paths of a change go to the
 * same hosts, a larger share never takes a host out, and other deploys begin with others.
 */
export const isAimedAt = ({ id, hosts, below = 0, seed = id, labels }: Aim, host: Host): boolean =>
  (hosts?.includes(host.name) ?? false) || (computeHostPosition(seed, host.name) < below && hasLabels(host, labels));

const hasLabels = (host: Host, wanted: Labels = {}): boolean =>
  Object.entries(wanted).every(([key, value]) => host.labels?.[key] === value);

/** The position of a host in the shares of a seed: at least 0, below 1. */
export const computeHostPosition = (seed: string, host: string): number => hash(`${seed} ${host}`) / 2 ** 32;

/** The number in `N@commit`. */
const parseRevisionNumber = (revision: string): number => Number.parseInt(revision, 10) || 0;
