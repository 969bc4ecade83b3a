import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import { ConveyorError, conveyorError } from '../domain/errors';
import { redactUrl } from '../domain/redactUrl';
import { inTransaction, type Sql, type SqlRow } from './database';
import type { Archive } from './port';
import { sqlArchive } from './sql';

/** Time limits of a server, in ms: to accept a connection, for all statements of a use, and to close the connection. */
export interface PostgresPatience {
  readonly connectMs: number;
  readonly statementMs: number;
  readonly endMs: number;
}
const PATIENCE: PostgresPatience = { connectMs: 10_000, statementMs: 120_000, endMs: 2_000 };

/** The archive in a database of PostgreSQL, which workers of many machines share. Each use opens its own short connection. */
export function openPostgres(url: string, patience: PostgresPatience = PATIENCE): Archive {
  const place = redactUrl(url);
  return sqlArchive({
    place,
    use: async (access, run) => {
      const client = await connectTo(url, place, patience);
      try {
        return await inTransaction(wrapClient(client, AbortSignal.timeout(patience.statementMs)), BEGIN[access], run);
      } catch (error) {
        throw toPostgresError(error, place);
      } finally {
        await letGo(client, patience);
      }
    },
  });
}

/** Readers see one consistent snapshot. Writers take turns, so that none sees tables that another is still creating. */
const BEGIN = {
  read: ['begin isolation level repeatable read, read only'],
  write: ['begin', `select pg_advisory_xact_lock(hashtext('conveyor archive'))`],
} as const;

async function connectTo(url: string, place: string, patience: PostgresPatience): Promise<Client> {
  // Loaded on first use.
  const { Client: PostgresClient } = await import('pg');
  const client = new PostgresClient({
    ...{ connectionString: url, application_name: 'conveyor' },
    ...{ connectionTimeoutMillis: patience.connectMs, keepAlive: true },
    // The server gives up first, and says why.
    ...{ statement_timeout: patience.statementMs, query_timeout: patience.statementMs + patience.endMs },
  });
  // The next statement reports a connection that is cut between two statements.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await letGo(client, patience);
    throw toPostgresError(error, place);
  }
}

/** Also closes a connection whose server no longer answers. */
async function letGo(client: Client, { endMs }: PostgresPatience): Promise<void> {
  await Promise.race([client.end().catch(() => undefined), wait(endMs, undefined, { ref: false })]);
}

const wrapClient = (client: Client, late: AbortSignal): Sql => ({
  all: async (sql, params = []) => {
    late.throwIfAborted();
    const { rows } = await client.query<SqlRow>(sql, [...params]);
    return rows;
  },
});

/** Damaged data; any other error may pass, or can be fixed at the server. */
const DAMAGED = /^XX00[12]$/;

function toPostgresError(error: unknown, place: string): unknown {
  if (error instanceof ConveyorError) return error;
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string };
  const detail = (message || code || String(error)).split('\n')[0] ?? '';
  return conveyorError(DAMAGED.test(code) ? 'archive-unusable' : 'archive-unavailable', { place, detail });
}
