import { unreadRow } from '../../domain/archive/rows';
import { ARCHIVE_LIMITS } from '../../domain/limits';
import type { Archive } from '../../archive/port';
import { archived, HOUR_MS } from '../builders/archiveRows';

export const ALL = { sinceMs: 0, untilMs: 1e12, by: 'category' } as const;
export const mark = (readUntilMs: number) => ({ origin: 'default/a', readUntilMs });

/**
 * The contract of an archive, wherever it is. `open` opens the same one again, empty at the beginning of each test; `lose`
 * makes it as if it had never been.
 */
export function archiveContract(open: () => Archive, lose: () => Promise<void>): void {
  test('is empty before anything was written, and reading is not an error', async () => {
    const archive = open();
    expect(await archive.mark()).toBeNull();
    expect(await archive.findKnown(['a'])).toEqual(new Set());
    expect((await archive.tallies(ALL)).releases).toEqual([]);
    expect(await archive.findReleases('a', 10)).toEqual([]);
  });

  test('has each row once however often it is written, also in one batch, and how far it was read', async () => {
    const rows = [...archived(1), ...archived(2), ...archived(1)];
    await open().write(rows, mark(5), null);
    await open().write(rows, mark(7), null);
    const archive = open();
    expect(await archive.mark()).toEqual(mark(7));
    expect((await archive.tallies(ALL)).releases).toEqual([
      { category: 'regular', state: 'succeeded', cause: null, count: 2 },
    ]);
    expect(await archive.findKnown([...rows.map(({ key }) => key), 'else'])).toEqual(
      new Set(rows.map(({ key }) => key)),
    );
  });

  test('finds releases by a text in their artifacts, newest first, whatever is in it', async () => {
    const archive = open();
    const having = (revision: string) => ({ artifacts: JSON.stringify([{ name: 'source', version: revision }]) });
    await archive.write(
      [1, 2, 3].flatMap((n) => archived(n, having(n === 2 ? `it's 100%_\\` : '4F0C1D2E'))),
      mark(5),
      null,
    );
    expect(await archive.findReleases('4f0c1d2', 10)).toEqual(
      [3, 1].map((n) => ({
        ...{ pipeline: 'kvstore', release: n, state: 'succeeded', cause: null, ...having('4F0C1D2E') },
        ...{ startedMs: n * HOUR_MS - HOUR_MS / 2, endedMs: n * HOUR_MS },
      })),
    );
    expect((await archive.findReleases('4f0c1d2', 1)).map(({ release }) => release)).toEqual([3]);
    expect((await archive.findReleases(`it's 100%_`, 10)).map(({ release }) => release)).toEqual([2]);
    expect(await archive.findReleases('%', 10)).toHaveLength(1);
  });

  test('counts what ended in the time asked for, by category as the last release has it, or all together', async () => {
    const archive = open();
    await archive.write([...archived(1), ...archived(2), ...archived(3, { category: 'large' })], mark(5), null);
    await archive.write(
      archived(3, { pipeline: 'search', category: 'large', state: 'failed', type: 'build' }),
      mark(6),
      null,
    );
    const all = await archive.tallies({ ...ALL, by: 'all' });
    expect(all.deploys).toEqual([{ category: 'all', state: 'succeeded', classification: 'success', count: 4 }]);
    expect(all.times).toEqual([{ category: 'all', count: 4, p50Ms: 600_000, p99Ms: 600_000 }]);
    expect(all.leads).toEqual([{ category: 'all', count: 4, p50Ms: 1_800_000 }]);
    const own = await archive.tallies(ALL);
    expect(own.cadences).toEqual([{ category: 'large', cadence: 'continuous', count: 2 }]);
    expect(own.failures).toEqual([{ category: 'large', type: 'build', count: 1 }]);
    const early = await archive.tallies({ ...ALL, untilMs: 3 * 3_600_000 });
    expect(early.spans).toEqual([
      { category: 'regular', updateMs: 600_000, bakeMs: 480_000, preMs: 120_000, postMs: 0 },
    ]);
    expect(early.histories.map(({ row }) => row.id).sort()).toEqual(['kvstore/1', 'kvstore/2']);
  });

  test('counts every deploy that ended, also where its release runs on, or the archive has none of its pipeline', async () => {
    const archive = open();
    const early = [...archived(2).slice(2), ...archived(3, { pipeline: 'search' }).slice(1)];
    await archive.write([...archived(1), ...early], mark(5), null);
    const { deploys, cadences, actionTypes, spans, leads } = await archive.tallies(ALL);
    const counts = deploys.map(({ category, count }) => [category, count]).sort();
    expect(counts).toEqual([
      ['regular', 2],
      ['uncategorised', 1],
    ]);
    expect([cadences, actionTypes].map((some) => some.map(({ count }) => count))).toEqual([[1], [1]]);
    expect(spans).toHaveLength(2);
    expect(leads).toMatchObject([{ category: 'regular', count: 1 }]);
    const later = await archive.tallies({ ...ALL, sinceMs: 1.5 * HOUR_MS, by: 'all' });
    expect([later.cadences, later.deploys]).toMatchObject([[], [{ category: 'all', count: 2 }]]);
    const regular = await archive.tallies({ ...ALL, sinceMs: 1.5 * HOUR_MS, untilMs: 2.5 * HOUR_MS });
    expect([regular.firstMs, regular.deploys]).toMatchObject([HOUR_MS, [{ category: 'regular', count: 1 }]]);
  });

  test('names as many categories as the limit lets, those with the most pipelines, and counts the others together', async () => {
    const archive = open();
    const { max } = ARCHIVE_LIMITS.categories;
    const names = Array.from({ length: max + 2 }, (_, nth) => `c${nth}`.padStart(5, 'a'));
    const of = (category: string, pipeline: string) => archived(1, { category, pipeline });
    const twice = [...names]
      .reverse()
      .slice(0, max)
      .map((category) => of(category, `second-${category}`));
    const once = names.map((category) => of(category, `first-${category}`));
    await archive.write([...once, ...twice].flat(), mark(5), null);
    const { releases, deploys } = await archive.tallies(ALL);
    for (const rows of [releases, deploys]) {
      expect(rows).toHaveLength(max + 1);
      expect(rows.filter(({ count }) => count !== 2)).toEqual([]);
      expect(rows.filter(({ category }) => category === 'others')).toHaveLength(1);
      expect(rows.filter(({ category }) => category === names[0])).toEqual([]);
    }
    expect((await archive.tallies({ ...ALL, by: 'all' })).releases).toMatchObject([
      { category: 'all', count: 2 * max + 2 },
    ]);
  });

  test('counts what could not be read apart, and in nothing else', async () => {
    const archive = open();
    const run = { workflowId: 'deploy/kvstore/2/deploy/1', runId: 'run', closedMs: HOUR_MS };
    await archive.write(
      [
        ...archived(1),
        unreadRow(run, 'no input'),
        unreadRow({ ...run, workflowId: 'release/search/99999999999' }, 'a\0b'),
      ],
      mark(5),
      null,
    );
    const { unread, releases, deploys } = await archive.tallies(ALL);
    const counts = unread.map(({ category, count }) => [category, count]).sort();
    expect(counts).toEqual([
      ['regular', 1],
      ['uncategorised', 1],
    ]);
    expect([releases, deploys]).toMatchObject([[{ count: 1 }], [{ count: 1 }]]);
  });

  test('counts bad failures by what they failed by, deploy actions by their last pattern, and what bugs cancelled', async () => {
    const archive = open();
    const deploys = [
      ...archived(1, {}, { pattern: 'single' }),
      ...archived(2, {}, { pattern: 'linear', classification: 'bad-failure', cause: 'push type twine' }),
      ...archived(3, {}, { classification: 'bad-failure' }),
    ];
    const bad = [4, 5].flatMap((release) =>
      archived(release, { state: 'cancelled', cause: 'bad-package', name: 'bug/7' }).slice(0, 1),
    );
    await archive.write([...deploys, ...bad], mark(5), null);
    const { blames, patterns, bugs } = await archive.tallies(ALL);
    expect([...blames].sort((a, b) => (a.blame ?? '').localeCompare(b.blame ?? ''))).toEqual([
      { category: 'regular', blame: null, count: 1 },
      { category: 'regular', blame: 'push type twine', count: 1 },
    ]);
    expect(patterns).toEqual([{ category: 'regular', pattern: 'linear', count: 1 }]);
    expect(bugs).toEqual([{ bug: 'bug/7', count: 2 }]);
  });

  test('drops what is too old', async () => {
    const archive = open();
    await archive.write([...archived(1), ...archived(9)], mark(5), null);
    await archive.expire(5 * 3_600_000);
    expect((await archive.tallies(ALL)).histories.map(({ row }) => row.number)).toEqual([9]);
  });

  test('replaces a row where it is to, and leaves it alone else', async () => {
    const archive = open();
    await archive.write([...archived(1, { state: 'failed' }), ...archived(2)], mark(5), null);
    await archive.write(archived(1), mark(6), mark(5));
    const states = async () => (await archive.tallies(ALL)).releases.map(({ state }) => state).sort();
    expect(await states()).toEqual(['failed', 'succeeded']);
    await archive.write([...archived(1, { state: 'failed' }), ...archived(1)], mark(7), mark(6), 'replace');
    expect([await states(), await archive.size()]).toEqual([['succeeded'], 6]);
  });

  test('takes nothing of another namespace, and is as it was', async () => {
    const archive = open();
    await archive.write(archived(1), mark(5), null);
    await expect(archive.write(archived(2), { origin: 'default/b', readUntilMs: 6 }, null)).rejects.toMatchObject({
      code: 'archive-foreign',
      message: expect.stringContaining('belongs to namespace default/a, but this is namespace default/b'),
    });
    expect(await archive.mark()).toEqual(mark(5));
    expect((await archive.tallies(ALL)).histories).toHaveLength(1);
  });

  test('refuses what continues from a mark that it has lost; its mark goes back only for who has seen it as it is', async () => {
    const archive = open();
    await archive.write(archived(1), mark(6), null);
    for (const seen of [null, mark(5)]) await archive.write([], mark(4), seen);
    expect(await archive.mark()).toEqual(mark(6));
    await archive.write([], mark(5), mark(6));
    expect(await archive.mark()).toEqual(mark(5));
    await lose();
    await expect(archive.write(archived(2), mark(6), mark(5))).rejects.toMatchObject({ code: 'archive-unavailable' });
    await archive.write([], mark(4), null);
    await expect(archive.write(archived(2), mark(6), mark(5))).rejects.toMatchObject({ code: 'archive-unavailable' });
    expect([await archive.size(), await archive.mark()]).toEqual([0, mark(4)]);
  });

  test('is used by several at once, one after the other', async () => {
    const numbers = [1, 2, 3, 4, 5, 6];
    await Promise.all(numbers.map((number) => open().write(archived(number), mark(number), null)));
    expect((await open().tallies(ALL)).histories).toHaveLength(numbers.length);
  });
}
