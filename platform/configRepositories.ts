import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { NAME } from '../domain/ids';
import { ACCESS_LIMITS } from '../domain/limits';
import type { Principal } from '../domain/principals';
import { listOf, principal } from '../domain/spec/scalars';

/** A repository of configuration, and where its values go. */
export interface ConfigRepositorySettings {
  readonly name: string;
  /** A path or a URL, as git takes it. */
  readonly git: string;
  readonly branch: string;
  /** The store that hosts read, of a cluster with commas; null where nobody reads it. */
  readonly etcd: string | null;
  /** Who may propose changes; missing where the file lists nobody. */
  readonly owners?: readonly Principal[];
}

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
  etcd: z
    .string()
    .refine((text) => text.split(',').every((url) => /^https?:\/\/[^/]/.test(url.trim()) && URL.canParse(url.trim())), {
      error: 'expected the URL of an etcd such as http://127.0.0.1:2379, of a cluster several with commas',
    })
    .optional(),
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
    })
    .default({ repositories: {} }),
};

/** Paths are relative to the file. */
export const toConfigRepositories = (
  { config }: { readonly config: z.output<typeof configFields.config> },
  file: string,
): readonly ConfigRepositorySettings[] =>
  Object.entries(config.repositories).map(([name, { git, branch, etcd, owners }]) => ({
    ...{ name, branch, etcd: etcd ?? null },
    ...(owners === undefined ? {} : { owners }),
    git: /^[\w.@-]+:/.test(git) ? git : resolve(dirname(file), git),
  }));
