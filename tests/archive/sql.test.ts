import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { inTransaction, type Database, type SqlRow } from '../../archive/database';
import { sqlArchive } from '../../archive/sql';
import { archived } from '../builders/archiveRows';
import { ALL, mark } from './archiveContract';

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeEach(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});
afterEach(() => {
  connection.closeSync();
  instance.closeSync();
});

const lose = () => connection.run('drop table conveyor_outcomes; drop table conveyor_mark');

/** A database in memory that notes its statements, and is gone from one of them on. */
function databaseOf({ goneAt = Infinity }: { readonly goneAt?: number } = {}) {
  const statements: string[] = [];
  const database: Database = {
    place: 'memory',
    use: async (_access, run) => {
      const sql = {
        all: async (text: string, params: readonly (string | number | null)[] = []) => {
          if (statements.length >= goneAt) throw new Error('gone');
          statements.push(text);
          return (await connection.runAndReadAll(text, [...params])).getRowObjectsJS() as readonly SqlRow[];
        },
      };
      return inTransaction(sql, ['begin'], run).catch(async (error: unknown) => {
        await connection.run('rollback').catch(() => undefined);
        throw error;
      });
    },
  };
  return { statements, archive: sqlArchive(database) };
}

test('an archive whose making was cut off after any statement can be read, and is made the next time', async () => {
  const whole = databaseOf();
  await whole.archive.write(archived(1), mark(5), null);
  const { length } = whole.statements;
  await lose();
  for (let goneAt = 0; goneAt < length; goneAt += 1) {
    await expect(databaseOf({ goneAt }).archive.write(archived(1), mark(5), null)).rejects.toThrow('gone');
    const { archive } = databaseOf();
    expect([goneAt, await archive.mark(), await archive.size()]).toEqual([goneAt, null, 0]);
    await archive.write(archived(1), mark(5), null);
    expect((await archive.tallies(ALL)).releases).toHaveLength(1);
    await lose();
  }
});

test('an archive that was left half made can be read, and is completed by the next write', async () => {
  const { archive } = databaseOf();
  await archive.write(archived(1), mark(5), null);
  await connection.run('drop table conveyor_mark');
  expect([await archive.mark(), await archive.size()]).toEqual([null, 3]);
  await archive.write(archived(2), mark(6), null);
  expect([await archive.mark(), await archive.size()]).toEqual([mark(6), 6]);
});

test('a table is changed once, and not at each write', async () => {
  const { statements, archive } = databaseOf();
  await archive.write(archived(1), mark(5), null);
  statements.length = 0;
  await archive.write(archived(2), mark(6), mark(5));
  expect(statements.filter((text) => /^(create|alter)/.test(text))).toEqual([]);
});
