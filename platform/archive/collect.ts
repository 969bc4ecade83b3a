import type { ArchiveRow } from '../../domain/archive/row';
import { rowKey } from '../../domain/archive/rows';
import { DAY_MS, MINUTE_MS } from '../../domain/milliseconds';
import type { Archive } from './port';

/** A release or deploy that Temporal has closed. */
export interface Closed {
  readonly workflowId: string;
  readonly runId: string;
  /** What is archived of it. @throws what may go well another time, such as that no worker answers */
  rows(): Promise<readonly ArchiveRow[]>;
  /** The little that can be archived where no worker can say more. */
  remains(): Promise<readonly ArchiveRow[]>;
}

/** What has ended, as Temporal knows it. */
export interface Endings {
  /** Which Temporal namespace this is, and for how long it keeps histories, ms. */
  origin(): Promise<{ readonly name: string; readonly retentionMs: number }>;
  /** Those closed in a time, ms since the epoch, the end excluded. */
  closed(sinceMs: number, untilMs: number): AsyncIterable<Closed>;
}

export interface Collected {
  readonly rows: number;
  /** Releases and deploys of which no worker could say more than that they ended. */
  readonly unanswered: readonly string[];
  readonly readUntilMs: number;
}

/** Visibility is behind by a second or so, and clocks differ: what closed this long ago is looked for once more. */
const OVERLAP_MS = 10 * MINUTE_MS;
/** The mark moves after each in which something closed, so that whoever was killed has little to read again. */
const STRETCH_MS = DAY_MS / 4;
const RUNS_AT_ONCE = 50;

/**
 * Brings an archive up to date: reads what has closed since its mark, in stretches, and writes what each came to. Rows are written before
 * the mark moves past them, and a row that is there already is left alone. A kill in between loses nothing and doubles nothing.
 * @throws ConveyorError of the archive, and what reading throws; then the next call continues from the mark
 */
export async function collect(archive: Archive, endings: Endings, nowMs: number): Promise<Collected> {
  const { name: origin, retentionMs } = await endings.origin();
  const mark = await archive.mark();
  let seen = mark;
  const write = async (rows: readonly ArchiveRow[], readUntilMs: number): Promise<void> => {
    await archive.write(rows, { origin, readUntilMs }, seen);
    seen = { origin, readUntilMs };
  };
  const oldestMs = nowMs - retentionMs - DAY_MS;
  let readUntilMs = Math.max(mark?.readUntilMs ?? oldestMs, oldestMs);
  let rows = 0;
  const unanswered: string[] = [];
  do {
    const untilMs = Math.min(readUntilMs + STRETCH_MS, nowMs);
    let isEmpty = true;
    for await (const group of inGroups(endings.closed(readUntilMs - OVERLAP_MS, untilMs))) {
      const found = await rowsOf(archive, group);
      // As far as before: the rest of the stretch is not written yet.
      await write(found.rows, readUntilMs);
      rows += found.rows.length;
      isEmpty = false;
      unanswered.push(...found.unanswered);
    }
    readUntilMs = Math.max(readUntilMs, untilMs);
    // Opening an archive takes longer than reading a stretch in which nothing closed.
    if (!isEmpty || readUntilMs >= nowMs) await write([], readUntilMs);
  } while (readUntilMs < nowMs);
  return { rows, unanswered, readUntilMs };
}

/** Rows of those that are not in the archive. */
async function rowsOf(
  archive: Archive,
  group: readonly Closed[],
): Promise<Pick<Collected, 'unanswered'> & { rows: ArchiveRow[] }> {
  const known = await archive.known(group.map((one) => rowKey(one)));
  const rows: ArchiveRow[] = [];
  const failed: { readonly one: Closed; readonly error: unknown }[] = [];
  let answers = 0;
  for (const one of group.filter((each) => !known.has(rowKey(each)))) {
    try {
      rows.push(...(await one.rows()));
      answers += 1;
    } catch (error) {
      failed.push({ one, error });
    }
  }
  const unanswered: string[] = [];
  for (const { one, error } of failed) {
    // Where others are answered, it is this one that cannot be; where none is, there may be no worker.
    if (answers === 0) throw error;
    rows.push(...(await one.rows().catch(() => (unanswered.push(one.workflowId), one.remains()))));
  }
  return { rows, unanswered };
}

async function* inGroups(closed: AsyncIterable<Closed>): AsyncGenerator<readonly Closed[]> {
  let group: Closed[] = [];
  for await (const one of closed) {
    group.push(one);
    if (group.length < RUNS_AT_ONCE) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
