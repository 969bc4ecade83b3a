import { z } from 'zod';
import { conveyorError } from '../domain/errors';
import type { WebhookScope } from '../domain/finder/scope';
import { NAME } from '../domain/ids';
import { PRINCIPAL } from '../domain/principals';
import type { Env } from './env';
import { readSecrets, secretVariables } from './secrets';

/**
 * Access to the HTTP front end: `tokens` and `webhooks` of conveyor.config.yaml. Secrets are in environment variables
 * that the file names, never in the file itself. An unset variable disables only its own token or webhook: workers need
 * none of them, and a development stack starts without.
 */
export interface Access {
  readonly tokens: readonly ApiToken[];
  /** Whether readers need a token; null if the file leaves it to the address at which the server listens. */
  readonly reads: ReadPolicy | null;
  readonly webhooks: Readonly<Record<WebhookKind, readonly WebhookSource[]>>;
  /** The services that report that a person has acknowledged a page; missing if the file does not have them. */
  readonly pagers: Readonly<Partial<Record<PagerKind, PagerSource>>>;
  /** Variables that the file names but the environment lacks. */
  readonly unset: readonly string[];
}

export type ReadPolicy = (typeof READS)[number];
const READS = ['open', 'authenticated'] as const;

export interface ApiToken {
  readonly principal: string;
  readonly token: string;
}

export type WebhookKind = 'github' | 'standard';

export type PagerKind = 'pagerduty' | 'opsgenie';

type PagerSource = Pick<WebhookSource, 'secrets' | 'secretEnvs'>;

/** A source of signed deliveries. Any of the secrets may sign; without one, no delivery is accepted. */
export interface WebhookSource {
  /** `github` or `standard` for a single source without a name. */
  readonly name: string;
  /** The principal for which its releases start. */
  readonly actor: string;
  readonly secrets: readonly string[];
  readonly secretEnvs: readonly string[];
  /** Its scope; null if the file has none. */
  readonly scope: WebhookScope | null;
}

/** Groups only own things; people and services act. If a group could act, the person behind an action would be unknown. */
const actorPrincipal = z
  .string()
  .regex(PRINCIPAL, { error: 'expected a principal such as service:ci', abort: true })
  .refine((name) => !name.startsWith('group:'), { error: 'a group does not act: name a user or a service' });
const sourcePatterns = z.array(z.string().min(1).max(256)).max(100);
const repository = z
  .string()
  .max(256)
  .regex(/^[\w.*-]+(\/[\w.*-]+)+$/, {
    error: 'expected the full name of a repository, such as acme/kvstore or acme/*',
  });

const sourceFields = {
  secretEnv: secretVariables,
  actor: actorPrincipal.optional(),
  repositories: z.array(repository).max(1_000).optional(),
  with: z
    .record(
      z.string(),
      z.union([
        z
          .string()
          .min(1)
          .transform((one) => [one]),
        sourcePatterns,
      ]),
    )
    .optional(),
};
const github = z.strictObject(sourceFields);
const standard = z.strictObject({
  ...sourceFields,
  finders: sourcePatterns.optional(),
  pipelines: sourcePatterns.optional(),
});

const pager = z.strictObject({ secretEnv: secretVariables }).optional();

const sourceName = { name: z.string().regex(NAME, { error: 'expected lower-case letters, digits and hyphens' }) };

/** One source, or several with names. Unlike those of a union, its errors name the problem and its place. */
const oneOrSeveral = <T extends z.ZodType, L extends z.ZodType>(one: T, several: L) =>
  z
    .unknown()
    .transform((value, context): z.output<T> | z.output<L> => {
      const parsed = (Array.isArray(value) ? several : one).safeParse(value);
      if (parsed.success) return parsed.data as z.output<T> | z.output<L>;
      for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    })
    .optional();

/** The keys of conveyor.config.yaml that this file handles. */
export const accessFields = {
  tokens: z.array(z.strictObject({ principal: actorPrincipal, tokenEnv: secretVariables })).default([]),
  reads: z.enum(READS, { error: 'expected open or authenticated' }).nullable().default(null),
  webhooks: z
    .strictObject({
      github: oneOrSeveral(github, z.array(github.extend(sourceName)).min(1).max(100)),
      standard: oneOrSeveral(standard, z.array(standard.extend(sourceName)).min(1).max(100)),
      pagerduty: pager,
      opsgenie: pager,
    })
    .default({}),
};

type AccessConfig = { readonly [F in keyof typeof accessFields]: z.output<(typeof accessFields)[F]> };

/** @throws ConveyorError `config-invalid` for a weak secret, or one that is used twice */
export function toAccess({ tokens, reads, webhooks }: AccessConfig, env: Env, file: string): Access {
  const read = {
    github: toSources('github', webhooks.github, env, file),
    standard: toSources('standard', webhooks.standard, env, file),
  };
  const pagers = toPagers(webhooks, env, file);
  const sources = [...Object.values(read).flat(), ...Object.values(pagers)];
  refuseShared([...tokens.map(({ tokenEnv }) => tokenEnv), ...sources.map(({ secretEnvs }) => secretEnvs)], env, file);
  const wanted = [...tokens.flatMap(({ tokenEnv }) => tokenEnv), ...sources.flatMap(({ secretEnvs }) => secretEnvs)];
  return {
    tokens: tokens.flatMap(({ principal: who, tokenEnv }) =>
      readSecrets(tokenEnv, env, file).map((token) => ({ principal: who, token })),
    ),
    reads,
    webhooks: read,
    pagers,
    unset: [...new Set(wanted.filter((one) => !env[one]))],
  };
}

function toPagers({ pagerduty, opsgenie }: AccessConfig['webhooks'], env: Env, file: string): Access['pagers'] {
  const toPager = ({ secretEnv }: NonNullable<typeof pagerduty>): PagerSource => ({
    secretEnvs: secretEnv,
    secrets: readSecrets(secretEnv, env, file),
  });
  return {
    ...(pagerduty ? { pagerduty: toPager(pagerduty) } : {}),
    ...(opsgenie ? { opsgenie: toPager(opsgenie) } : {}),
  };
}

/** A secret identifies its owner: with a shared one, the owner would be ambiguous. */
function refuseShared(all: readonly (readonly string[])[], env: Env, file: string): void {
  const holders = new Map<string, { readonly variable: string; readonly of: number }>();
  for (const [of, variable] of all.flatMap((variables, index) => variables.map((one) => [index, one] as const))) {
    const secret = env[variable];
    const other = secret ? holders.get(secret) : undefined;
    if (other !== undefined && other.of !== of) {
      const which =
        other.variable === variable
          ? `${variable} is listed twice`
          : `${other.variable} and ${variable} hold the same secret`;
      throw conveyorError('config-invalid', {
        file,
        detail: `${which}: each token and source of webhooks needs its own`,
      });
    }
    if (secret) holders.set(secret, { variable, of });
  }
}

/** Enabled sources without a scope, by their keys in the file. */
export const withoutScope = ({ webhooks }: Pick<Access, 'webhooks'>): readonly string[] =>
  Object.entries(webhooks).flatMap(([kind, all]) =>
    all
      .filter(({ scope, secrets }) => scope === null && secrets.length > 0)
      .map(({ name }) => (name === kind ? `webhooks.${kind}` : `webhooks.${kind} (${name})`)),
  );

type GivenSource = z.output<typeof github> &
  Partial<Pick<z.output<typeof standard>, 'finders' | 'pipelines'>> & { readonly name?: string };

function toSources(
  kind: WebhookKind,
  given: GivenSource | readonly GivenSource[] | undefined,
  env: Env,
  file: string,
): WebhookSource[] {
  return [given ?? []].flat().map(({ name, secretEnv, actor, ...scope }) => ({
    name: name ?? kind,
    actor: actor ?? `service:${name ?? (kind === 'github' ? 'github' : 'webhook')}`,
    secretEnvs: secretEnv,
    secrets: readSecrets(secretEnv, env, file),
    scope: toScope(kind, scope),
  }));
}

/** A push is about commits and addresses no pipeline. */
function toScope(kind: WebhookKind, given: Omit<GivenSource, 'name' | 'secretEnv' | 'actor'>): WebhookScope | null {
  if (Object.values(given).every((value) => value === undefined)) return null;
  const { repositories, with: about } = given;
  return {
    finders: kind === 'github' ? ['commits'] : (given.finders ?? []),
    pipelines: given.pipelines ?? [],
    ...(repositories === undefined ? {} : { repositories }),
    ...(about === undefined ? {} : { with: about }),
  };
}
