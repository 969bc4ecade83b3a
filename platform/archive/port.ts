import type { ArchiveRow } from '../../domain/archive/row';
import type { Grouping, Tallies } from '../../domain/stats/tallies';

/** How far everything that ended was read, and of which Temporal namespace; ms since the epoch. */
export interface Mark {
  readonly origin: string;
  readonly readUntilMs: number;
}

/** Which rows count: those that ended in this time, ms since the epoch, the end excluded. */
export interface StatsQuery {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly by: Grouping;
}

/**
 * Where the ends of releases and deploys are kept for statistics, for longer than pipelines and Temporal remember them.
 * Everything throws ConveyorError `archive-unavailable`, which is worth another try, or `archive-unusable`.
 */
export interface Archive {
  /**
   * Writes rows and the new mark in one transaction. An existing row stays as it is unless `how` is `replace`, so that a caller that is unsure writes
   * again. `seen` is the mark from which the caller continues; the mark may move back only if it still equals that.
   * @throws `archive-foreign` where another namespace writes; `archive-unavailable` where the archive has less than `seen`: it was emptied meanwhile,
   * and the missing part would never be read again
   */
  write(rows: readonly ArchiveRow[], mark: Mark, seen: Mark | null, how?: 'keep' | 'replace'): Promise<void>;
  /** Null while nothing was written. */
  mark(): Promise<Mark | null>;
  /** Which of these keys there are. */
  findKnown(keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** How many rows it has. */
  size(): Promise<number>;
  /** Drops what ended before. */
  expire(beforeMs: number): Promise<void>;
  tallies(span: StatsQuery): Promise<Tallies>;
}
