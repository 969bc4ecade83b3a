import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { copyEmbedded } from '../../archive/duckdb';
import { closeFolder } from '../../settings/ownFolder';
import type { Io } from '../io';
import { printNote } from '../output';
import { copyAudit } from './audit';
import { copyDatabase } from './database';
import { copyBytes, describeTrouble, digestFile, formatFileSize, isDiskFull, MAKE_ROOM, syncFile } from './files';
import {
  BACKUP_PARTS,
  PART_NAMES,
  writeManifest,
  type BackupManifest,
  type BackupPart,
  type CopiedFile,
} from './manifest';
import type { BackupPlaces } from './places';
import { findPlace } from './placement';
import { requireRoom } from './needs';
import { copyRepositories } from './repositories';

interface BackupOptions {
  readonly folder: string;
  readonly places: BackupPlaces;
  /** host:port */
  readonly temporal: string;
  readonly versions: BackupManifest['versions'];
}

/** One copied part: the names of the copies, and notes for people. */
interface PartCopyResult {
  readonly names: readonly string[];
  readonly pausedMs?: number;
  readonly warning?: string;
}

/**
 * Copies all data of this machine while everything runs. The order of `BACKUP_PARTS` ensures that no part refers to
 * data that a later part lacks: the archive comes before Temporal, Temporal before the state of the configuration
 * service and the repositories, and every answered command is in the audit. @returns undefined if interrupted; then, as
 * after an error, nothing is left in the folder
 * @throws ConveyorError `backup-failed`, `usage`, and those of the parts
 */
export async function makeBackup(
  io: Io,
  options: BackupOptions,
  stop: AbortSignal,
): Promise<Omit<BackupManifest, 'format'> | undefined> {
  const { folder, places, versions } = options;
  const at = new Date(io.now()).toISOString();
  requireEmpty(folder);
  await requireRoom(folder, places);
  try {
    const files: CopiedFile[] = [];
    let pausedMs = 0;
    for (const part of BACKUP_PARTS) {
      if (stop.aborted) break;
      const { names, ...more } = await withBackupErrors(part, () => copyPart(part, options));
      const copied = await withBackupErrors(part, () => digestCopiedFiles(options, part, names));
      files.push(...copied);
      pausedMs += more.pausedMs ?? 0;
      if (copied.length > 0) printNote(io, `  ✔ ${describeProgress(part, copied, more)}`);
      if (more.warning !== undefined) printNote(io, `warning: ${more.warning}`);
    }
    const manifest = { at, host: hostname(), versions, pausedMs, files, named: places.named, leftOut: places.leftOut };
    if (!stop.aborted) await withBackupErrors('configuration', () => Promise.resolve(writeManifest(folder, manifest)));
    if (!stop.aborted) return manifest;
  } catch (error) {
    await removeParts(folder);
    throw error;
  }
  await removeParts(folder);
  return undefined;
}

/** @throws ConveyorError `usage` */
function requireEmpty(folder: string): void {
  let names: readonly string[];
  try {
    // The mode of another user's folder is not changed.
    names = existsSync(folder) ? readdirSync(folder) : [];
    if (names.length === 0) closeFolder(folder);
  } catch (error) {
    throw conveyorError('usage', {
      text: `${folder} is not a writable folder: ${describeTrouble(error)}`,
      hint: ANOTHER,
    });
  }
  if (names.length > 0) throw conveyorError('usage', { text: `${folder} is not empty`, hint: ANOTHER });
}

const ANOTHER = 'choose an empty or new folder, such as one for each day';

async function copyPart(part: BackupPart, { folder, places, temporal }: BackupOptions): Promise<PartCopyResult> {
  const to = join(folder, part);
  closeFolder(to);
  switch (part) {
    case 'archive':
      return copyArchive(places.archive, to);
    case 'temporal': {
      const { result, pausedMs } = await copyDatabase(places.database, to, temporal);
      return { names: result, pausedMs };
    }
    case 'config-service':
      return copySingle(places.state, to, 'service.json');
    case 'repositories':
      return { names: await copyRepositories(places.repositories, to) };
    case 'audit': {
      if (places.audit === null) return { names: [] };
      const { names, broken } = await copyAudit(places.audit, to);
      return {
        names,
        ...(broken === null ? {} : { warning: `the audit is broken, and is copied as it is: ${broken}` }),
      };
    }
    case 'configuration':
      return copySingle(places.configuration, to, 'conveyor.config.yaml');
  }
}

async function copyArchive(archive: string | null, to: string): Promise<PartCopyResult> {
  if (archive === null || !existsSync(archive)) return { names: [] };
  await copyEmbedded(archive, join(to, 'archive.duckdb'));
  return { names: ['archive.duckdb'] };
}

async function copySingle(file: string, to: string, name: string): Promise<PartCopyResult> {
  if (!existsSync(file)) return { names: [] };
  await copyBytes(file, join(to, name));
  return { names: [name] };
}

async function digestCopiedFiles(
  { folder, places }: BackupOptions,
  part: BackupPart,
  names: readonly string[],
): Promise<readonly CopiedFile[]> {
  const files: CopiedFile[] = [];
  for (const name of [...names].sort()) {
    const file = join(folder, part, name);
    await syncFile(file);
    const copied = { part, path: `${part}/${name}` };
    files.push({ ...copied, ...(await digestFile(file)), place: findPlace(copied, places) });
  }
  return files;
}

function describeProgress(
  part: BackupPart,
  files: readonly CopiedFile[],
  { pausedMs }: Omit<PartCopyResult, 'names'>,
): string {
  const size = formatFileSize(files.reduce((sum, { bytes }) => sum + bytes, 0));
  return `${PART_NAMES[part]}: ${size}${pausedMs ? `, with Temporal paused for ${pausedMs} ms` : ''}`;
}

/** Removes only the files that this backup has put into the folder. */
async function removeParts(folder: string): Promise<void> {
  for (const part of BACKUP_PARTS)
    await rm(join(folder, part), { recursive: true, force: true }).catch(() => undefined);
}

/** @throws ConveyorError `backup-failed` for an error of the disk */
async function withBackupErrors<T>(part: BackupPart, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConveyorError) throw error;
    const how = isDiskFull(error) ? MAKE_ROOM : 'check the disk of the folder; nothing else was changed';
    throw conveyorError('backup-failed', { part: PART_NAMES[part], detail: describeTrouble(error), how });
  }
}
