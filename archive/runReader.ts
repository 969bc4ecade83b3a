import { whyUnsound, type ArchiveRow } from '../domain/archive/row';
import { rowKey, unreadRow } from '../domain/archive/rows';
import type { ArchivableRun, Endings } from './endings';

/** The number of unanswered attempts, by the key of the run. */
export type AskCounts = Map<string, number>;

/** After this many attempts without an answer, although workers run, a run counts as unreadable. */
const MAX_ASKED = 5;

/** When this many runs in a row get no answer at the start, no worker is running. */
const SILENT_RUNS = 3;

interface RunReadResult {
  readonly rows: readonly ArchiveRow[];
  /** Rows of runs with only a known end. */
  readonly poor: readonly ArchiveRow[];
  /** The reasons why some have to be read later. */
  readonly late: readonly unknown[];
}

/** Reads runs. An unreadable one does not block the others. */
export class RunReader {
  /** Runs of which no worker could report more than their end. */
  readonly unanswered: string[] = [];
  /** Runs of which not even the end could be read. */
  readonly unread: string[] = [];
  private answers = 0;

  /** @param asked unanswered attempts of earlier readers; without it a silent run is tried twice, if any run answers at all */
  constructor(
    private readonly endings: Endings,
    private readonly asked: AskCounts | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** @throws the error of a run if no worker is running, and the reason of the aborted signal */
  async read(group: readonly ArchivableRun[]): Promise<RunReadResult> {
    const [rows, poor, late]: [ArchiveRow[], ArchiveRow[], unknown[]] = [[], [], []];
    const failed: ArchivableRun[] = [];
    for (const one of group) {
      try {
        rows.push(...(await this.readRows(one)));
      } catch (error) {
        if (failed.length === 0) await this.requireWorker(error);
        failed.push(one);
        if (this.isAlone(failed.length, error)) throw error;
      }
    }
    for (const one of failed) {
      try {
        rows.push(...(await this.readRows(one)));
      } catch (error) {
        await this.requireWorker(error);
        if (this.mayAnswer(one, error)) late.push(error);
        else poor.push(...(await this.readMinimalRows(one, late)));
      }
    }
    return { rows, poor, late };
  }

  private async readRows(one: ArchivableRun): Promise<readonly ArchiveRow[]> {
    this.signal?.throwIfAborted();
    const rows = await one.rows();
    this.answers += 1;
    this.asked?.delete(rowKey(one));
    return requireSound(rows);
  }

  private async readMinimalRows(one: ArchivableRun, late: unknown[]): Promise<readonly ArchiveRow[]> {
    try {
      const rows = requireSound(await one.remains());
      this.unanswered.push(one.workflowId);
      this.asked?.delete(rowKey(one));
      return rows;
    } catch (error) {
      await this.requireWorker(error);
      if (this.mayAnswer(one, error)) {
        late.push(error);
        return [];
      }
      this.unread.push(one.workflowId);
      this.asked?.delete(rowKey(one));
      return [unreadRow(one, error instanceof Error ? error.message : String(error))];
    }
  }

  /** If Temporal or all workers are down, no run is to blame. */
  private async requireWorker(error: unknown): Promise<void> {
    this.signal?.throwIfAborted();
    if ((await this.endings.polledMs()) === null) throw error;
  }

  /** The last worker has gone, although Temporal still lists it: each run would be waited for. */
  private isAlone(failures: number, error: unknown): boolean {
    const isFirst = this.asked === undefined && this.answers === 0;
    return isFirst && failures >= SILENT_RUNS && this.endings.isUnanswered(error);
  }

  private mayAnswer(one: ArchivableRun, error: unknown): boolean {
    if (!this.endings.isUnanswered(error)) return false;
    if (this.asked === undefined) return this.answers === 0;
    const times = (this.asked.get(rowKey(one)) ?? 0) + 1;
    this.asked.set(rowKey(one), times);
    return times < MAX_ASKED;
  }
}

/** @throws Error if one of them would make the database refuse the whole transaction */
function requireSound(rows: readonly ArchiveRow[]): readonly ArchiveRow[] {
  for (const row of rows) {
    const why = whyUnsound(row);
    if (why !== undefined) throw new Error(why);
  }
  return rows;
}
