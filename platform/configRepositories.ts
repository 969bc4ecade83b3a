import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isStoreOpenToOthers, whyNotStoreUrls } from '../domain/config/storeUrl';
import { conveyorError } from '../domain/errors';
import { NAME } from '../domain/ids';
import { isLoopback } from '../domain/loopback';
import { ACCESS_LIMITS } from '../domain/limits';
import type { Principal } from '../domain/principals';
import { listOf, principal } from '../domain/spec/scalars';
import type { Env } from './env';
import { programsSchema } from './programs';
import { variableName } from './secrets';

/** A repository of configuration, and where its values go. */
export interface ConfigRepositorySettings {
  readonly name: string;
  /** A path or a URL, as git takes it. */
  readonly git: string;
  readonly branch: string;
  /** The store that hosts read, of a cluster with commas; null where nobody reads it. */
  readonly etcd: string | null;
  /** As whom it is entered; missing where it is open. */
  readonly login?: StoreLogin;
  /** Certificates of the connection to it. */
  readonly tls?: StoreTls;
  /** Who may propose changes; missing where the file lists nobody. */
  readonly owners?: readonly Principal[];
}

/** A user of the store. The password is undefined where its variable is not set: such a process does not get in. */
export interface StoreLogin {
  readonly user: string;
  readonly passwordEnv: string;
  readonly password: string | undefined;
}

/** Files with PEM. */
export interface StoreTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const storeUrl = z.string().superRefine((text, context) => {
  const why = whyNotStoreUrls(text);
  if (why !== undefined) context.addIssue(why);
});

const openStore = storeUrl.transform((url) => ({ url }));

const storeSchema = z
  .strictObject({
    url: storeUrl,
    user: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/, { error: 'expected the name of a user of etcd' })
      .optional(),
    passwordEnv: variableName.optional(),
    ca: z.string().min(1).max(1024).optional(),
    cert: z.string().min(1).max(1024).optional(),
    key: z.string().min(1).max(1024).optional(),
  })
  .superRefine(({ url, user, passwordEnv, cert, key }, context) => {
    if ((user === undefined) !== (passwordEnv === undefined)) context.addIssue('user and passwordEnv go together');
    if ((cert === undefined) !== (key === undefined)) context.addIssue('cert and key go together');
    if (user !== undefined && whyNotStoreUrls(url) === undefined && isStoreOpenToOthers(url))
      context.addIssue('a password goes over https, or stays on this machine');
  });

/** A URL of an open store, or how one is entered. Unlike a union it says what is wrong, and where. */
const urlOrStore = z.unknown().transform((value, context): z.output<typeof storeSchema> => {
  const parsed = typeof value === 'string' ? openStore.safeParse(value) : storeSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

const repositorySchema = z.strictObject({
  // What begins with a dash would be an option, and ext:: a program.
  git: z
    .string()
    .min(1)
    .max(1024)
    .refine((text) => !text.startsWith('-') && !/^\w+::/.test(text), {
      error: 'expected a path or a URL of a git repository',
    }),
  branch: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/, { error: 'expected the name of a branch' })
    .refine((text) => !text.includes('..') && !text.endsWith('/') && !text.endsWith('.lock'), {
      error: 'expected the name of a branch',
    })
    .default('main'),
  etcd: urlOrStore.optional(),
  owners: listOf(principal, ACCESS_LIMITS.principals)
    .min(1, { error: 'expected at least one principal; without any, leave it out' })
    .optional(),
});

export const configFields = {
  config: z
    .strictObject({
      repositories: z
        .record(z.string().regex(NAME, { error: 'expected a name such as flags' }), repositorySchema)
        .default({}),
      programs: programsSchema,
    })
    .default({ repositories: {}, programs: { allowMissing: [] } }),
};

/** Paths are relative to the file. */
export const toConfigRepositories = (
  { config }: { readonly config: z.output<typeof configFields.config> },
  env: Env,
  file: string,
): readonly ConfigRepositorySettings[] =>
  Object.entries(config.repositories).map(([name, { git, branch, etcd, owners }]) => ({
    ...{ name, branch, etcd: etcd?.url ?? null },
    ...storeAccess(etcd, env, dirname(file)),
    ...(owners === undefined ? {} : { owners }),
    git: /^[\w.@-]+:/.test(git) ? git : resolve(dirname(file), git),
  }));

type Store = z.output<typeof storeSchema>;

function storeAccess({ user, passwordEnv, ca, cert, key }: Partial<Store> = {}, env: Env, folder: string) {
  const files = Object.entries({ ca, cert, key }).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, resolve(folder, file)]],
  );
  return {
    ...(user === undefined || passwordEnv === undefined
      ? {}
      : { login: { user, passwordEnv, password: env[passwordEnv] } }),
    ...(files.length === 0 ? {} : { tls: Object.fromEntries(files) as StoreTls }),
  };
}

/** Doors of stores that stand open. */
export const lintStores = (all: readonly ConfigRepositorySettings[]): readonly string[] =>
  all.flatMap(({ name, etcd, login }) =>
    etcd === null || login !== undefined || !etcd.split(',').some((url) => !isLoopback(new URL(url.trim()).hostname))
      ? []
      : [
          `config.repositories.${name}.etcd: without a user, whoever reaches the store changes what hosts read (docs/guides/secure.md)`,
        ],
  );

type StoreOpening = Pick<ConfigRepositorySettings, 'etcd' | 'login' | 'tls'>;

/** What a client of the store is made with. @throws ConveyorError `usage` for a password that is not set, `config-invalid` for a file that cannot be read */
export function storeDoor({ login, tls }: StoreOpening) {
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      throw conveyorError('config-invalid', {
        file,
        detail: `a certificate of the store: ${(error as Error).message}`,
      });
    }
  };
  const pem = Object.entries(tls ?? {}).map(([name, file]: [string, string]) => [name, read(file)]);
  if (login === undefined) return { ...(tls ? { tls: Object.fromEntries(pem) as StoreTls } : {}) };
  const { user, password, passwordEnv } = login;
  if (!password)
    throw conveyorError('usage', {
      text: `${passwordEnv} is not set, which holds the password of ${user} at the store of configuration`,
      hint: 'set it where this process starts (docs/guides/secure.md)',
    });
  return { ...(tls ? { tls: Object.fromEntries(pem) as StoreTls } : {}), login: { user, password } };
}
