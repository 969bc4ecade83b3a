/** Limits of a feed, as `examples/config/flags` has them. */
export interface Limits {
  readonly soft: number;
  readonly hard: number;
}

/** The state of the hosts of a value. */
export interface HostCounts {
  readonly total: number;
  /** On the newest commit. */
  readonly committed: number;
  /** On a change that is not committed. */
  readonly overridden: number;
}

/** Where the configuration of the demo is, and who reads it: real, or simulated where there is no etcd. */
export interface ConfigWorld {
  /** In words. */
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
