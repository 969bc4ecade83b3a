/**
 * Timeouts and intervals from the configuration; carried in workflow inputs, never constants in a workflow
 * (ARCHITECTURE.md#time). All in ms.
 */
export interface Settings {
  /** A worker that is silent for this long counts as dead, and its activity starts again elsewhere. */
  readonly heartbeatTimeoutMs: number;
  /** The interval of looks at a running update. */
  readonly trackIntervalMs: number;
  /** The interval at which a running action service is asked for its progress. */
  readonly progressIntervalMs: number;
  /** A dependency that is silent for this long pauses the deploy, visibly. */
  readonly dependencyGraceMs: number;
  /** The interval at which a lock or a pipeline checks that the holder still runs. */
  readonly reconcileIntervalMs: number;
  /** The interval at which a `wait-for` action asks about the release of another pipeline. */
  readonly waitIntervalMs: number;
  /** The time that a revert whose tasks do not come up waits before its next automatic try. */
  readonly revertRetryMs: number;
  /** The time that a task that failed to start has to come up before its failure counts. */
  readonly transientMs: number;
  /** The time that a release waits for an action service to stop a run that is no longer wanted. */
  readonly cancelGraceMs: number;
  /** The interval at which each artifact finder is asked for new versions. */
  readonly sweepIntervalMs: number;
  /** The maximum delay of a sweep, so that not all finders are asked at once. */
  readonly sweepJitterMs: number;
  /** The maximum delay of a pipeline after its calendar, of which each has its own share, so that not all begin at once. */
  readonly calendarSpreadMs: number;
}

export const DEFAULT_SETTINGS: Settings = {
  heartbeatTimeoutMs: 10_000,
  trackIntervalMs: 5_000,
  progressIntervalMs: 5_000,
  dependencyGraceMs: 60_000,
  reconcileIntervalMs: 600_000,
  waitIntervalMs: 30_000,
  revertRetryMs: 300_000,
  transientMs: 30_000,
  cancelGraceMs: 86_400_000,
  sweepIntervalMs: 60_000,
  sweepJitterMs: 15_000,
  calendarSpreadMs: 0,
};

const MAX_RETRY_FACTOR = 12;

/**
 * The wait before a revert or canary whose tasks do not come up is retried: it grows, so that weeks of retries fit into
 * one history.
 */
export const retryAfterMs = ({ revertRetryMs }: Pick<Settings, 'revertRetryMs'>, failures: number): number =>
  revertRetryMs * Math.min(failures, MAX_RETRY_FACTOR);
