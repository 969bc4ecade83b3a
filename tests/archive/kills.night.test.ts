import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { archived, HOUR_MS } from '../builders/archiveRows';
import { ROOT } from '../setup/sources';
import { archiveAt } from './archiveAt';
import { mark } from './archiveContract';
import { describeWithPostgres } from './postgresServer';

/** `CONVEYOR_KILLS=1000 npx jest tests/archive/kills` kills that often. */
const KILLS = Number(process.env['CONVEYOR_KILLS'] ?? 10);
const RELEASES = KILLS * 15;

function startWriter(place: string) {
  const script = join(__dirname, 'writer.ts');
  const args = [join(ROOT, 'node_modules/jiti/lib/jiti-cli.mjs'), script, place, String(RELEASES)];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Starts a writer and kills it as soon as it has read a few, while it writes them; false when it came to its end. */
async function wasKilled(place: string, afterLines: number): Promise<boolean> {
  const writer = startWriter(place);
  let text = '';
  writer.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    if (text.split('\n').length > afterLines) writer.kill('SIGKILL');
  });
  await once(writer, 'close');
  return !text.includes('done');
}

function survivesKills(place: () => string): void {
  test(
    `has every row once after its writer was killed ${KILLS} times`,
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) expect(await wasKilled(place(), 1 + (kill % 13))).toBe(true);
      expect(await wasKilled(place(), Infinity)).toBe(false);
      const archive = archiveAt(place());
      const all = Array.from({ length: RELEASES }, (_, nth) => archived(nth + 1)).flat();
      expect(await archive.findKnown(all.map(({ key }) => key))).toEqual(new Set(all.map(({ key }) => key)));
      expect(await archive.size()).toBe(all.length);
      const span = { sinceMs: 0, untilMs: (RELEASES + 1) * HOUR_MS, by: 'category' } as const;
      expect((await archive.tallies(span)).deploys).toMatchObject([{ count: RELEASES }]);
    },
    60_000 + KILLS * 10_000,
  );
}

describe('an archive in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-kills-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  survivesKills(() => join(folder, 'archive.duckdb'));

  test('can be written after its writer was killed while it created the file', async () => {
    for (let kill = 0; kill < 5; kill += 1) {
      const place = join(mkdtempSync(join(folder, 'new-')), 'archive.duckdb');
      const writer = startWriter(place);
      const watcher = watch(dirname(place), () => writer.kill('SIGKILL'));
      await once(writer, 'close');
      watcher.close();
      await archiveAt(place).write(archived(1), mark(0), null);
      expect(await archiveAt(place).size()).toBe(archived(1).length);
    }
  }, 60_000);
});

describeWithPostgres('an archive in PostgreSQL', (server) => {
  survivesKills(() => server.url);
});
