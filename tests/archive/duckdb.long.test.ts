import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openEmbedded } from '../../archive/duckdb';
import { archived } from '../builders/archiveRows';
import { ALL, archiveContract, mark } from './archiveContract';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conveyor-archive-'));
  file = join(folder, 'archive.duckdb');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('an archive in a file', () => {
  archiveContract(
    () => openEmbedded(file),
    async () => rmSync(file),
  );

  test('reading makes no file', async () => {
    await openEmbedded(file).mark();
    expect(existsSync(file)).toBe(false);
  });

  test('makes room in an archive of before for what it did not know', async () => {
    const archive = openEmbedded(file);
    await archive.write(archived(1), mark(5), null);
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    await connection.run('alter table conveyor_outcomes drop column pattern');
    connection.closeSync();
    instance.closeSync();
    await archive.write(archived(2, {}, { pattern: 'linear' }), mark(6), null);
    expect((await archive.tallies(ALL)).patterns).toMatchObject([{ pattern: 'linear', count: 1 }]);
    expect(await archive.size()).toBe(6);
  });

  test('says that a file is none, or damaged, and what to do', async () => {
    writeFileSync(file, 'no database '.repeat(2000));
    await expect(openEmbedded(file).mark()).rejects.toMatchObject({
      code: 'archive-unusable',
      hint: expect.stringContaining('conveyor archive rebuild'),
    });
    rmSync(file);
    await openEmbedded(file).write(archived(1), mark(5), null);
    truncateSync(file, 6000);
    await expect(openEmbedded(file).tallies(ALL)).rejects.toMatchObject({ code: 'archive-unusable' });
  });

  test('counts the same as before, or is damaged, whichever of its bits has flipped', async () => {
    await openEmbedded(file).write(archived(1), mark(5), null);
    const before = await openEmbedded(file).tallies(ALL);
    const whole = readFileSync(file);
    const found: string[] = [];
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 24)) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
      writeFileSync(file, flipped);
      const after = await openEmbedded(file)
        .tallies(ALL)
        .catch((error: unknown) => (error as { code?: string }).code);
      found.push(
        after === 'archive-unusable'
          ? after
          : isDeepStrictEqual(after, before)
            ? 'the same'
            : `${at}: ${JSON.stringify(after)}`,
      );
    }
    expect(new Set(found)).toEqual(new Set(['archive-unusable', 'the same']));
  });

  test('says that a folder is not there, and is worth another try', async () => {
    await expect(
      openEmbedded(join(folder, 'gone', 'a.duckdb')).write(archived(1), mark(5), null),
    ).rejects.toMatchObject({
      code: 'archive-unavailable',
      retryable: true,
    });
  });

  test('a read that takes too long is interrupted, and its caller gives up; the next time it is as it was', async () => {
    await openEmbedded(file).write(archived(1), mark(5), null);
    const many = Array.from({ length: 3_000 }, (_, nth) => archived(nth + 2)).flat();
    await expect(openEmbedded(file, 1).write(many, mark(6), mark(5))).rejects.toMatchObject({
      ...{ code: 'archive-unavailable', retryable: true },
    });
    expect([await openEmbedded(file).mark(), await openEmbedded(file).size()]).toEqual([mark(5), 3]);
  });
});
