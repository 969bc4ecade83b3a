/** Limits of a feed, as `examples/config/flags` has them. */
export interface Limits {
  readonly soft: number;
  readonly hard: number;
}

/** The state of the hosts of a value. */
export interface HostCounts {
  readonly total: number;
  /** Hosts on the newest commit. */
  readonly committed: number;
  /** Hosts on an uncommitted change. */
  readonly overridden: number;
}

/** The store and hosts of the demo: real, or simulated if there is no etcd. */
export interface ConfigWorld {
  /** A description of the store. */
  readonly store: string;
  /** A proposed change. @returns its version, `N@commit` */
  propose(limits: Limits): Promise<string>;
  counts(): Promise<HostCounts>;
}

export const REPOSITORY = 'flags';
export const PATH = 'feed/limits';
export const REGIONS = ['eu', 'us'] as const;
export const HOSTS_EACH = 5;
/** More requests a second than a server of the feed can serve; it refuses such limits. */
export const MOST = 1_000;
