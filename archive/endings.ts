import type { ArchiveRow } from '../domain/archive/row';
import type { ClosedRun } from '../domain/archive/rows';

/** A release or deploy that Temporal has closed. */
export interface ArchivableRun extends ClosedRun {
  /** The rows to archive. @throws an error if they cannot be read, or not yet */
  rows(): Promise<readonly ArchiveRow[]>;
  /** The little that can be archived without a worker. @throws as `rows` */
  remains(): Promise<readonly ArchiveRow[]>;
}

/** Closed runs, as Temporal lists them. */
export interface Endings {
  /** The Temporal namespace, and its retention in ms. */
  origin(): Promise<{ readonly name: string; readonly retentionMs: number }>;
  /** When a worker last asked Temporal for work, by Temporal's clock, ms since the epoch; null if none did lately. */
  polledMs(): Promise<number | null>;
  /** Runs closed in a period, in ms since the epoch, the end excluded. */
  closed(sinceMs: number, untilMs: number): AsyncIterable<ArchivableRun>;
  /** Whether an error means that no worker answered, in which case a later attempt may succeed. */
  isUnanswered(error: unknown): boolean;
}
