import { pickOverride, type Aim } from './overrides';
import type { Has } from './subscriber';

/** The state of a path on a host, compared with the state it should have. `stale`: any other state. */
export type SubscriptionState = 'committed' | 'overridden' | 'refused' | 'stale';

/** A host's report on a path. */
export type Acknowledgement = Has & {
  readonly host: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** In milliseconds since 1970. */
  readonly at: number;
};

export interface Subscription {
  readonly host: string;
  readonly state: SubscriptionState;
  /** Empty if the path is deleted. */
  readonly version: string;
  /** The revision of its override: `N@commit`. */
  readonly revision: string | null;
  readonly commit: string | null;
  /** ISO-8601, UTC. */
  readonly since: string;
  readonly refused: string | null;
  readonly loading: string | null;
}

/** The subscribers of a path, each in one state. */
export interface Subscribers extends Readonly<Record<SubscriptionState, number>> {
  readonly total: number;
}

/** A change that a deploy exposes to some hosts, or has left exposed. */
export interface Exposure {
  /** `feed/2/deploy`; the id of the override if it belongs to no deploy. */
  readonly deploy: string;
  /** `N@commit` */
  readonly revision: string;
}

/** Each exposure once, the newest change first. */
export function listExposures(overrides: readonly Pick<Aim, 'id' | 'revision'>[]): readonly Exposure[] {
  const found = new Map(
    overrides.map(({ id, revision }) => {
      const deploy = deployIn(id);
      return [`${deploy} ${revision}`, { deploy, revision }];
    }),
  );
  return [...found.values()].sort((one, other) => Number.parseInt(other.revision) - Number.parseInt(one.revision));
}

/** The id of an override is that of its update, `deploy/feed/2/deploy/1/0/1#eu`. */
const deployIn = (id: string): string => /^deploy\/([^/]+\/\d+\/[^/]+)\/\d+\//.exec(id)?.[1] ?? id;

/** The content of a store for a path; null: it is gone. */
export interface StoredPathState {
  readonly committed: { readonly version: string } | null;
  readonly overrides: readonly (Aim & { readonly version: string })[];
}

export function toSubscription(stored: StoredPathState, has: Acknowledgement): Subscription {
  const { host, version, revision, commit, refused = null, loading = null } = has;
  const since = new Date(has.at).toISOString();
  return { host, state: subscriberState(stored, has), version, revision, commit, since, refused, loading };
}

function subscriberState({ committed, overrides }: StoredPathState, has: Acknowledgement): SubscriptionState {
  if (has.refused !== undefined) return 'refused';
  const { host: name, labels, version, revision } = has;
  const override = pickOverride(overrides, { name, labels });
  if (revision !== (override?.revision ?? null)) return 'stale';
  if (version !== ((override ?? committed)?.version ?? '')) return 'stale';
  return override === undefined ? 'committed' : 'overridden';
}

export function countSubscribers(all: readonly Pick<Subscription, 'state'>[]): Subscribers {
  const counts = { committed: 0, overridden: 0, refused: 0, stale: 0 };
  for (const { state } of all) counts[state] += 1;
  return { total: all.length, ...counts };
}
