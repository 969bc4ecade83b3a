import type { Principal } from '../principals';
import type { PipelineSummary, ReleaseSummary } from '../views';

/** Finds pipelines (docs/design/workflows.md#finding-pipelines): by Temporal visibility in production, in memory in virtual-time tests. */
export interface PipelineIndex {
  /** Every pipeline that has an artifact from this finder, once. */
  subscriptions(finder: string): AsyncIterable<PipelineSubscriptions>;
  /** Names of the pipelines that carry all of these labels. */
  labelled(labels: Readonly<Record<string, string>>): AsyncIterable<string>;
  /** Releases that run or have succeeded, newest first. */
  releases(): AsyncIterable<IndexedRelease>;
  /** Every pipeline as lists show it, even if it has ended. */
  pipelines(): AsyncIterable<PipelineSummary>;
}

/** A release, with its inputs and its outputs so far. */
export interface IndexedRelease extends Pick<ReleaseSummary, 'id' | 'pipeline' | 'number' | 'startedAt' | 'artifacts'> {
  readonly runs: boolean;
  readonly owners: readonly Principal[];
}

/** The subscriptions of one pipeline to one finder. */
export interface PipelineSubscriptions {
  readonly pipeline: string;
  /** Missing if unknown. */
  readonly owners?: readonly Principal[];
  /** The time of its last change; ms since the epoch. */
  readonly subscribedAtMs: number;
  readonly subscriptions: readonly { readonly artifact: string; readonly with: Readonly<Record<string, unknown>> }[];
}

/** The memo of a pipeline's workflow that the index reads, under the key `subscriptions`. */
export interface SubscriptionsMemo {
  readonly atMs: number;
  /** By the name of the artifact; `manual` ones are left out, since they have no finder. */
  readonly artifacts: Readonly<
    Record<string, { readonly finder: string; readonly with: Readonly<Record<string, unknown>> }>
  >;
}
