import { COLUMNS, type ArchiveRow } from '../domain/archive/row';
import type { Sql } from './database';

/** The database's name for a field of a row. */
export const column = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const COLUMN_TYPES: Readonly<Partial<Record<keyof ArchiveRow, string>>> = {
  ...{ key: 'text primary key', release: 'integer', parts: 'integer', progress: 'double precision' },
  ...{ startedMs: 'bigint', endedMs: 'bigint', updateMs: 'bigint', bakeMs: 'bigint' },
  ...{ preMs: 'bigint', postMs: 'bigint', revertMs: 'bigint' },
};

const defineColumn = (name: keyof ArchiveRow): string => `${column(name)} ${COLUMN_TYPES[name] ?? 'text'}`;

/** The columns of a table; none if it does not exist. */
export async function listColumns(sql: Sql, table: string): Promise<ReadonlySet<string>> {
  const found = await sql.all(
    `select column_name from information_schema.columns where table_name = $1 and table_schema = current_schema()`,
    [table],
  );
  return new Set(found.map((row) => String(row['column_name'])));
}

export const hasTable = async (sql: Sql, table: 'conveyor_outcomes' | 'conveyor_mark'): Promise<boolean> =>
  (await listColumns(sql, table)).size > 0;

/**
 * Creates missing tables, and columns missing from an older archive. A table without changes is not altered, so readers
 * need not wait.
 */
export async function ensureTables(sql: Sql): Promise<void> {
  if (!(await hasTable(sql, 'conveyor_mark')))
    await sql.all(`create table conveyor_mark (one integer primary key, origin text, read_until_ms bigint)`);
  const known = await listColumns(sql, 'conveyor_outcomes');
  if (known.size === 0) await sql.all(`create table conveyor_outcomes (${COLUMNS.map(defineColumn).join(', ')})`);
  else
    for (const name of COLUMNS.filter((one) => !known.has(column(one))))
      await sql.all(`alter table conveyor_outcomes add column ${defineColumn(name)}`);
}
