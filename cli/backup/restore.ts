import { existsSync, readdirSync } from 'node:fs';
import { chown, link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { conjugate, joinWords } from '../../domain/text';
import type { Env } from '../../settings/env';
import { parseHost, parsePort, type Addresses } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import { respondsOk } from '../stack/ports';
import { asWord } from '../typedCommand';
import { auditFiles } from './audit';
import { databaseFiles } from './database';
import {
  copyBytes,
  describeTrouble,
  digestFile,
  formatFileSize,
  isDiskFull,
  MAKE_ROOM,
  sizeOfFiles,
  syncFile,
} from './files';
import { PART_NAMES, readManifest, requireNotNewer, type BackupManifest, type BackupPart } from './manifest';
import { storeFolder, type BackupPlaces } from './places';
import { placeAll, requireNamed, type LeavablePart, type RestoreItem } from './placement';
import { conveyorProcesses, findProcessesWith } from './processes';
import { restoreRepository } from './repositories';
import { findShortage } from './room';

interface RestoreOptions {
  readonly folder: string;
  readonly places: BackupPlaces;
  readonly addresses: Pick<Addresses, 'temporal' | 'server'>;
  readonly versions: BackupManifest['versions'];
  readonly env: Env;
  readonly nowMs: number;
  /** Parts that stay in the backup. */
  readonly without: readonly LeavablePart[];
}

export interface RestoredMachine extends Pick<BackupManifest, 'at' | 'host' | 'leftOut'> {
  readonly folder: string;
  /** The restored parts and their places. */
  readonly restored: readonly { readonly part: BackupPart; readonly place: string; readonly before?: string }[];
  /** Descriptions of the parts that stayed unchanged here. */
  readonly kept: readonly string[];
}

/**
 * Restores a backup to places where none of its files exist. All files are first copied next to their places and then
 * moved there; the database of Temporal comes last, after its write-ahead log. After a killed restore, the next one is
 * refused until the remains are moved away.
 * @throws ConveyorError `backup-unusable`, `restore-refused`
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoredMachine> {
  const { folder, places, versions, addresses } = options;
  const manifest = readManifest(folder);
  requireNotNewer(folder, manifest, versions);
  requireNamed(manifest, options);
  await requireWhole(folder, manifest);
  await requireStopped(places, addresses);
  const { placed, kept } = await placeAll(manifest, options);
  await requireAbsent(placed, options);
  await requireRoom(placed);
  await putBack(placed, options);
  const restored = placed.map(({ part, to, before }) => ({
    part,
    place: to,
    ...(before === undefined || before === to ? {} : { before }),
  }));
  return { folder, at: manifest.at, host: manifest.host, restored, kept, leftOut: manifest.leftOut };
}

/** @throws ConveyorError `backup-unusable` */
async function requireWhole(folder: string, { files }: BackupManifest): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    const found = await digestFile(join(folder, path)).catch(() => undefined);
    if (found?.bytes === bytes && found.sha256 === sha256) continue;
    const why = found === undefined ? `${path} is missing or cannot be read` : `${path} is not as it was written`;
    throw conveyorError('backup-unusable', { folder, why });
  }
  if (!files.some(({ part }) => part === 'temporal'))
    throw conveyorError('backup-unusable', { folder, why: 'it holds no database of Temporal' });
}

/** @throws ConveyorError `restore-refused` */
async function requireStopped(places: BackupPlaces, { temporal, server }: RestoreOptions['addresses']): Promise<void> {
  const refused = (why: string, how: string) => conveyorError('restore-refused', { why, how });
  const seen = conveyorProcesses(temporal);
  if (seen.length > 0)
    throw refused(
      `${joinWords(
        seen.map(({ name, pid }) => `${name} ${pid}`),
        'and',
      )} still ${conjugate(seen.length, 'run')}`,
      'stop everything first, workers on other machines too: a worker would write its memory into the restored state',
    );
  if (await accepts(parseHost(temporal), parsePort(temporal)))
    throw refused(`Temporal runs at ${temporal}`, 'stop it, and all workers and servers');
  if (await respondsOk(`${server}/livez`))
    throw refused(`a Conveyor server answers at ${server}`, 'stop it, and all workers');
  const open = existsSync(places.database) ? await findProcessesWith(places.database) : [];
  if (open.length > 0) throw refused(`process ${open.join(', ')} has ${places.database} open`, 'stop it first');
}

/** @throws ConveyorError `restore-refused` with the commands that move the existing files away */
async function requireAbsent(placed: readonly RestoreItem[], { places, nowMs }: RestoreOptions): Promise<void> {
  const parts = new Set(placed.map(({ part }) => part));
  const wanted = [
    ...placed.map(({ to }) => to),
    ...databaseFiles(places.database),
    ...(parts.has('archive') && places.archive !== null ? [`${places.archive}.wal`] : []),
    ...(parts.has('audit') && places.audit !== null ? await auditFiles(places.audit) : []),
    // Its values belong to a later state of the repository.
    ...(parts.has('repositories') ? [storeFolder(places)] : []),
  ];
  const there = [...new Set(wanted)].filter((path) => existsSync(path) && !isEmptyFolder(path));
  if (there.length === 0) return;
  // An unused name, so that two restores do not overwrite each other's files.
  const suffix = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  throw conveyorError('restore-refused', {
    why: `${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} already there`,
    how: `move ${there.length === 1 ? 'it' : 'them'} away: ${there.map((path) => `mv ${asWord(path)} ${asWord(`${path}.${suffix}`)}`).join(' && ')}`,
  });
}

/** @throws ConveyorError `restore-refused` if a disk lacks space for the files */
async function requireRoom(placed: readonly RestoreItem[]): Promise<void> {
  // Files that a killed restore has left are overwritten.
  const writes = placed.map(async ({ to, bytes }) => ({ path: to, bytes: bytes - (await sizeOfFiles([asPart(to)])) }));
  const shortage = await findShortage(await Promise.all(writes));
  if (shortage === undefined) return;
  const { folder, neededBytes, roomBytes } = shortage;
  const parts = [...new Set(placed.map(({ part }) => PART_NAMES[part]))];
  throw conveyorError('restore-refused', {
    why: `${joinWords(parts, 'and')} take ${formatFileSize(neededBytes)} on the disk of ${folder}, which has room for ${formatFileSize(roomBytes)}`,
    how: 'make room there, or name places on another disk in conveyor.config.yaml, with --db or with --state',
  });
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/**
 * @throws ConveyorError `restore-refused` for an error of the disk; a repository created before that stays, and the
 * next restore names it
 */
async function putBack(placed: readonly RestoreItem[], { places, addresses, env }: RestoreOptions): Promise<void> {
  const files = placed
    .filter(({ part }) => part !== 'repositories')
    .sort((a, b) => countTurn(a, places) - countTurn(b, places));
  try {
    for (const { from, to } of files) {
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await rm(asPart(to), { force: true });
      await copyBytes(from, asPart(to));
      await giveToOwnerOfFolder(asPart(to));
      await syncFile(asPart(to));
    }
    for (const { from, to } of placed.filter(({ part }) => part === 'repositories')) {
      const repository = places.repositories.find(({ git }) => git === to);
      if (repository !== undefined) await restoreRepository(repository, from, env);
    }
    // A service manager may have started a process during the copy of gigabytes.
    await requireStopped(places, addresses);
    for (const { to } of files) await takePlace(asPart(to), to);
  } catch (error) {
    for (const { to } of files) await rm(asPart(to), { force: true }).catch(() => undefined);
    if (error instanceof ConveyorError) throw error;
    const how = isDiskFull(error) ? MAKE_ROOM : 'look at the disk';
    throw conveyorError('restore-refused', { why: describeTrouble(error), how });
  }
}

/** When root restores, the owner of the folder gets the file; otherwise that user could not open it. */
async function giveToOwnerOfFolder(file: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(dirname(file));
  await chown(file, uid, gid);
}

/** Never replaces a file created meanwhile. @throws Error `EEXIST` */
async function takePlace(part: string, to: string): Promise<void> {
  try {
    await link(part, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!WITHOUT_LINKS.includes(code) || existsSync(to)) throw error;
    return rename(part, to);
  }
  await rm(part);
}

/** Errors of file systems without hard links. */
const WITHOUT_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

const asPart = (to: string): string => `${to}.part`;

/** The database comes after its log: without the log it would look like a complete, older database. */
const countTurn = ({ to }: RestoreItem, { database }: BackupPlaces): number => (to === database ? 1 : 0);

/** The restored places, in words. */
export const placesText = ({ restored }: RestoredMachine): readonly string[] =>
  restored.map(
    ({ part, place, before }) => `${PART_NAMES[part]}: ${place}${before === undefined ? '' : `, before at ${before}`}`,
  );
