import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { parseHost, parsePort } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import { copyBytes, describeTrouble, isDiskFull } from './files';
import { LONGEST_PAUSE_S, whileStopped, type ProcessPauseResult } from './freeze';
import { findProcessesWith } from './processes';

/**
 * The files of a SQLite database. Its data is in the first two, or in the third if temporal-dev.sh did not create it.
 */
const DATABASE_ENDS = ['', '-wal', '-journal'];
export const databaseFiles = (database: string): readonly string[] =>
  [...DATABASE_ENDS, '-shm'].map((end) => `${database}${end}`);

/** The name of a copy. */
const DATABASE_COPY = 'temporal.db';
const toCopyName = (database: string, file: string): string => `${DATABASE_COPY}${file.slice(database.length)}`;
export const nameFromCopy = (database: string, copy: string): string =>
  `${database}${copy.slice(DATABASE_COPY.length)}`;

/**
 * Copies the database of Temporal while its server is stopped, so that the copy is like one after kill −9. @param
 * temporal the address at which the server answers, if it does
 * @returns the names of the copies
 * @throws ConveyorError `backup-failed`
 */
export async function copyDatabase(
  named: string,
  folder: string,
  temporal: string,
): Promise<ProcessPauseResult<readonly string[]>> {
  const database = locate(named);
  const pids = await findProcessesWith(database).catch((error: unknown) => {
    throw createCopyError(`cannot tell which process has ${database} open: ${describeTrouble(error)}`, STOP_FIRST);
  });
  if (pids.length === 0 && (await accepts(parseHost(temporal), parsePort(temporal))))
    throw createCopyError(
      `a Temporal server answers at ${temporal}, but no process visible to this user has ${database} open`,
      'name its database with --db or CONVEYOR_TEMPORAL_DB, and run conveyor backup as its user; for PostgreSQL see docs/guides/cluster.md',
    );
  const before = describeDatabase(database);
  const paused = await whileStopped(pids, () => copyAll(database, folder)).catch((error: unknown) => {
    if (isDiskFull(error)) throw error;
    throw createCopyError(describeTrouble(error), STOP_FIRST);
  });
  if (pids.length === 0 && ((await findProcessesWith(database)).length > 0 || describeDatabase(database) !== before))
    throw createCopyError('a Temporal server started while its database was being copied', 'run conveyor backup again');
  return paused;
}

const STOP_FIRST = `stop Temporal, run conveyor backup, and start it again: the copy of a stopped database may take longer than ${LONGEST_PAUSE_S} s`;

async function copyAll(database: string, folder: string): Promise<readonly string[]> {
  const files = DATABASE_ENDS.map((end) => `${database}${end}`).filter((file) => existsSync(file));
  for (const file of files) await copyBytes(file, join(folder, toCopyName(database, file)));
  return files.map((file) => toCopyName(database, file));
}

/** SQLite keeps its log next to the file itself, not next to a link to it. */
function locate(named: string): string {
  if (existsSync(named)) return realpathSync(named);
  throw createCopyError(
    `there is no database ${named}`,
    'name the database of temporal-dev.sh with --db or CONVEYOR_TEMPORAL_DB; for PostgreSQL see docs/guides/cluster.md',
  );
}

const describeDatabase = (database: string): string =>
  databaseFiles(database)
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((stat) => `${stat?.size} ${stat?.mtimeMs}`)
    .join();

const createCopyError = (detail: string, how: string) =>
  conveyorError('backup-failed', { part: 'Temporal', detail, how });
