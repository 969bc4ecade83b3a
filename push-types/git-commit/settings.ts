import { z } from 'zod';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import { durationField } from '../durationField';
import { readYamlFile } from '../hosts/readYamlFile';
import { slugSchema } from './deployConfig';

/** The file of `conveyor push-type git-commit --settings FILE` (docs/reference/git-commit.md): what the platform registers. */

const duration = (text: string) => durationField().prefault(text);

/** A path for the command line of ssh, which splits words at spaces. */
const keyFile = z.string().regex(/^[\w./~+@-]+$/, 'expected a path without spaces');
const text = z.string().min(1).max(GIT_COMMIT_LIMITS.value.max);
const httpUrl = z
  .string()
  .max(GIT_COMMIT_LIMITS.path.max)
  .regex(/^https?:\/\/[^\s"'\\@]+$/, 'expected an http or https URL without a password')
  .refine(
    (url) => url.startsWith('https:') || isOwnMachine(url),
    'expected https: over http, anyone on the way reads the token',
  );

/** The schemes have no program of a third party behind them; `git@host:path` is written as ssh://git@host/path. */
const repositoryUrl = z
  .string()
  .max(GIT_COMMIT_LIMITS.path.max)
  .regex(
    /^(ssh:\/\/([\w.-]+@)?[A-Za-z0-9][\w.:-]*\/|https?:\/\/[A-Za-z0-9][\w.:-]*\/|file:\/\/\/)[\w./~+-]+$/,
    'expected ssh://git@host/path, https://host/path or file:///path, without a password',
  )
  .refine((url) => !url.startsWith('http:') || isOwnMachine(url), 'expected https');

const gitRepositorySchema = z
  .strictObject({
    url: repositoryUrl,
    branch: z
      .string()
      .regex(/^(?!.*(\.\.|\.lock$|\/\/))[A-Za-z0-9][\w./-]*$/, 'expected the name of a branch')
      .default('main'),
    /** The private key, for ssh. */
    key: keyFile.optional(),
    /** The host keys that ssh accepts. */
    knownHosts: keyFile.default('~/.ssh/known_hosts'),
    /** A file with the token, for https; it is read again for each connection. */
    token: z.string().optional(),
    /** The name that belongs to the token. */
    user: z
      .string()
      .regex(/^[\w.@+-]+$/)
      .default('git'),
    committer: z.strictObject({
      name: z.string().regex(/^[^<>\u0000-\u001f]{1,100}$/, 'expected a name without < and >'),
      email: z.string().regex(/^[^<>\s]{1,200}$/, 'expected an address'),
    }),
    /** The files that pipelines may change; `{pipeline}` stands for the name of the pipeline. */
    paths: z.array(text).min(1).max(GIT_COMMIT_LIMITS.paths.max).default(['**']),
    /** The longest time of one git command. */
    timeout: duration('2m'),
  })
  .refine(({ url, key }) => key === undefined || url.startsWith('ssh:'), {
    path: ['key'],
    message: 'a key is for ssh:// only',
  })
  .refine(({ url, token }) => token === undefined || /^https?:/.test(url), {
    path: ['token'],
    message: 'a token is for https:// only',
  });

/** The state has to hold for `settle` before it counts; after `timeout` a change that is not live has failed. */
const patience = { settle: duration('10s'), timeout: duration('15m'), answer: duration('10s') };
const waitSchema = z.union(
  [
    z.strictObject({
      argocd: httpUrl,
      application: text.default('{service}-{cluster}'),
      /** The namespace of the application, if it is not that of Argo CD. */
      appNamespace: slugSchema.optional(),
      token: z.string(),
      ca: z.string().optional(),
      ...patience,
    }),
    z
      .strictObject({
        /** The address of the Kubernetes API. */
        flux: httpUrl,
        kustomization: text.optional(),
        helmRelease: text.optional(),
        token: z.string(),
        ca: z.string().optional(),
        ...patience,
      })
      .refine(({ kustomization, helmRelease }) => (kustomization === undefined) !== (helmRelease === undefined), {
        message: 'expected kustomization or helmRelease, as namespace/name',
      }),
    z.strictObject({
      program: z.array(z.string().min(1)).min(1).max(GIT_COMMIT_LIMITS.arguments.max),
      ...patience,
    }),
    z.strictObject({ url: httpUrl, token: z.string().optional(), ca: z.string().optional(), ...patience }),
  ],
  'expected argocd, flux, program or url, with their fields',
);

const environmentSchema = z.strictObject({
  labels: z
    .record(z.string().min(1), z.string())
    .refine((all) => Object.keys(all).length <= GIT_COMMIT_LIMITS.labels.max, 'too many labels')
    .default({}),
  /** The clusters that have a file each; by default one, with the name of the environment. */
  clusters: z.array(slugSchema).min(1).max(GIT_COMMIT_LIMITS.clusters.max).optional(),
  /** Clusters that change together. */
  atOnce: z.number().int().min(1).max(GIT_COMMIT_LIMITS.clusters.max).default(1),
  wait: waitSchema,
});

const limitEntries = <V>(most: number, what: string) =>
  [(all: Readonly<Record<string, V>>) => Object.keys(all).length <= most, `more than ${most} ${what}`] as const;

const settingsSchema = z.strictObject({
  repositories: z
    .record(slugSchema, gitRepositorySchema)
    .refine(...limitEntries(GIT_COMMIT_LIMITS.repositories.max, 'repositories')),
  environments: z
    .record(slugSchema, environmentSchema)
    .refine(...limitEntries(GIT_COMMIT_LIMITS.environments.max, 'environments')),
  /** Between two looks while something changes, and otherwise. */
  interval: duration('5s'),
  idle: duration('30s'),
});

/** The file with all defaults. */
export type GitCommitSettings = z.output<typeof settingsSchema>;
export type RepositorySettings = z.output<typeof gitRepositorySchema>;
export type EnvironmentSettings = z.output<typeof environmentSchema>;
export type WaitSettings = z.output<typeof waitSchema>;

/** @throws Error that names the place of the mistake */
export function loadGitCommitSettings(path: string): GitCommitSettings {
  const parsed = settingsSchema.safeParse(readYamlFile(path, GIT_COMMIT_LIMITS.settings.max));
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${path}: ${describeIssue(issue)}`).join('\n'));
}

/** The deepest place of the mistake: of several shapes that a value could have, the one that fits best. */
export function describeIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const depth = (issues: readonly z.core.$ZodIssue[]): number =>
      issues.filter(({ code }) => code === 'unrecognized_keys').length * 100 + issues.length;
    const [best = []] = [...issue.errors].sort((one, other) => depth(one) - depth(other));
    const [first] = best;
    const isNone = best.some(({ code }) => code === 'unrecognized_keys');
    if (first !== undefined && !isNone) return describeIssue(first, path);
  }
  return `${path.map(String).join('.') || 'the file'}: ${issue.message}`;
}

function isOwnMachine(url: string): boolean {
  try {
    return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url.replaceAll(/[{}]/g, 'x')).hostname);
  } catch {
    return false;
  }
}
