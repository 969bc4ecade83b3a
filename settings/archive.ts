import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ARCHIVE_LIMITS } from '../domain/limits';
import { DAY_MS, MINUTE_MS } from '../domain/milliseconds';
import { duration } from '../domain/spec/scalars';

/** The archive of workers: `archive` of conveyor.config.yaml. */
export interface ArchiveSettings {
  /** An absolute path, or the variable that holds the address of a database, which `configuration` names. */
  readonly store: { readonly file: string } | { readonly urlEnv: string; readonly configuration: string };
  /** How long rows are kept after the recorded end, in ms. */
  readonly keepMs: number;
  /** The pause between two searches for ended runs, in ms. */
  readonly intervalMs: number;
}

/** The key of conveyor.config.yaml that this file handles. */
export const archiveFields = {
  archive: z
    .strictObject({
      file: z
        .string()
        .regex(/^[^\0]{1,1000}\.duckdb$/, { error: 'expected a file such as /var/lib/conveyor/archive.duckdb' })
        .optional(),
      urlEnv: z
        .string()
        .regex(/^[A-Za-z_]\w{0,199}$/, { error: 'expected the name of an environment variable' })
        .optional(),
      keep: duration.default(400 * DAY_MS),
      interval: duration.default(MINUTE_MS),
    })
    .refine(({ file, urlEnv }) => (file === undefined) !== (urlEnv === undefined), {
      error: 'either file, or urlEnv for PostgreSQL',
    })
    .refine(({ keep }) => keep >= DAY_MS, { path: ['keep'], error: 'a day at least' })
    .refine(({ keep }) => keep <= ARCHIVE_LIMITS.days.max * DAY_MS, {
      path: ['keep'],
      error: `${ARCHIVE_LIMITS.days.max} days at most`,
    })
    .refine(({ interval }) => interval >= 1000, { path: ['interval'], error: 'a second at least' })
    .optional(),
};

interface ArchiveConfig {
  readonly archive?: z.output<typeof archiveFields.archive>;
}

export function toArchive({ archive }: ArchiveConfig, configuration: string): ArchiveSettings | null {
  if (archive === undefined) return null;
  const { file, urlEnv = '', keep, interval } = archive;
  const store = file === undefined ? { urlEnv, configuration } : { file: resolve(dirname(configuration), file) };
  return { store, keepMs: keep, intervalMs: interval };
}
