import type { ArchiveRow } from '../../../domain/archive/row';
import { DAY_MS, MINUTE_MS } from '../../../domain/milliseconds';
import { collect, type Closed, type Endings } from '../../../platform/archive/collect';
import type { Archive, Mark } from '../../../platform/archive/port';
import { archived, HOUR_MS } from '../../builders/archiveRows';

const NOW_MS = 30 * DAY_MS;

/** An archive in memory whose writes fail while `isDown`. */
class MemoryArchive implements Pick<Archive, 'write' | 'mark' | 'known'> {
  readonly rows = new Map<string, ArchiveRow>();
  readonly writes: string[] = [];
  /** How often something was written, rows or not. */
  times = 0;
  isDown = false;
  private at: Mark | null = null;

  mark = () => Promise.resolve(this.at);
  known = (keys: readonly string[]) => Promise.resolve(new Set(keys.filter((key) => this.rows.has(key))));
  write = (rows: readonly ArchiveRow[], mark: Mark) => {
    if (this.isDown) return Promise.reject(new Error('no space left'));
    this.times += 1;
    for (const row of rows) {
      this.writes.push(row.key);
      if (!this.rows.has(row.key)) this.rows.set(row.key, row);
    }
    this.at = mark;
    return Promise.resolve();
  };
}

interface Ended {
  readonly number: number;
  readonly closedMs: number;
  /** How often nobody answers. */
  failures?: number;
}

function endingsOf(ended: readonly Ended[]): Endings {
  const closed = (one: Ended): Closed => {
    const { number, closedMs } = one;
    const rows = archived(number, { endedMs: closedMs }).filter(({ kind }) => kind !== 'deploy');
    return {
      ...{ workflowId: `release/kvstore/${number}`, runId: 'run' },
      rows: () => {
        if ((one.failures ?? 0) === 0) return Promise.resolve(rows);
        one.failures = (one.failures ?? 0) - 1;
        return Promise.reject(new Error('no worker'));
      },
      remains: () => Promise.resolve(rows.slice(0, 1)),
    };
  };
  return {
    origin: () => Promise.resolve({ name: 'default/a', retentionMs: 7 * DAY_MS }),
    closed: async function* (sinceMs, untilMs) {
      for (const one of ended) if (one.closedMs >= sinceMs && one.closedMs < untilMs) yield closed(one);
    },
  };
}

const archiveOf = (memory: MemoryArchive) => memory as unknown as Archive;
const releases = ({ rows }: MemoryArchive): number[] =>
  [...rows.values()].flatMap(({ kind, release }) => (kind === 'release' ? [release] : []));

describe('bringing an archive up to date', () => {
  test('reads as far back as Temporal keeps histories, and each run once', async () => {
    const memory = new MemoryArchive();
    const ended = Array.from({ length: 150 }, (_, nth) => ({
      number: nth + 1,
      closedMs: NOW_MS - (nth + 1) * HOUR_MS,
    }));
    const first = await collect(archiveOf(memory), endingsOf(ended), NOW_MS);
    expect(first).toEqual({ rows: 300, unanswered: [], readUntilMs: NOW_MS });
    expect(releases(memory)).toHaveLength(150);
    expect(await collect(archiveOf(memory), endingsOf(ended), NOW_MS + MINUTE_MS)).toMatchObject({ rows: 0 });
    expect(memory.writes).toHaveLength(300);
  });

  test('writes once where nothing closed for long: an archive is not opened for each quarter of a day', async () => {
    const memory = new MemoryArchive();
    await collect(archiveOf(memory), endingsOf([]), NOW_MS);
    expect([memory.times, (await memory.mark())?.readUntilMs]).toEqual([1, NOW_MS]);
  });

  test('finds what visibility showed late', async () => {
    const memory = new MemoryArchive();
    await collect(archiveOf(memory), endingsOf([]), NOW_MS);
    await collect(archiveOf(memory), endingsOf([{ number: 1, closedMs: NOW_MS - 9 * MINUTE_MS }]), NOW_MS + 1000);
    expect(releases(memory)).toEqual([1]);
  });

  test('delivers later what an archive could not take, and what no worker could answer for', async () => {
    const memory = new MemoryArchive();
    const ended: Ended[] = [{ number: 1, closedMs: NOW_MS - HOUR_MS, failures: 1 }];
    memory.isDown = true;
    await expect(collect(archiveOf(memory), endingsOf([]), NOW_MS)).rejects.toThrow('no space left');
    memory.isDown = false;
    await expect(collect(archiveOf(memory), endingsOf(ended), NOW_MS)).rejects.toThrow('no worker');
    expect(releases(memory)).toEqual([]);
    await collect(archiveOf(memory), endingsOf(ended), NOW_MS + DAY_MS);
    expect(releases(memory)).toEqual([1]);
  });

  test('is not kept from the others by one that nobody can answer for: of that it has what is left', async () => {
    const memory = new MemoryArchive();
    const ended: Ended[] = [
      { number: 1, closedMs: NOW_MS - HOUR_MS, failures: 9 },
      { number: 2, closedMs: NOW_MS - HOUR_MS },
    ];
    const collected = await collect(archiveOf(memory), endingsOf(ended), NOW_MS);
    expect(collected).toMatchObject({ rows: 3, unanswered: ['release/kvstore/1'] });
    expect(releases(memory).sort()).toEqual([1, 2]);
  });
});
