import type { ArchiveRow } from '../domain/archive/row';
import type { ArchivedRelease } from '../domain/where/archived';
import type { Grouping, Tallies } from '../domain/stats/tallies';

/** The time up to which ended runs have been read (ms since the epoch), and the Temporal namespace. */
export interface Mark {
  readonly origin: string;
  readonly readUntilMs: number;
}

/** The period in which counted rows ended, in ms since the epoch, the end excluded. */
export interface StatsQuery {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly by: Grouping;
}

/**
 * The store of ended releases and deploys for statistics, which keeps them longer than pipelines and Temporal do. All
 * methods throw ConveyorError `archive-unavailable`, which is worth a retry, or `archive-unusable`.
 */
export interface Archive {
  /**
   * Writes rows and the new mark in one transaction. An existing row stays as it is unless `how` is `replace`, so an
   * unsure caller can write again. `seen` is the mark from which the caller continues; the mark may move back only if
   * it still equals that.
   * @throws `archive-foreign` if another namespace writes; `archive-unavailable` if the archive has less than `seen`:
   * it was emptied meanwhile, and the missing part would never be read again
   */
  write(rows: readonly ArchiveRow[], mark: Mark, seen: Mark | null, how?: 'keep' | 'replace'): Promise<void>;
  /** Null if nothing was written yet. */
  mark(): Promise<Mark | null>;
  /** The existing ones of these keys. */
  findKnown(keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** The number of rows. */
  size(): Promise<number>;
  /** Drops rows that ended before this time. */
  expire(beforeMs: number): Promise<void>;
  tallies(span: StatsQuery): Promise<Tallies>;
  /** Releases whose artifacts contain a text in lower case, newest first; none of those that an older worker archived. */
  findReleases(text: string, most: number): Promise<readonly ArchivedRelease[]>;
}
