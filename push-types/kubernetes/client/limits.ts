/** Limits of the client. A request beyond one of them fails with a sentence that names it. */
export const CLIENT_LIMITS = {
  /** Requests to one API server in any second, retries and watches included. */
  requestsPerSecond: 20,
  /** Requests to one API server at once; a watch counts only until its stream has begun. */
  inFlight: 4,
  /** One try, from its turn to the last byte of the answer. */
  requestMs: 15_000,
  /** The longest `Retry-After` that a request waits for; with a longer one it fails at once. */
  retryAfterMs: 30_000,
  tries: 4,
  /** Servers and load balancers close a connection that is idle for a minute or longer. */
  idleConnectionMs: 45_000,
  answerBytes: 64 * 1024 * 1024,
  pageSize: 500,
  /** Objects of one list. */
  listItems: 50_000,
  /** One line of a watch, which is one object. */
  watchLineBytes: 8 * 1024 * 1024,
  /** The server ends a watch after this time at the earliest, and after twice as long at the latest. */
  watchSeconds: 300,
  /**
   * A kind is listed again after such a silence: its watch may be dead, or from a version that an etcd restored from a backup does not know yet. A kind
   * without changes is as silent, since servers send bookmarks only for versions that are newer than the watch.
   */
  watchIdleMs: 120_000,
  /** A view that is older is not believed: it may be as old as a silence, and the list after it. */
  viewAgeMs: 180_000,
  firstBackOffMs: 500,
  mostBackOffMs: 30_000,
  kubeconfigBytes: 4 * 1024 * 1024,
  execMs: 60_000,
  execBytes: 1024 * 1024,
} as const;

/** The adjustable ones, for tests and for large clusters. */
export type ClientSettings = {
  readonly [
    name in
      | 'requestsPerSecond'
      | 'inFlight'
      | 'requestMs'
      | 'retryAfterMs'
      | 'answerBytes'
      | 'pageSize'
      | 'listItems'
      | 'watchLineBytes'
      | 'watchSeconds'
      | 'watchIdleMs'
      | 'firstBackOffMs'
      | 'mostBackOffMs'
  ]: number;
};
