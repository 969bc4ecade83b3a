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
  /** Runs with a connection. @throws ConveyorError in the words of the archive */
  use<T>(access: 'read' | 'write', run: (sql: Sql) => Promise<T>): Promise<T>;
}
