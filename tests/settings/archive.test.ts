import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../../domain/milliseconds';
import { ARCHIVE_LIMITS } from '../../domain/limits';
import { openArchive } from '../../archive/open';
import { loadRegistry } from '../../settings/registry';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'conveyor-archive-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The archive of a configuration. */
function archiveOf(text: string) {
  const file = join(folder, 'conveyor.config.yaml');
  writeFileSync(file, `extensions: []\narchive: ${text}\n`);
  const { archive } = loadRegistry(file, {});
  if (archive === null) throw new Error('there is none');
  return archive;
}

test('a file is beside the configuration unless it says elsewhere, and rows are kept for 400 days', () => {
  expect(archiveOf('{ file: a.duckdb }')).toEqual({
    ...{ store: { file: join(folder, 'a.duckdb') }, keepMs: 400 * DAY_MS, intervalMs: 60_000 },
  });
});

test('rows are kept for as long as the limit lets, and no longer', () => {
  const { max } = ARCHIVE_LIMITS.days;
  expect(archiveOf(`{ file: a.duckdb, keep: ${max}d }`).keepMs).toBe(max * DAY_MS);
  expect(() => archiveOf(`{ file: a.duckdb, keep: ${max + 1}d }`)).toThrow(`${max} days at most`);
});

test.each([
  ['{ file: a.duckdb, urlEnv: URL }', 'either file, or urlEnv for PostgreSQL'],
  ['{ keep: 30d }', 'either file, or urlEnv for PostgreSQL'],
  ['{ file: a.sqlite }', 'expected a file such as'],
  ['{ urlEnv: "postgres://a" }', 'expected the name of an environment variable'],
  ['{ file: a.duckdb, keep: 1h }', 'a day at least'],
  ['{ file: a.duckdb, interval: 1ms }', 'a second at least'],
])('%s is refused', (text, why) => {
  expect(() => archiveOf(text)).toThrow(why);
});

test('an address of PostgreSQL comes from the environment, and is never shown with its password', async () => {
  const archive = archiveOf('{ urlEnv: ARCHIVE_URL }');
  await expect(openArchive(archive, {})).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringContaining('archive.urlEnv names ARCHIVE_URL, which is not set'),
  });
  await expect(openArchive(archive, { ARCHIVE_URL: 'mysql://u:secret@db/x' })).rejects.toMatchObject({
    message: expect.not.stringContaining('secret'),
  });
  const { place } = await openArchive(archive, { ARCHIVE_URL: 'postgres://u:secret@db:5432/conveyor' });
  expect(place).toBe('postgres://db:5432/…');
});
