import type { ArchiveRow } from '../domain/archive/row';
import { rowKey } from '../domain/archive/rows';
import { splitPortions } from '../domain/portions';
import { DAY_MS, MINUTE_MS } from '../domain/milliseconds';
import type { ArchivableRun, Endings } from './endings';
import type { Archive, Mark } from './port';
import { RunReader, type AskCounts } from './runReader';

export interface CollectionResult {
  readonly rows: number;
  /** Releases and deploys whose end is all that workers know. */
  readonly unanswered: readonly string[];
  /** Releases and deploys whose end could not be read either. */
  readonly unread: readonly string[];
  readonly readUntilMs: number;
}

export interface CollectOptions {
  /** Stops the collection between two runs; a write in progress is finished. */
  readonly signal?: AbortSignal;
  /** Reads everything in Temporal again, and replaces existing rows. */
  readonly again?: boolean;
  readonly asked?: AskCounts;
}

/**
 * Visibility lags by a second or so, and workers poll once a minute, so runs closed within this time are searched
 * again.
 */
const OVERLAP_MS = 10 * MINUTE_MS;
/** The mark moves after each stretch in which something closed, so that an interrupted collection rereads little. */
const STRETCH_MS = DAY_MS / 4;
/** The length of a stretch after several in which nothing closed. */
const LONGEST_STRETCH_MS = 4 * DAY_MS;
const RUNS_AT_ONCE = 50;

/**
 * Brings an archive up to date: reads runs closed since its mark, in stretches, and writes their results. Rows are
 * written before the mark moves past them, and existing rows are left alone, so a kill in between loses and duplicates
 * nothing. The mark is a time of Temporal's clock; `nowMs` is used only if that is unknown. @throws ConveyorError of
 * the archive, and errors of reading; then the next call continues from the mark
 */
export async function collect(
  archive: Archive,
  endings: Endings,
  nowMs: number,
  { signal, again = false, asked }: CollectOptions = {},
): Promise<CollectionResult> {
  const { name: origin, retentionMs } = await endings.origin();
  const presentMs = (await endings.polledMs()) ?? nowMs;
  let seen = await archive.mark();
  const write = async (rows: readonly ArchiveRow[], readUntilMs: number, how: 'keep' | 'replace'): Promise<void> => {
    signal?.throwIfAborted();
    await archive.write(rows, { origin, readUntilMs }, seen, how);
    seen = { origin, readUntilMs };
  };
  const reader = new RunReader(endings, asked, signal);
  let readUntilMs = chooseStart(again ? null : seen, presentMs, presentMs - retentionMs - DAY_MS);
  let count = 0;
  let stretchMs = STRETCH_MS;
  do {
    const isLast = readUntilMs + stretchMs >= presentMs;
    const untilMs = isLast ? presentMs : readUntilMs + stretchMs;
    let isEmpty = true;
    // The last poll was some time ago.
    const closed = endings.closed(readUntilMs - OVERLAP_MS, isLast ? presentMs + OVERLAP_MS : untilMs);
    for await (const portion of splitPortions(closed, RUNS_AT_ONCE)) {
      const { rows, poor, late } = await reader.read(again ? portion : await findUnarchived(archive, portion));
      // The mark stays: the rest of the stretch is not written yet.
      await write(rows, readUntilMs, again ? 'replace' : 'keep');
      if (poor.length > 0) await write(poor, readUntilMs, 'keep');
      if (late.length > 0) throw late[0];
      count += rows.length + poor.length;
      isEmpty = false;
    }
    readUntilMs = Math.max(readUntilMs, untilMs);
    // A server answers ten lists a second; ninety empty days are not worth 360 of them.
    stretchMs = isEmpty ? Math.min(2 * stretchMs, LONGEST_STRETCH_MS) : STRETCH_MS;
    // Opening an archive takes longer than reading a stretch in which nothing closed.
    if (!isEmpty || isLast) await write([], readUntilMs, 'keep');
  } while (readUntilMs < presentMs);
  return { rows: count, unanswered: reader.unanswered, unread: reader.unread, readUntilMs };
}

/** A mark ahead of Temporal's clock was written under a wrong clock, so it proves nothing. */
function chooseStart(mark: Mark | null, presentMs: number, oldestMs: number): number {
  if (mark === null || mark.readUntilMs > presentMs + OVERLAP_MS) return oldestMs;
  return Math.max(mark.readUntilMs, oldestMs);
}

/** The runs that are not in the archive. */
async function findUnarchived(archive: Archive, group: readonly ArchivableRun[]): Promise<readonly ArchivableRun[]> {
  const known = await archive.findKnown(group.map((one) => rowKey(one)));
  return group.filter((one) => !known.has(rowKey(one)));
}
