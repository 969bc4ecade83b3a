import type { ArchiveRow } from '../../domain/archive/row';
import { DAY_MS, MINUTE_MS } from '../../domain/milliseconds';
import { collect } from '../../archive/collect';
import type { ArchivableRun, Endings } from '../../archive/endings';
import type { Archive, Mark } from '../../archive/port';
import { archived, HOUR_MS } from '../builders/archiveRows';

const NOW_MS = 30 * DAY_MS;

/** An archive in memory whose writes fail while `isDown`. */
class MemoryArchive implements Pick<Archive, 'write' | 'mark' | 'findKnown'> {
  readonly rows = new Map<string, ArchiveRow>();
  readonly writes: string[] = [];
  /** How often something was written, rows or not. */
  times = 0;
  isDown = false;
  private at: Mark | null = null;

  mark = () => Promise.resolve(this.at);
  findKnown = (keys: readonly string[]) => Promise.resolve(new Set(keys.filter((key) => this.rows.has(key))));
  write = (rows: readonly ArchiveRow[], mark: Mark, _seen: Mark | null, how: string = 'keep') => {
    if (this.isDown) return Promise.reject(new Error('no space left'));
    this.times += 1;
    for (const row of rows) {
      this.writes.push(row.key);
      if (how === 'replace' || !this.rows.has(row.key)) this.rows.set(row.key, row);
    }
    this.at = mark;
    return Promise.resolve();
  };
}

interface Ended {
  readonly number: number;
  readonly closedMs: number;
  /** The number of unanswered reads. */
  failures?: number;
  /** The rest of it cannot be read either. */
  readonly isGone?: boolean;
}

class NoAnswer extends Error {}

/** Ended workflows, with a last poll of a worker at `polledMs`; null where there is none. */
function endingsOf(ended: readonly Ended[], polledMs: number | null = null, failure: Error = new NoAnswer('silence')) {
  const closed = (one: Ended): ArchivableRun => {
    const { number, closedMs } = one;
    const rows = archived(number, { endedMs: closedMs }).filter(({ kind }) => kind !== 'deploy');
    return {
      ...{ workflowId: `release/kvstore/${number}`, runId: 'run', closedMs },
      rows: () => {
        if ((one.failures ?? 0) === 0) return Promise.resolve(rows);
        one.failures = (one.failures ?? 0) - 1;
        return Promise.reject(failure);
      },
      remains: () => (one.isGone ? Promise.reject(new Error('no\0 input')) : Promise.resolve(rows.slice(0, 1))),
    };
  };
  return {
    origin: () => Promise.resolve({ name: 'default/a', retentionMs: 7 * DAY_MS }),
    polledMs: () => Promise.resolve(polledMs),
    isUnanswered: (error) => error instanceof NoAnswer,
    closed: async function* (sinceMs, untilMs) {
      for (const one of ended) if (one.closedMs >= sinceMs && one.closedMs < untilMs) yield closed(one);
    },
  } satisfies Endings;
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
    expect(first).toEqual({ rows: 300, unanswered: [], unread: [], readUntilMs: NOW_MS });
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
    await expect(collect(archiveOf(memory), endingsOf(ended), NOW_MS)).rejects.toThrow('silence');
    expect(releases(memory)).toEqual([]);
    await collect(archiveOf(memory), endingsOf(ended), NOW_MS + DAY_MS);
    expect(releases(memory)).toEqual([1]);
  });

  test('is not kept from the others by an unreadable one: that one has its remaining fields, or a placeholder', async () => {
    const memory = new MemoryArchive();
    const ended: Ended[] = [
      { number: 1, closedMs: NOW_MS - HOUR_MS, failures: 9 },
      { number: 2, closedMs: NOW_MS - HOUR_MS },
      { number: 3, closedMs: NOW_MS - HOUR_MS, failures: 9, isGone: true },
    ];
    const endings = endingsOf(ended, NOW_MS, new Error('nondeterminism'));
    expect(await collect(archiveOf(memory), endings, NOW_MS)).toMatchObject({
      ...{ rows: 4, unanswered: ['release/kvstore/1'], unread: ['release/kvstore/3'], readUntilMs: NOW_MS },
    });
    expect(memory.rows.get('release/kvstore/3@run')).toMatchObject({
      ...{ kind: 'unread', pipeline: 'kvstore', release: 3, endedMs: NOW_MS - HOUR_MS, cause: 'no\\u0000 input' },
    });
    expect(await collect(archiveOf(memory), endings, NOW_MS + 1)).toMatchObject({ rows: 0, unread: [] });
  });

  test.each<[string, Partial<ArchiveRow>]>([
    ['a time that is none', { startedMs: NaN }],
    ['half a millisecond', { startedMs: 0.5 }],
    ['a number that is too large', { parts: 2 ** 31 }],
    ['a text with a null character', { category: 'a\0b' }],
  ])('keeps a place for one with %s, which would keep all others from a database', async (_, patch) => {
    const memory = new MemoryArchive();
    const { closed, ...endings } = endingsOf(
      [1, 2].map((number) => ({ number, closedMs: NOW_MS - HOUR_MS })),
      NOW_MS,
    );
    const unsound: Endings = {
      ...endings,
      closed: async function* (...span) {
        for await (const one of closed(...span)) {
          const rows = async () => archived(1, patch);
          yield one.workflowId.endsWith('/1') ? { ...one, rows, remains: rows } : one;
        }
      },
    };
    expect(await collect(archiveOf(memory), unsound, NOW_MS)).toMatchObject({ unread: ['release/kvstore/1'] });
    expect(releases(memory)).toEqual([2]);
  });

  test('waits for the only one that ended and does not answer, and after five times has what is left of it', async () => {
    const memory = new MemoryArchive();
    const ended: Ended[] = [{ number: 1, closedMs: NOW_MS - HOUR_MS, failures: 99 }];
    const asked = new Map<string, number>();
    const look = () => collect(archiveOf(memory), endingsOf(ended, NOW_MS), NOW_MS, { asked });
    for (let nth = 1; nth < 5; nth += 1) await expect(look()).rejects.toThrow('silence');
    expect(releases(memory)).toEqual([]);
    expect(asked.size).toBe(1);
    expect(await look()).toMatchObject({ unanswered: ['release/kvstore/1'], readUntilMs: NOW_MS });
    expect(asked.size).toBe(0);
  });

  test('gives up on none while no worker is there, however often it looks', async () => {
    const memory = new MemoryArchive();
    const endings = endingsOf([{ number: 1, closedMs: NOW_MS - HOUR_MS, failures: 99 }]);
    const asked = new Map<string, number>();
    for (let nth = 1; nth < 9; nth += 1)
      await expect(collect(archiveOf(memory), endings, NOW_MS, { asked })).rejects.toThrow('silence');
    expect(memory.rows.size).toBe(0);
  });

  test('loses nothing for a worker whose clock is ahead: its mark is of Temporal', async () => {
    const memory = new MemoryArchive();
    await collect(archiveOf(memory), endingsOf([], NOW_MS), NOW_MS + 5 * DAY_MS);
    expect(await memory.mark()).toMatchObject({ readUntilMs: NOW_MS });
    const ended = [{ number: 1, closedMs: NOW_MS + HOUR_MS }];
    await collect(archiveOf(memory), endingsOf(ended, NOW_MS + DAY_MS), NOW_MS + DAY_MS);
    expect(releases(memory)).toEqual([1]);
  });

  test('reads all that Temporal has where its mark is ahead of the present', async () => {
    const memory = new MemoryArchive();
    await memory.write([], { origin: 'default/a', readUntilMs: NOW_MS + 5 * DAY_MS }, null);
    const ended = [{ number: 1, closedMs: NOW_MS - DAY_MS }];
    expect(await collect(archiveOf(memory), endingsOf(ended, NOW_MS), NOW_MS)).toMatchObject({ rows: 2 });
    expect(await memory.mark()).toMatchObject({ readUntilMs: NOW_MS });
  });

  test('asks a server a few times for all the days in which nothing ended, and not four times for each of them', async () => {
    const memory = new MemoryArchive();
    const { closed, ...endings } = endingsOf([{ number: 1, closedMs: NOW_MS - HOUR_MS }], NOW_MS);
    const asked: [number, number][] = [];
    const counted: Endings = { ...endings, closed: (...span) => (asked.push(span), closed(...span)) };
    expect(await collect(archiveOf(memory), counted, NOW_MS)).toMatchObject({ rows: 2, readUntilMs: NOW_MS });
    expect(asked.length).toBeLessThanOrEqual(8);
    for (const [nth, [from]] of asked.entries()) if (nth > 0) expect(from).toBeLessThan(asked[nth - 1]![1]);
  });

  test('ends between two runs when its worker shuts down, and continues there', async () => {
    const memory = new MemoryArchive();
    const over = new AbortController();
    const ended = [1, 2, 3].map((number) => ({ number, closedMs: NOW_MS - number * 2 * DAY_MS }));
    const { closed, ...endings } = endingsOf([...ended].reverse());
    const cut: Endings = {
      ...endings,
      closed: async function* (...span) {
        for await (const one of closed(...span)) {
          if (one.workflowId.endsWith('2')) over.abort(new Error('shut down'));
          yield one;
        }
      },
    };
    const { signal } = over;
    await expect(collect(archiveOf(memory), cut, NOW_MS, { signal })).rejects.toThrow('shut down');
    expect(releases(memory)).toEqual([3]);
    await collect(archiveOf(memory), endingsOf(ended), NOW_MS);
    expect(releases(memory).sort()).toEqual([1, 2, 3]);
  });
});

describe('reading an archive again', () => {
  test('replaces what Temporal still has, and keeps the rest; where Temporal is gone it keeps all', async () => {
    const memory = new MemoryArchive();
    const [old, wrong, lost] = [30, 1, 2].map((number) =>
      archived(number, { endedMs: 5, state: 'failed' }).slice(0, 1),
    );
    await memory.write(
      [...(old ?? []), ...(wrong ?? []), ...(lost ?? [])],
      { origin: 'default/a', readUntilMs: NOW_MS },
      null,
    );
    const before = [...memory.rows.values()];
    const gone = { ...endingsOf([]), origin: () => Promise.reject(new Error('Temporal is gone')) };
    await expect(collect(archiveOf(memory), gone, NOW_MS, { again: true })).rejects.toThrow('gone');
    expect([...memory.rows.values()]).toEqual(before);
    const ended = [
      { number: 1, closedMs: NOW_MS - DAY_MS },
      { number: 2, closedMs: NOW_MS - DAY_MS, failures: 9, isGone: true },
    ];
    const collected = await collect(archiveOf(memory), endingsOf(ended, NOW_MS), NOW_MS, { again: true });
    expect(collected).toMatchObject({ unread: ['release/kvstore/2'] });
    const states = [30, 1, 2].map((number) => memory.rows.get(`release/kvstore/${number}@run`)?.state);
    expect(states).toEqual(['failed', 'succeeded', 'failed']);
  });

  test('ends soon where the last worker has just gone: each run would be waited for', async () => {
    const ended = Array.from({ length: 40 }, (_, nth) => ({ number: nth + 1, closedMs: NOW_MS - DAY_MS, failures: 9 }));
    const memory = new MemoryArchive();
    const again = collect(archiveOf(memory), endingsOf(ended, NOW_MS), NOW_MS, { again: true });
    await expect(again).rejects.toThrow('silence');
    expect(ended.filter(({ failures }) => failures < 9)).toHaveLength(3);
    expect(memory.times).toBe(0);
  });
});
