import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { joinWords } from '../../domain/text';
import { auditFiles } from './audit';
import { databaseFiles } from './database';
import { formatFileSize, MAKE_ROOM, sizeOfFiles } from './files';
import { BACKUP_PARTS, PART_NAMES, type BackupPart } from './manifest';
import type { BackupPlaces } from './places';
import { sizeOfRepositories } from './repositories';
import { findShortage } from './room';

/** The space for a backup is checked before it begins: a full disk would break everything that runs on it. */

/** @throws ConveyorError `backup-failed` if the disk of the folder lacks space for all parts together */
export async function requireRoom(folder: string, places: BackupPlaces): Promise<void> {
  const needs = await Promise.all(BACKUP_PARTS.map(async (part) => ({ part, bytes: await measurePart(part, places) })));
  const bytes = needs.reduce((sum, need) => sum + need.bytes, 0);
  const shortage = await findShortage([{ path: join(folder, 'backup'), bytes }]);
  if (shortage === undefined) return;
  const parts = needs.filter((need) => need.bytes > 0);
  const each = parts.map((need) => `${PART_NAMES[need.part]} (${formatFileSize(need.bytes)})`);
  throw conveyorError('backup-failed', {
    part: `the disk of ${shortage.folder}`,
    detail: `${joinWords(each, 'and')} ${parts.length === 1 ? 'needs' : 'need'} ${formatFileSize(bytes)}, and ${formatFileSize(shortage.roomBytes)} are free`,
    how: MAKE_ROOM,
  });
}

/** The largest possible size; a copy may be smaller. */
async function measurePart(part: BackupPart, places: BackupPlaces): Promise<number> {
  const { database, archive, audit, state, repositories, configuration } = places;
  switch (part) {
    case 'archive':
      return archive === null ? 0 : sizeOfFiles([archive, `${archive}.wal`]);
    case 'temporal':
      return existsSync(database) ? sizeOfFiles(databaseFiles(realpathSync(database))) : 0;
    case 'config-service':
      return sizeOfFiles([state]);
    case 'repositories':
      return sizeOfRepositories(repositories);
    case 'audit':
      return audit === null ? 0 : sizeOfFiles(await auditFiles(audit));
    case 'configuration':
      return sizeOfFiles([configuration]);
  }
}
