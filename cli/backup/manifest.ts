import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { conveyorError } from '../../domain/errors';
import { SEMANTIC_ORDER } from '../../sdk/versions';
import { replaceFileSync } from '../../sdk/replaceFile';

/** The contents of a backup (docs/adr/0066-a-backup-of-one-machine.md). It is written last: a folder without it holds no backup. */
const MANIFEST = 'backup.json';
const BACKUP_FORMAT = 1;

/** At most one folder deep, so that a foreign backup cannot point elsewhere. */
const PATH_INSIDE = /^(?:[\w-]+\/)?(?!\.)[\w.-]+$/;

export const BACKUP_PARTS = [
  'archive',
  'temporal',
  'config-service',
  'repositories',
  'audit',
  'configuration',
] as const;
export type BackupPart = (typeof BACKUP_PARTS)[number];

export const PART_NAMES: Readonly<Record<BackupPart, string>> = {
  archive: 'the archive',
  temporal: 'Temporal',
  'config-service': 'the state of the configuration service',
  repositories: 'repositories of configuration',
  audit: 'the audit',
  configuration: 'conveyor.config.yaml',
};

const copiedFile = z.object({
  part: z.enum(BACKUP_PARTS),
  /** The path relative to the folder of the backup. */
  path: z.string().regex(PATH_INSIDE),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The place of the file on its machine; shown, and never written to. Older backups lack it. */
  place: z.string().optional(),
});
export type CopiedFile = Readonly<z.output<typeof copiedFile>>;

const namedPlaces = z.object({ db: z.string(), state: z.string(), config: z.string() }).partial().readonly();
/** The database of Temporal, the state of the configuration service, and the file of settings. */
export type NamedPlaces = z.output<typeof namedPlaces>;

const manifestSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** When the first part was copied, RFC 3339. */
  at: z.iso.datetime(),
  host: z.string(),
  versions: z.object({ conveyor: z.string(), temporal: z.string().nullable() }),
  /** How long Temporal was stopped, in ms. */
  pausedMs: z.number(),
  files: z.array(copiedFile).readonly(),
  /** Absolute paths of places named by options or variables. A restore requires them to be named again. */
  named: namedPlaces.optional(),
  /** Descriptions of the omitted parts. */
  leftOut: z.array(z.string()).readonly(),
});
export type BackupManifest = Readonly<z.output<typeof manifestSchema>>;

export function writeManifest(folder: string, manifest: Omit<BackupManifest, 'format'>): void {
  replaceFileSync(join(folder, MANIFEST), `${JSON.stringify({ format: BACKUP_FORMAT, ...manifest }, null, 2)}\n`, {
    mode: 0o600,
  });
}

/** @throws ConveyorError `backup-unusable` if there is none, or a newer Conveyor wrote it */
export function readManifest(folder: string): BackupManifest {
  const unusable = (why: string) => conveyorError('backup-unusable', { folder, why });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw unusable(isMissing ? `it has no ${MANIFEST}, which is written last` : `${MANIFEST} cannot be read`);
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > BACKUP_FORMAT)
    throw conveyorError('backup-unusable', { folder, why: 'a newer Conveyor made it', how: SAME_VERSION });
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(`${MANIFEST} is not as it was written: ${issue?.path.join('.')}: ${issue?.message}`);
}

type Versions = BackupManifest['versions'];

/** Older programs may not understand what newer ones wrote. @throws ConveyorError `backup-unusable` */
export function requireNotNewer(folder: string, { versions }: Pick<BackupManifest, 'versions'>, here: Versions): void {
  const { isVersion, compare } = SEMANTIC_ORDER;
  for (const [name, program] of [['conveyor', 'Conveyor'] as const, ['temporal', 'Temporal server'] as const]) {
    const [there, own] = [versions[name], here[name]];
    if (there === null || own === null || ![there, own].every((one) => isVersion(one)) || compare(there, own) <= 0)
      continue;
    const why = `it was made with ${program} ${there}, and this is ${own}`;
    throw conveyorError('backup-unusable', { folder, why, how: SAME_VERSION });
  }
}

const SAME_VERSION = 'restore it with the version that made it, or a newer one';
