/**
 * Timeouts and intervals from the configuration; carried in workflow inputs, never constants in a workflow
 * (ARCHITECTURE.md#time). All in ms.
 */
export interface Settings {
  /** A worker that says nothing for this long is taken for dead, and its activity starts again elsewhere. */
  readonly heartbeatTimeoutMs: number;
  /** How often a running update is looked at. */
  readonly trackIntervalMs: number;
  /** How often a running action service is asked for its progress. */
  readonly progressIntervalMs: number;
  /** A dependency that is silent for this long pauses the deploy, visibly. */
  readonly dependencyGraceMs: number;
  /** How often a granter checks that the holder still runs. */
  readonly reconcileIntervalMs: number;
  /** How often a `wait-for` action asks about the release of another pipeline. */
  readonly waitIntervalMs: number;
  /** How long a revert whose tasks do not come up waits before it tries again by itself. */
  readonly revertRetryMs: number;
  /** How long a task that failed to start has to come up before its failure counts. */
  readonly transientMs: number;
  /** How long a release waits until an action service has stopped a run that is not wanted any more. */
  readonly cancelGraceMs: number;
  /** How often each artifact finder is asked what is new. */
  readonly sweepIntervalMs: number;
  /** How much later than its time a sweep may begin, so that not all finders are asked at once. */
  readonly sweepJitterMs: number;
  /** How much later than its calendar says a pipeline may begin, each by a share of its own, so that not all begin at once. */
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
 * When to retry a revert or canary whose tasks do not come up: at growing intervals, so that weeks of retries fit into
 * one history.
 */
export const retryAfterMs = ({ revertRetryMs }: Pick<Settings, 'revertRetryMs'>, failures: number): number =>
  revertRetryMs * Math.min(failures, MAX_RETRY_FACTOR);
