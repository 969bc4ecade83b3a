import { DAY_MS } from '../../domain/milliseconds';
import { collect } from '../../archive/collect';
import type { Endings } from '../../archive/endings';
import { openEmbedded } from '../../archive/duckdb';
import { openPostgres } from '../../archive/postgres';
import { readStats } from '../../archive/stats';
import { yearOfReleases, YEAR_MS } from '../../bench/archiveYear';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archived, HOUR_MS } from '../builders/archiveRows';
import { archiveContract, mark } from './archiveContract';
import { describeWithPostgres } from './postgresServer';

const NOW_MS = 10 * DAY_MS;

/** A release that ended each hour. */
const endings: Endings = {
  origin: () => Promise.resolve({ name: 'default/a', retentionMs: 30 * DAY_MS }),
  polledMs: () => Promise.resolve(null),
  isUnanswered: () => true,
  closed: async function* (sinceMs, untilMs) {
    for (let number = Math.max(1, Math.ceil(sinceMs / HOUR_MS)); number * HOUR_MS < untilMs; number += 1) {
      const rows = () => Promise.resolve(archived(number));
      yield { workflowId: `release/kvstore/${number}`, runId: 'run', closedMs: number * HOUR_MS, rows, remains: rows };
    }
  },
};

describeWithPostgres('an archive in PostgreSQL', (server) => {
  const lose = () => server.query('drop table if exists conveyor_mark, conveyor_outcomes');
  beforeEach(lose);

  archiveContract(() => openPostgres(server.url), lose);

  test('that is gone for a day gets later what ended meanwhile, once', async () => {
    const archive = openPostgres(server.url);
    await collect(archive, endings, NOW_MS);
    const before = await archive.size();
    await server.kill();
    await expect(collect(archive, endings, NOW_MS + DAY_MS / 2)).rejects.toMatchObject({
      code: 'archive-unavailable',
      retryable: true,
    });
    await server.start();
    await collect(archive, endings, NOW_MS + DAY_MS);
    expect(await archive.size()).toBe(before + 24 * 3);
  });

  test('whose server refuses rows with the error of a full disk keeps what it has, and gets the rest later', async () => {
    const archive = openPostgres(server.url);
    await archive.write(archived(1), mark(5), null);
    await server.query(
      `create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    );
    await server.query('create trigger full_disk before insert on conveyor_outcomes execute function full_disk()');
    await expect(archive.write(archived(2), mark(6), mark(5))).rejects.toMatchObject({
      code: 'archive-unavailable',
      message: expect.stringContaining('No space left on device'),
    });
    expect([await archive.mark(), await archive.size()]).toEqual([mark(5), 3]);
    await server.query('drop function full_disk cascade');
    await archive.write(archived(2), mark(6), mark(5));
    expect([await archive.mark(), await archive.size()]).toEqual([mark(6), 6]);
  });

  test('has the numbers that a file has, of the same year', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-archive-'));
    const both = [openPostgres(server.url), openEmbedded(join(folder, 'archive.duckdb'))];
    const rows = [...yearOfReleases(400, 100)].flat();
    const span = { sinceMs: 0, untilMs: YEAR_MS, by: 'category' } as const;
    for (const archive of both) await archive.write(rows, mark(YEAR_MS), null);
    const [postgres, file] = await Promise.all(both.map((archive) => readStats(archive, span)));
    expect(postgres).toEqual(file);
    rmSync(folder, { recursive: true, force: true });
  });

  test('names the server in errors, and neither user nor password', async () => {
    const nowhere = server.url.replace(/postgres$/, 'nowhere');
    const error: unknown = await openPostgres(nowhere)
      .mark()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'archive-unavailable' });
    expect(String((error as Error).message)).not.toContain('secret');
  });

  test('that is locked, or accepts connections and says nothing, is given up after a while', async () => {
    const patience = { connectMs: 200, statementMs: 200, endMs: 200 };
    await openPostgres(server.url).write(archived(1), mark(5), null);
    const release = await server.hold('lock table conveyor_outcomes in access exclusive mode');
    await expect(openPostgres(server.url, patience).write(archived(2), mark(6), mark(5))).rejects.toMatchObject({
      ...{ code: 'archive-unavailable', message: expect.stringContaining('statement timeout') },
    });
    await release();
    await openPostgres(server.url).write(archived(2), mark(6), mark(5));

    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await expect(openPostgres(`postgres://a@127.0.0.1:${port}/a`, patience).mark()).rejects.toMatchObject({
      code: 'archive-unavailable',
    });
    silent.close();
  });
});
