import { conveyorError } from '../domain/errors';
import { redactUrl } from '../domain/redactUrl';
import type { Env } from '../settings/env';
import type { Archive } from './port';
import type { ArchiveSettings } from '../settings/archive';

/** An archive, with its name for messages. */
export interface OpenArchive {
  readonly archive: Archive;
  readonly place: string;
}

/**
 * The archive that a configuration names; it is opened on first use. @throws ConveyorError `config-invalid` without its
 * URL
 */
export async function openArchive({ store }: Pick<ArchiveSettings, 'store'>, env: Env): Promise<OpenArchive> {
  if ('file' in store) {
    const { openEmbedded } = await import('./duckdb');
    return { archive: openEmbedded(store.file), place: store.file };
  }
  const url = env[store.urlEnv] ?? '';
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url))
    throw conveyorError('config-invalid', {
      file: store.configuration,
      detail: `archive.urlEnv names ${store.urlEnv}, which is ${url === '' ? 'not set' : 'no address'}: postgres://user:password@host:5432/database`,
    });
  const { openPostgres } = await import('./postgres');
  return { archive: openPostgres(url), place: redactUrl(url) };
}
