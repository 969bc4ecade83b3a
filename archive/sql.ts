import { COLUMNS, type ArchiveRow } from '../domain/archive/row';
import { conveyorError } from '../domain/errors';
import type { ArchivedRelease } from '../domain/where/archived';
import type { Database, Sql } from './database';
import type { Archive, Mark } from './port';
import { column, ensureTables, hasTable, listColumns } from './tables';
import { readTallies } from './tallies';

/** The number of rows is limited by the parameters of a PostgreSQL statement. */
const ROWS_AT_ONCE = 500;

/** The archive in a database. */
export function sqlArchive(database: Database): Archive {
  const { place } = database;
  return {
    write: (rows, mark, seen, how = 'keep') =>
      database.use('write', async (sql) => {
        await ensureTables(sql);
        const found = await requireMark(sql, mark, seen, place);
        // One statement replaces no row twice.
        const each = [...new Map(rows.map((row) => [row.key, row])).values()];
        for (let from = 0; from < each.length; from += ROWS_AT_ONCE)
          await insert(sql, each.slice(from, from + ROWS_AT_ONCE), how);
        await sql.all(
          `insert into conveyor_mark values (1, $1, $2) on conflict (one) do update set read_until_ms = excluded.read_until_ms`,
          [mark.origin, seen?.readUntilMs === found ? mark.readUntilMs : Math.max(mark.readUntilMs, found ?? 0)],
        );
      }),
    mark: () => database.use('read', (sql) => readMark(sql)),
    findKnown: (keys) =>
      database.use('read', async (sql) => {
        if (keys.length === 0 || !(await hasTable(sql, 'conveyor_outcomes'))) return new Set();
        const places = keys.map((_, at) => `$${at + 1}`).join(', ');
        const found = await sql.all(`select key from conveyor_outcomes where key in (${places})`, keys);
        return new Set(found.map(({ key }) => String(key)));
      }),
    size: () =>
      database.use('read', async (sql) => {
        if (!(await hasTable(sql, 'conveyor_outcomes'))) return 0;
        const [row] = await sql.all('select count(*)::double precision as count from conveyor_outcomes');
        return Number(row?.['count']);
      }),
    expire: (beforeMs) =>
      database.use('write', async (sql) => {
        if (await hasTable(sql, 'conveyor_outcomes'))
          await sql.all('delete from conveyor_outcomes where ended_ms < $1', [beforeMs]);
      }),
    tallies: (span) =>
      database.use('read', async (sql) => readTallies(sql, span, await hasTable(sql, 'conveyor_outcomes'))),
    findReleases: (text, most) => database.use('read', (sql) => readReleases(sql, text, most)),
  };
}

async function readReleases(sql: Sql, text: string, most: number): Promise<readonly ArchivedRelease[]> {
  if (!(await listColumns(sql, 'conveyor_outcomes')).has('artifacts')) return [];
  const rows = await sql.all(
    `select pipeline, release, state, cause, started_ms::double precision as started, ended_ms::double precision as ended, artifacts from conveyor_outcomes where kind = 'release' and strpos(lower(artifacts), $1) > 0 order by ended_ms desc limit ${most}`,
    [text],
  );
  return rows.map(({ pipeline, release, state, cause, started, ended, artifacts }) => ({
    ...{ pipeline: String(pipeline), release: Number(release), state: String(state), artifacts: String(artifacts) },
    cause: cause == null ? null : String(cause),
    ...{ startedMs: started == null ? null : Number(started), endedMs: Number(ended) },
  }));
}

async function insert(sql: Sql, rows: readonly ArchiveRow[], how: 'keep' | 'replace'): Promise<void> {
  const tuple = (_row: ArchiveRow, nth: number) =>
    `(${COLUMNS.map((_name, at) => `$${nth * COLUMNS.length + at + 1}`).join(', ')})`;
  await sql.all(
    `insert into conveyor_outcomes (${COLUMNS.map(column).join(', ')}) values ${rows.map(tuple).join(', ')} on conflict ${how === 'keep' ? 'do nothing' : REPLACE}`,
    rows.flatMap((row) => COLUMNS.map((name) => row[name])),
  );
}

const REPLACE = `(key) do update set ${COLUMNS.filter((name) => name !== 'key')
  .map((name) => `${column(name)} = excluded.${column(name)}`)
  .join(', ')}`;

async function readMark(sql: Sql): Promise<Mark | null> {
  if (!(await hasTable(sql, 'conveyor_mark'))) return null;
  const [row] = await sql.all('select origin, read_until_ms::double precision as until from conveyor_mark');
  return row === undefined ? null : { origin: String(row['origin']), readUntilMs: Number(row['until']) };
}

/**
 * Checks the namespace, because two installations would count each other's pipelines as their own. An emptied archive
 * is read from the beginning.
 * @returns how far the archive has been read
 */
async function requireMark(sql: Sql, { origin }: Mark, seen: Mark | null, place: string): Promise<number | undefined> {
  const mark = await readMark(sql);
  if (mark !== null && mark.origin !== origin)
    throw conveyorError('archive-foreign', { place, origin: mark.origin, own: origin });
  if (seen !== null && (mark === null || mark.readUntilMs < seen.readUntilMs))
    throw conveyorError('archive-unavailable', { place, detail: 'it was emptied, or is read again, meanwhile' });
  return mark?.readUntilMs;
}
