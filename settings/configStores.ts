import { accessSync, constants, readFileSync } from 'node:fs';
import { conveyorError } from '../domain/errors';
import { isLoopback } from '../domain/loopback';
import type { ConfigRepositorySettings, StoreTls } from './configRepositories';

/** Open stores, and stores on other machines whose hosts could not recognise forged records. */
export const lintStores = (all: readonly ConfigRepositorySettings[]): readonly string[] =>
  all.flatMap(({ name, etcd, login, signing }) => {
    if (etcd === null || etcd.split(',').every((url) => isLoopback(new URL(url.trim()).hostname))) return [];
    const at = `config.repositories.${name}.etcd`;
    return [
      ...(login === undefined
        ? [
            `${at}: without a user, any process that reaches the store can change what hosts read (docs/guides/secure.md)`,
          ]
        : []),
      ...(signing?.key === undefined
        ? [`${at}: without a signingKey, hosts trust any content of the store (docs/guides/secure.md)`]
        : []),
    ];
  });

type StoreOpening = Pick<ConfigRepositorySettings, 'etcd' | 'login' | 'tls'>;

/** The options of a store client. @throws ConveyorError `usage` for a password that is not set, `config-invalid` for a file that cannot be read */
export function storeDoor({ login, tls }: StoreOpening) {
  const pem = Object.entries(tls ?? {}).map(([name, file]: [string, string]) => [name, readPem(file, 'certificate')]);
  if (login === undefined) return { ...(tls ? { tls: Object.fromEntries(pem) as StoreTls } : {}) };
  const { user, password, passwordEnv } = login;
  if (!password)
    throw conveyorError('usage', {
      text: `${passwordEnv} is not set, which holds the password of ${user} at the store of configuration`,
      hint: 'set it where this process starts (docs/guides/secure.md)',
    });
  return { ...(tls ? { tls: Object.fromEntries(pem) as StoreTls } : {}), login: { user, password } };
}

/** The keys that sign and verify records of a store. @throws ConveyorError `config-invalid` for a file that cannot be read */
export function storeSigning({ signing }: Pick<ConfigRepositorySettings, 'signing'>) {
  if (signing === undefined) return {};
  const { key, trusted = [] } = signing;
  return {
    ...(key === undefined ? {} : { key: readPem(key, 'key') }),
    trusted: trusted.map((file) => readPem(file, 'key')),
  };
}

/**
 * The keys by which a reader verifies records: those of the files that it names, else those of the settings. None if the private key of the settings
 * is not readable here: the other keys may be ones that it has replaced. @throws ConveyorError `config-invalid`
 */
export function storeTrust({ signing }: Pick<ConfigRepositorySettings, 'signing'>, files: readonly string[] = []) {
  if (files.length > 0) return storeSigning({ signing: { trusted: files } });
  const isReadable = signing?.key === undefined || canRead(signing.key);
  return signing !== undefined && isReadable ? storeSigning({ signing }) : undefined;
}

function canRead(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function readPem(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw conveyorError('config-invalid', { file, detail: `a ${what} of the store: ${(error as Error).message}` });
  }
}
