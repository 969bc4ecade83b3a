import type { Build, BuildsView } from './builds';
import type { CertificateLook } from './certificates';
import type { WorkerClock } from './clocks';
import type { QueueBacklog } from './metrics';

/** An examination goes the whole way of work: Temporal writes it down, a worker takes it up, and asks all extensions that it knows. */

export interface ExaminationOrder {
  /** How long each extension has to answer. */
  readonly answerMs: number;
  /** How many looks there are at the clocks of workers; none by an older command line. */
  readonly clockLooks?: number;
}

/** What a worker's clock showed. */
export interface ClockLook {
  readonly identity: string;
  readonly atMs: number;
}

/** What a worker saw of one extension of its configuration. */
export interface ExtensionLook {
  /** As `conveyor.config.yaml` has it, such as `push-type`. */
  readonly kind: string;
  readonly name: string;
  /** Without what may be a secret. */
  readonly address: string;
  /** Why it counts as broken; null where it answered. */
  readonly trouble: string | null;
}

/** The result of the workflow. */
export interface Examination {
  readonly extensions: readonly ExtensionLook[];
  /** Of the workers that took a look; missing where none was asked for, and of workers of an older version. */
  readonly clocks?: readonly WorkerClock[];
}

export interface Poller {
  /** As Temporal's SDK names a worker: `<process id>@<host>`, unless it was told otherwise. */
  readonly identity: string;
  readonly build: Build;
  /** RFC 3339 */
  readonly lastPollAt: string;
}

/** How an examination went. */
export type ExaminationEnd =
  | {
      readonly kind: 'answered';
      readonly tookMs: number;
      readonly extensions: readonly ExtensionLook[];
      /** Push types that do not answer, and that no deploy has used as far back as Temporal remembers. */
      readonly unused: readonly string[];
      readonly clocks?: readonly WorkerClock[];
    }
  /** A worker answered, and refused it: it is of another version, or holds a key that we do not. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No worker answered in time; `takenBy` was the first that Temporal gave it to. */
  | { readonly kind: 'silent'; readonly withinMs: number; readonly takenBy: string | null }
  /** A worker began it, and asks the extensions for longer than they have to answer. */
  | { readonly kind: 'stuck'; readonly withinMs: number }
  | { readonly kind: 'unpolled' }
  /** Temporal answers, and did not write it down. */
  | { readonly kind: 'unwritten'; readonly reason: string }
  /** Temporal did not begin it, which does not show whether it stores: it throttles us or refuses us. */
  | { readonly kind: 'unbegun'; readonly reason: string };

/** Whether Temporal's lists follow what happens. */
export type ListingLook =
  | { readonly kind: 'listed' }
  /** It was in none so long after its start. */
  | { readonly kind: 'late'; readonly withinMs: number }
  | { readonly kind: 'silent'; readonly reason: string };

export interface ExaminationView {
  readonly taskQueue: string;
  /** Those that polled within two minutes. */
  readonly pollers: readonly Poller[];
  /** Of new work, if workers have builds. */
  readonly build?: Build;
  /** RFC 3339; of a worker that would get new work, where Temporal remembers one. */
  readonly lastPollAt: string | null;
  readonly end: ExaminationEnd;
  /** What waits for workers; empty where Temporal does not count. */
  readonly backlogs: readonly QueueBacklog[];
  /** How far Temporal's clock is ahead of ours, beyond the time that the question took; null where it did not say. */
  readonly clockAheadMs: number | null;
  readonly namespace: string;
  /** The search attributes of the namespace, each with its `temporal.api.enums.v1.IndexedValueType`; null where Temporal did not say. */
  readonly attributes: Readonly<Record<string, number>> | null;
  /** Null if no worker ever had a build, or Temporal did not say. */
  readonly builds: BuildsView | null;
  /** Whether a list showed it; null where it was not begun. */
  readonly listing: ListingLook | null;
  /** Those of the server that made the examination. */
  readonly certificates?: readonly CertificateLook[];
}
