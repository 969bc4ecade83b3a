import type { Client } from 'pg';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { shownUrl } from '../../domain/shownUrl';
import { inTransaction, type Sql, type SqlRow } from './database';
import type { Archive } from './port';
import { sqlArchive } from './sql';

const CONNECT_MS = 10_000;
const STATEMENT_MS = 120_000;

/** The archive in a database of PostgreSQL, which workers of many machines share. Each use has a connection of its own, for a moment. */
export function openPostgres(url: string): Archive {
  const place = shownUrl(url);
  return sqlArchive({
    place,
    use: async (access, run) => {
      const client = await connectTo(url, place);
      try {
        return await inTransaction(queriesOf(client), BEGIN[access], run);
      } catch (error) {
        throw inWordsOfArchive(error, place);
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  });
}

/** Whoever reads sees one moment. Workers write one after the other, so that none sees tables that another is making. */
const BEGIN = {
  read: ['begin isolation level repeatable read, read only'],
  write: ['begin', `select pg_advisory_xact_lock(hashtext('conveyor archive'))`],
} as const;

async function connectTo(url: string, place: string): Promise<Client> {
  // Only who uses it loads it.
  const { Client: PostgresClient } = await import('pg');
  const client = new PostgresClient({
    ...{ connectionString: url, application_name: 'conveyor' },
    ...{ connectionTimeoutMillis: CONNECT_MS, statement_timeout: STATEMENT_MS, query_timeout: STATEMENT_MS },
  });
  // A connection that is cut between two statements is reported by the next of them.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw inWordsOfArchive(error, place);
  }
}

const queriesOf = (client: Client): Sql => ({
  all: async (sql, params = []) => {
    const { rows } = await client.query<SqlRow>(sql, [...params]);
    return rows;
  },
});

/** Damaged data; all else is right another time, or once a person has put the server in order. */
const DAMAGED = /^XX00[12]$/;

function inWordsOfArchive(error: unknown, place: string): unknown {
  if (error instanceof ConveyorError) return error;
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string };
  const detail = (message || code || String(error)).split('\n')[0] ?? '';
  return conveyorError(DAMAGED.test(code) ? 'archive-unusable' : 'archive-unavailable', { place, detail });
}
