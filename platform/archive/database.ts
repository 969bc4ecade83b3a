type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** One connection, for as long as `use` runs. */
export interface Sql {
  all(sql: string, params?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

/** A database that speaks what DuckDB and PostgreSQL have in common. */
export interface Database {
  /** Where it is, as messages name it. */
  readonly place: string;
  /** Runs with a connection, in one transaction: all of it counts, or nothing. @throws ConveyorError in the words of the archive */
  use<T>(access: 'read' | 'write', run: (sql: Sql) => Promise<T>): Promise<T>;
}

/** Begins with these statements, and takes everything back that was done where `run` throws. */
export async function inTransaction<T>(sql: Sql, begin: readonly string[], run: (sql: Sql) => Promise<T>): Promise<T> {
  try {
    for (const statement of begin) await sql.all(statement);
    const result = await run(sql);
    await sql.all('commit');
    return result;
  } catch (error) {
    await sql.all('rollback').catch(() => undefined);
    throw error;
  }
}
