import type { Build, BuildsView } from './builds';
import type { CertificateLook } from './certificates';
import type { WorkerClock } from './clocks';
import type { QueueBacklog } from './metrics';

/**
 * An examination takes the same path as real work: Temporal stores it, and a worker picks it up and asks all extensions
 * that it knows.
 */

export interface ExaminationOrder {
  /** The time that each extension has to answer. */
  readonly answerMs: number;
  /** The number of looks at the clocks of workers; missing from an older command line. */
  readonly clockLooks?: number;
}

/** The time on a worker's clock. */
export interface ClockLook {
  readonly identity: string;
  readonly atMs: number;
}

/** A worker's view of one extension in its configuration. */
export interface ExtensionLook {
  /** The kind in `conveyor.config.yaml`, such as `push-type`. */
  readonly kind: string;
  readonly name: string;
  /** Without possible secrets. */
  readonly address: string;
  /** The reason why it counts as broken; null if it answered. */
  readonly trouble: string | null;
}

/** The result of the workflow. */
export interface Examination {
  readonly extensions: readonly ExtensionLook[];
  /** The clocks of the workers that answered; missing if none were requested, or the workers have an older version. */
  readonly clocks?: readonly WorkerClock[];
}

export interface Poller {
  /** The name of a worker in Temporal's SDK: `<process id>@<host>` by default. */
  readonly identity: string;
  readonly build: Build;
  /** RFC 3339 */
  readonly lastPollAt: string;
}

/** The result of an examination. */
export type ExaminationEnd =
  | {
      readonly kind: 'answered';
      readonly tookMs: number;
      readonly extensions: readonly ExtensionLook[];
      /** Push types that do not answer and that no deploy in Temporal's retention has used. */
      readonly unused: readonly string[];
      readonly clocks?: readonly WorkerClock[];
    }
  /** A worker answered with a refusal: it has another version, or a key that we lack. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No worker answered in time; Temporal gave it to `takenBy` first. */
  | { readonly kind: 'silent'; readonly withinMs: number; readonly takenBy: string | null }
  /** A worker began it, and is still asking the extensions after their time to answer is over. */
  | { readonly kind: 'stuck'; readonly withinMs: number }
  | { readonly kind: 'unpolled' }
  /** Temporal answers, but did not store it. */
  | { readonly kind: 'unwritten'; readonly reason: string }
  /** Temporal refused or throttled it, so it is not known whether Temporal can store anything. */
  | { readonly kind: 'unbegun'; readonly reason: string };

/** Lists that lag by less are a warning: an index may be busy for a moment. */
export const LISTS_BEHIND_MS = 15_000;

/** Whether Temporal's lists are up to date. */
export type ListingLook =
  | { readonly kind: 'listed' }
  /** No list had it, this long after its start; a later one may have. */
  | { readonly kind: 'late'; readonly withinMs: number }
  | { readonly kind: 'silent'; readonly reason: string };

/** A question outside the examination that Temporal did not answer: its subject is unknown. */
export interface UnansweredQuestion {
  readonly subject: 'backlogs' | 'builds' | 'search attributes';
  readonly reason: string;
}

export interface ExaminationView {
  readonly taskQueue: string;
  /** Workers that polled within two minutes. */
  readonly pollers: readonly Poller[];
  /** The build that gets new work, if workers have builds. */
  readonly build?: Build;
  /** RFC 3339; the last poll of a worker that would get new work, if Temporal remembers one. */
  readonly lastPollAt: string | null;
  readonly end: ExaminationEnd;
  /** Work that waits for workers; empty if Temporal does not count it. */
  readonly backlogs: readonly QueueBacklog[];
  /**
   * The time by which Temporal's clock is ahead of ours, beyond the duration of the request; null if Temporal did not
   * say.
   */
  readonly clockAheadMs: number | null;
  readonly namespace: string;
  /**
   * The search attributes of the namespace, each with its `temporal.api.enums.v1.IndexedValueType`; null if Temporal
   * did not say.
   */
  readonly attributes: Readonly<Record<string, number>> | null;
  /** Null if no worker ever had a build, or Temporal did not say. */
  readonly builds: BuildsView | null;
  /** Whether a list showed it; null if it was not begun. */
  readonly listing: ListingLook | null;
  /** Missing if Temporal answered all, or the server has an older version. */
  readonly unanswered?: readonly UnansweredQuestion[];
  /** The certificates of the server that made the examination. */
  readonly certificates?: readonly CertificateLook[];
}
