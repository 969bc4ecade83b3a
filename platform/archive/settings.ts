import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { DAY_MS, MINUTE_MS } from '../../domain/milliseconds';
import { duration } from '../../domain/spec/scalars';

/** Where workers keep what releases and deploys came to: `archive` of conveyor.config.yaml. */
export interface ArchiveSettings {
  /** Absolute. */
  readonly file: string;
  /** For how long rows are kept after the end that they record, ms. */
  readonly keepMs: number;
  /** How long a worker pauses between two looks for what has ended, ms. */
  readonly intervalMs: number;
}

/** The key of conveyor.config.yaml that this file is about. */
export const archiveFields = {
  archive: z
    .strictObject({
      file: z
        .string()
        .regex(/^[^\0]{1,1000}\.duckdb$/, { error: 'expected a file such as /var/lib/conveyor/archive.duckdb' }),
      keep: duration.default(400 * DAY_MS),
      interval: duration.default(MINUTE_MS),
    })
    .refine(({ keep }) => keep >= DAY_MS, { path: ['keep'], error: 'a day at least' })
    .refine(({ interval }) => interval >= 1000, { path: ['interval'], error: 'a second at least' })
    .optional(),
};

interface ArchiveConfig {
  readonly archive?: z.output<typeof archiveFields.archive>;
}

export const toArchive = ({ archive }: ArchiveConfig, file: string): ArchiveSettings | null =>
  archive === undefined
    ? null
    : { file: resolve(dirname(file), archive.file), keepMs: archive.keep, intervalMs: archive.interval };
