import type { Principal } from '../principals';
import type { PipelineSummary, ReleaseSummary } from '../views';

/** Looking pipelines up (docs/design/workflows.md#finding-pipelines): Temporal visibility in production, memory in virtual-time tests. */
export interface PipelineIndex {
  /** Every pipeline that has an artifact from this finder, once. */
  subscriptions(finder: string): AsyncIterable<PipelineSubscriptions>;
  /** Names of the pipelines that carry all of these labels. */
  labelled(labels: Readonly<Record<string, string>>): AsyncIterable<string>;
  /** Releases that run or have succeeded, newest first. */
  releases(): AsyncIterable<IndexedRelease>;
  /** Every pipeline as lists show it, also one that has ended. */
  pipelines(): AsyncIterable<PipelineSummary>;
}

/** A release, with what it was given and what it has made so far. */
export interface IndexedRelease extends Pick<ReleaseSummary, 'id' | 'pipeline' | 'number' | 'startedAt' | 'artifacts'> {
  readonly runs: boolean;
  readonly owners: readonly Principal[];
}

/** What one pipeline wants of one finder. */
export interface PipelineSubscriptions {
  readonly pipeline: string;
  /** Missing where nobody knows. */
  readonly owners?: readonly Principal[];
  /** When it last changed its mind; ms since the epoch. */
  readonly subscribedAtMs: number;
  readonly subscriptions: readonly { readonly artifact: string; readonly with: Readonly<Record<string, unknown>> }[];
}

/** The memo of a pipeline's workflow by which the index finds out, under the key `subscriptions`. */
export interface SubscriptionsMemo {
  readonly atMs: number;
  /** By the name of the artifact; `manual` ones are left out, since nothing looks for them. */
  readonly artifacts: Readonly<
    Record<string, { readonly finder: string; readonly with: Readonly<Record<string, unknown>> }>
  >;
}
