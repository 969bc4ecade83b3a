import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { hostOf, portOf } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import { copyBytes, describeTrouble, formatFileSize, isDiskFull, MAKE_ROOM, sizeOfFiles } from './files';
import { LONGEST_PAUSE_S, whileStopped, type Paused } from './freeze';
import { findProcessesWith } from './processes';
import { findShortage } from './room';

/** The files of a SQLite database. Its data is in the first two, in the third if it was not made by temporal-dev.sh. */
const DATABASE_ENDS = ['', '-wal', '-journal'];
export const databaseFiles = (database: string): readonly string[] =>
  [...DATABASE_ENDS, '-shm'].map((end) => `${database}${end}`);

/** The name of a copy. */
const DATABASE_COPY = 'temporal.db';
const copyNameOf = (database: string, file: string): string => `${DATABASE_COPY}${file.slice(database.length)}`;
export const nameFromCopy = (database: string, copy: string): string =>
  `${database}${copy.slice(DATABASE_COPY.length)}`;

/**
 * Copies the database of Temporal while its server stands still, so that the copy is what kill −9 would have left.
 * @param temporal where the server answers, if it does
 * @returns the names of the copies
 * @throws ConveyorError `backup-failed`
 */
export async function copyDatabase(
  named: string,
  folder: string,
  temporal: string,
): Promise<Paused<readonly string[]>> {
  const database = locate(named);
  await requireRoom(database, folder);
  const pids = await findProcessesWith(database).catch((error: unknown) => {
    throw failed(`which process has ${database} open is not known: ${describeTrouble(error)}`, STOP_FIRST);
  });
  if (pids.length === 0 && (await accepts(hostOf(temporal), portOf(temporal))))
    throw failed(
      `a Temporal server answers at ${temporal}, and no process that this user can see has ${database} open`,
      'name its database with --db or CONVEYOR_TEMPORAL_DB, and run conveyor backup as its user; docs/guides/cluster.md is about PostgreSQL',
    );
  const before = describeDatabase(database);
  const paused = await whileStopped(pids, () => copyAll(database, folder)).catch((error: unknown) => {
    if (isDiskFull(error)) throw error;
    throw failed(describeTrouble(error), STOP_FIRST);
  });
  if (pids.length === 0 && ((await findProcessesWith(database)).length > 0 || describeDatabase(database) !== before))
    throw failed('a Temporal server was started while its database was copied', 'run conveyor backup again');
  return paused;
}

const STOP_FIRST = `stop Temporal, run conveyor backup, and start it again: what nothing writes may be copied for longer than ${LONGEST_PAUSE_S} s`;

async function copyAll(database: string, folder: string): Promise<readonly string[]> {
  const files = DATABASE_ENDS.map((end) => `${database}${end}`).filter((file) => existsSync(file));
  for (const file of files) await copyBytes(file, join(folder, copyNameOf(database, file)));
  return files.map((file) => copyNameOf(database, file));
}

/** SQLite keeps its log beside the file itself, not beside a link to it. */
function locate(named: string): string {
  if (existsSync(named)) return realpathSync(named);
  throw failed(
    `there is no database ${named}`,
    'name the one of temporal-dev.sh with --db or CONVEYOR_TEMPORAL_DB; docs/guides/cluster.md is about PostgreSQL',
  );
}

async function requireRoom(database: string, folder: string): Promise<void> {
  const copies = { path: join(folder, DATABASE_COPY), bytes: await sizeOfFiles(databaseFiles(database)) };
  const shortage = await findShortage([copies]);
  if (shortage === undefined) return;
  const [needed, room] = [formatFileSize(shortage.neededBytes), formatFileSize(shortage.roomBytes)];
  throw failed(`${database} has ${needed}, and there is room for ${room}`, MAKE_ROOM);
}

const describeDatabase = (database: string): string =>
  databaseFiles(database)
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((stat) => `${stat?.size} ${stat?.mtimeMs}`)
    .join();

const failed = (detail: string, how: string) => conveyorError('backup-failed', { part: 'Temporal', detail, how });
