import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isStoreOpenToOthers, whyNotStoreUrls } from '../configerator/domain/storeUrl';
import type { PathRule } from '../domain/access/paths';
import { NAME } from '../domain/ids';
import { ACCESS_LIMITS } from '../domain/limits';
import type { Principal } from '../domain/principals';
import { listOf, principal } from '../domain/spec/scalars';
import type { Env } from './env';
import { programsSchema } from './programs';
import { variableName } from './secrets';

/** A configuration repository and the store of its values. */
export interface ConfigRepositorySettings {
  readonly name: string;
  /** A path or a URL for git. */
  readonly git: string;
  readonly branch: string;
  /** The URLs of the store that hosts read, separated by commas; null if hosts do not read it. */
  readonly etcd: string | null;
  /** The user for the store; missing if the store is open. */
  readonly login?: StoreLogin;
  /** Certificates of the connection to it. */
  readonly tls?: StoreTls;
  /** Files with the keys by which hosts verify what they read; missing if nothing is signed. */
  readonly signing?: StoreSigningFiles;
  /** The principals who may propose changes; missing if the file lists none. */
  readonly owners?: readonly Principal[];
  /** Further principals, who may propose changes of some paths. */
  readonly paths?: readonly PathRule[];
}

/** A user of the store. The password is undefined if its variable is not set: such a process cannot log in. */
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

/** PEM files: the private key of the configuration service, and other trusted public keys. */
export interface StoreSigningFiles {
  readonly key?: string;
  readonly trusted?: readonly string[];
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
    signingKey: z.string().min(1).max(1024).optional(),
    trusted: z.array(z.string().min(1).max(1024)).max(8).optional(),
  })
  .superRefine(({ url, user, passwordEnv, cert, key }, context) => {
    if ((user === undefined) !== (passwordEnv === undefined)) context.addIssue('user and passwordEnv go together');
    if ((cert === undefined) !== (key === undefined)) context.addIssue('cert and key go together');
    if (user !== undefined && whyNotStoreUrls(url) === undefined && isStoreOpenToOthers(url))
      context.addIssue('a password goes over https, or stays on this machine');
  });

/** The URL of an open store, or the login to a locked one. Unlike those of a union, its errors say what is wrong, and where. */
const urlOrStore = z.unknown().transform((value, context): z.output<typeof storeSchema> => {
  const parsed = typeof value === 'string' ? openStore.safeParse(value) : storeSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

/** Paths of values and sources have only these characters, so a pattern with others would match nothing. */
const pathName = z
  .string()
  .max(ACCESS_LIMITS.pattern.max)
  .regex(/^[A-Za-z0-9*_.-]+(\/[A-Za-z0-9*_.-]+)*\/?$/, {
    error:
      'expected a path such as feed/limits, all below one such as feed/, or a pattern such as models/*; only * is special',
  })
  .refine((text) => text.split('*').length - 1 <= ACCESS_LIMITS.stars.max, {
    error: `expected at most ${ACCESS_LIMITS.stars.max} of *`,
  });

const pathRule = z.strictObject({
  names: listOf(pathName, ACCESS_LIMITS.patterns).min(1, { error: 'expected at least one path' }),
  by: listOf(principal, ACCESS_LIMITS.principals).min(1, { error: 'expected at least one principal' }),
});

const repositorySchema = z.strictObject({
  // A leading dash would be an option, and ext:: would run a program.
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
  paths: listOf(pathRule, ACCESS_LIMITS.rules)
    .min(1, { error: 'expected at least one rule; without any, leave it out' })
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
  Object.entries(config.repositories).map(([name, { git, branch, etcd, owners, paths }]) => ({
    ...{ name, branch, etcd: etcd?.url ?? null },
    ...storeAccess(etcd, env, dirname(file)),
    ...(owners === undefined ? {} : { owners }),
    ...(paths === undefined ? {} : { paths }),
    git: /^[\w.@-]+:/.test(git) ? git : resolve(dirname(file), git),
  }));

type Store = z.output<typeof storeSchema>;

function storeAccess(
  { user, passwordEnv, ca, cert, key, signingKey, trusted }: Partial<Store> = {},
  env: Env,
  folder: string,
) {
  const files = Object.entries({ ca, cert, key }).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, resolve(folder, file)]],
  );
  return {
    ...(user === undefined || passwordEnv === undefined
      ? {}
      : { login: { user, passwordEnv, password: env[passwordEnv] } }),
    ...(files.length === 0 ? {} : { tls: Object.fromEntries(files) as StoreTls }),
    ...(signingKey === undefined && trusted === undefined
      ? {}
      : {
          signing: {
            ...(signingKey === undefined ? {} : { key: resolve(folder, signingKey) }),
            ...(trusted === undefined ? {} : { trusted: trusted.map((one) => resolve(folder, one)) }),
          },
        }),
  };
}
