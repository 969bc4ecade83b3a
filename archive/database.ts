type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** One connection, for as long as `use` runs. */
export interface Sql {
  all(sql: string, params?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

/** A database with the SQL that DuckDB and PostgreSQL have in common. */
export interface Database {
  /** Its place, for messages. */
  readonly place: string;
  /** Runs with a connection in one transaction. @throws ConveyorError of the archive */
  use<T>(access: 'read' | 'write', run: (sql: Sql) => Promise<T>): Promise<T>;
}

/** Runs statements between these and a commit. When `run` throws there is no commit, and the owner of the connection ends the transaction. */
export async function inTransaction<T>(sql: Sql, begin: readonly string[], run: (sql: Sql) => Promise<T>): Promise<T> {
  for (const statement of begin) await sql.all(statement);
  const result = await run(sql);
  await sql.all('commit');
  return result;
}
