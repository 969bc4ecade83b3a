import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { joinWords } from '../../domain/text';
import { asWord } from '../typedCommand';
import { auditFiles, explainBreak, fromAuditCopy, lastRecords } from './audit';
import { nameFromCopy } from './database';
import { digestFile } from './files';
import { PART_NAMES, type BackupManifest, type BackupPart, type CopiedFile, type NamedPlaces } from './manifest';
import type { BackupPlaces } from './places';

/** Parts that a restore may leave in the backup: the others have a place on every machine. */
export const LEAVABLE_PARTS = ['archive', 'repositories', 'audit'] as const satisfies readonly BackupPart[];
export type LeavablePart = (typeof LEAVABLE_PARTS)[number];

/** A file or a repository of the backup, and where it belongs. */
export interface RestoreItem {
  readonly part: BackupPart;
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
  /** Its place when the backup was made; undefined in older backups. */
  readonly before: string | undefined;
}

interface PlacementRequest {
  readonly folder: string;
  readonly places: BackupPlaces;
  readonly without: readonly LeavablePart[];
}

/** The command that restores a backup to the named places. */
export const restoreCommand = (folder: string, { db, state, config }: NamedPlaces): string =>
  [
    ...(config === undefined ? [] : [`CONVEYOR_CONFIG=${asWord(config)}`]),
    `conveyor restore ${asWord(folder)}`,
    ...(db === undefined ? [] : [`--db ${asWord(db)}`]),
    ...(state === undefined ? [] : [`--state ${asWord(state)}`]),
  ].join(' ');

/**
 * A command without the options of the backup would restore files to places where no process looks for them. The places
 * in the backup are not used automatically, because the list could be a stranger's. @throws ConveyorError
 * `restore-refused` if the backup has a named place that this command does not name
 */
export function requireNamed({ named = {} }: BackupManifest, { folder, places, without }: PlacementRequest): void {
  const here = { db: places.database, state: places.state, config: places.configuration };
  const names = (['db', 'state', 'config'] as const).filter(
    (name) => named[name] !== undefined && places.named[name] === undefined && named[name] !== here[name],
  );
  if (names.length === 0) return;
  const elsewhere = names.map((name) => `${NAMED_PARTS[name]} was ${named[name]}, and would be ${here[name]}`);
  const leave = without.length === 0 ? '' : ` --without ${without.join(' ')}`;
  const ways = names.map((name) => NAMED_BY[name]);
  throw conveyorError('restore-refused', {
    why: elsewhere.join('; '),
    how: `${restoreCommand(folder, { ...named, ...places.named })}${leave} puts it back where it was; for another place use ${joinWords(ways, 'and')}`,
  });
}

const NAMED_PARTS = {
  db: 'the database of Temporal',
  state: 'the state of the service of configuration',
  config: 'the file of settings',
};
const NAMED_BY = { db: '--db', state: '--state', config: 'CONVEYOR_CONFIG' };

/**
 * The place of each file of a backup, and descriptions of the parts that stay unchanged. @throws ConveyorError
 * `restore-refused` if the settings of this machine have no place for a part, which would otherwise be missed only
 * later
 */
export async function placeAll(
  { files }: BackupManifest,
  placing: PlacementRequest,
): Promise<{ readonly placed: readonly RestoreItem[]; readonly kept: readonly string[] }> {
  const { folder, places, without } = placing;
  const kept = without
    .filter((part) => files.some((file) => file.part === part))
    .map((part) => `${PART_NAMES[part]}, left out as asked: ${join(folder, part)}`);
  const placed: RestoreItem[] = [];
  const homeless: CopiedFile[] = [];
  const isAuditHere = places.audit !== null && (await continues(places.audit, folder));
  if (isAuditHere && !without.includes('audit'))
    kept.push(`the audit ${places.audit}, which continues that of the backup`);
  for (const file of files) {
    const to = findPlace(file, places);
    const from = join(folder, file.path);
    if (without.some((part) => part === file.part) || (file.part === 'audit' && isAuditHere)) continue;
    if (file.part === 'configuration' && existsSync(places.configuration)) {
      if ((await digestFile(places.configuration)).sha256 !== file.sha256)
        kept.push(`${places.configuration}, which differs from ${from}: compare them`);
    } else if (to === undefined) homeless.push(file);
    else placed.push({ part: file.part, from, to, bytes: file.bytes, before: file.place });
  }
  if (homeless.length > 0) throw withoutPlace(homeless, placing);
  return { placed, kept };
}

function withoutPlace(homeless: readonly CopiedFile[], { folder, places, without }: PlacementRequest): Error {
  const parts = [...new Set(homeless.map(({ part }) => part))];
  const copy = join(folder, 'configuration', 'conveyor.config.yaml');
  const leave = [...without, ...parts].join(' ');
  return conveyorError('restore-refused', {
    why: `${places.configuration} names no place for ${joinWords(
      parts.map((part) => PART_NAMES[part]),
      'and',
    )} of the backup`,
    how: `copy the places from ${copy}, or leave these parts in the backup: ${restoreCommand(folder, places.named)} --without ${leave}`,
  });
}

/** Undefined if the configuration of this machine has none. */
export function findPlace({ part, path }: Pick<CopiedFile, 'part' | 'path'>, places: BackupPlaces): string | undefined {
  const name = basename(path);
  switch (part) {
    case 'archive':
      return places.archive ?? undefined;
    case 'temporal':
      return nameFromCopy(places.database, name);
    case 'config-service':
      return places.state;
    case 'repositories':
      return places.repositories.find((one) => `${one.name}.bundle` === name)?.git;
    case 'audit':
      return places.audit === null ? undefined : fromAuditCopy(places.audit, name);
    case 'configuration':
      return places.configuration;
  }
}

/** Whether the audit here contains every record of the backup: then it is newer and must be kept as evidence. */
async function continues(audit: string, folder: string): Promise<boolean> {
  const last = await lastRecords(join(folder, 'audit', 'audit.jsonl'));
  return (await auditFiles(audit)).length > 0 && (await explainBreak(audit, last)) === null;
}
