import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ConveyorError, conveyorError } from '../domain/errors';
import { UNFINISHED } from '../sdk/replaceFile';
import { inTransaction, type Sql, type SqlRow } from './database';
import type { Archive } from './port';
import { sqlArchive } from './sql';

/** The wait for a lock: a file has one writer or many readers at a time, each for a moment. */
const LOCK_PATIENCE_MS = 15_000;
const LOCK_RETRY_MS = 50;

/** Longer than all statistics of ten years take; a hanging network disk would never end. */
const USE_MS = 120_000;

/** The archive in a file of this machine. It is open only during a use, so that worker, server and command line can share it. */
export function openEmbedded(file: string, useMs: number = USE_MS): Archive {
  return sqlArchive({
    place: file,
    use: (access, run) =>
      runInTurn(file, useMs + LOCK_PATIENCE_MS, async () => {
        const isNew = !existsSync(file);
        if (isNew && access === 'write') await createFile(file);
        // A file that does not exist yet cannot be opened read-only.
        const target = isNew && access === 'read' ? ':memory:' : file;
        const { instance, connection } = await connectToFile(target, access === 'read' && target === file);
        const late = AbortSignal.timeout(useMs);
        const interrupt = (): void => connection.interrupt();
        late.addEventListener('abort', interrupt);
        try {
          return await inTransaction(wrapConnection(connection, late), ['begin'], run);
        } catch (error) {
          throw toArchiveError(error, file);
        } finally {
          // A closed instance must not be used any more.
          late.removeEventListener('abort', interrupt);
          connection.closeSync();
          instance.closeSync();
        }
      }),
  });
}

/**
 * Copies the archive between two uses. @throws ConveyorError of the archive if it cannot be read; the error of DuckDB
 * if the copy cannot be written
 */
export function copyEmbedded(file: string, to: string): Promise<void> {
  return runInTurn(file, USE_MS + LOCK_PATIENCE_MS, async () => {
    const { instance, connection } = await connectToFile(':memory:', false);
    const attach = (path: string, as: string) => connection.run(`attach '${path.replaceAll("'", "''")}' as ${as}`);
    try {
      await retryWhileLocked(file, () => attach(file, 'source (read_only)'));
      await attach(to, 'target');
      await connection.run('copy from database source to target');
      // Before a checkpoint, part of the data is in a log next to the file.
      await connection.run('detach target');
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });
}

const turns = new Map<string, Promise<unknown>>();

/**
 * The lock of a file excludes other processes, but not other callers in this one, and two at once would corrupt the
 * file. A caller gives up after `patienceMs`; an operation that hangs keeps its turn.
 */
async function runInTurn<T>(file: string, patienceMs: number, run: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const turn = (turns.get(file) ?? Promise.resolve()).then(() => {
    over.signal.throwIfAborted();
    return run();
  });
  turns.set(
    file,
    turn.catch(() => undefined),
  );
  const patience = wait(patienceMs, undefined, { signal: over.signal }).then(() => {
    throw conveyorError('archive-unavailable', { place: file, detail: `no answer within ${patienceMs / 1000} s` });
  });
  return Promise.race([turn, patience]).finally(() => over.abort());
}

/** Creates the file under another name first, since DuckDB cannot open one whose creator was killed. */
async function createFile(file: string): Promise<void> {
  const part = `${file}.${randomUUID()}${UNFINISHED}`;
  try {
    const { instance, connection } = await connectToFile(part, false, file);
    connection.closeSync();
    instance.closeSync();
    // Unlike a new name, a link never replaces the file of a process that was faster.
    await link(part, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw toArchiveError(error, file);
  } finally {
    await rm(part, { force: true });
  }
}

async function connectToFile(file: string, readOnly: boolean, place = file) {
  // Loaded on first use: the library has 70 MB.
  const { DuckDBInstance } = await import('@duckdb/node-api').catch((error: unknown) => {
    throw conveyorError('archive-unusable', { place, detail: `DuckDB does not load: ${getMessage(error)}` });
  });
  return retryWhileLocked(place, async () => {
    const instance = await DuckDBInstance.create(file, readOnly ? { access_mode: 'READ_ONLY' } : {});
    return { instance, connection: await instance.connect() };
  });
}

async function retryWhileLocked<T>(file: string, run: () => Promise<T>): Promise<T> {
  const until = Date.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!LOCKED.test(getMessage(error)) || Date.now() > until) throw toArchiveError(error, file);
      await wait(LOCK_RETRY_MS);
    }
  }
}

const wrapConnection = (connection: DuckDBConnection, late: AbortSignal): Sql => ({
  all: async (sql, params = []) => {
    late.throwIfAborted();
    const reader = await connection.runAndReadAll(sql, [...params]);
    return reader.getRowObjectsJS() as readonly SqlRow[];
  },
});

const LOCKED = /Could not set lock|Conflicting lock|unique file handle conflict|same database file/i;
const UNUSABLE =
  /could not read enough|not a valid DuckDB|corrupt|Serialization Error|checksum|different configuration|storage version/i;

/** Distinguishes temporary errors, such as a full disk, from those that need a person. */
function toArchiveError(error: unknown, file: string): unknown {
  if (error instanceof ConveyorError) return error;
  const detail = getMessage(error).split('\n')[0] ?? '';
  return conveyorError(UNUSABLE.test(detail) ? 'archive-unusable' : 'archive-unavailable', { place: file, detail });
}

const getMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
