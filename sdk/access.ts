import { z } from 'zod';
import type { Scope } from '../domain/finder/scope';
import { NAME } from '../domain/ids';
import { PRINCIPAL } from '../domain/principals';
import type { Env } from './env';

/**
 * Who may come in through the HTTP front end, as `tokens` and `webhooks` of conveyor.config.yaml say. Secrets are read
 * from the environment variables that the file names and never stand in it. A variable that is not set closes its door
 * and no other: a worker has no use for any, and a development stack starts without.
 */
export interface Access {
  readonly tokens: readonly ApiToken[];
  readonly webhooks: Readonly<Record<WebhookKind, readonly WebhookSource[]>>;
  /** Variables that the file names and the environment does not have. */
  readonly unset: readonly string[];
}

export interface ApiToken {
  readonly principal: string;
  readonly token: string;
}

export type WebhookKind = 'github' | 'standard';

/** Where signed deliveries come from. Any of the secrets may have signed; without one, none is believed. */
export interface WebhookSource {
  /** `github` or `standard` where there is one that has no name of its own. */
  readonly name: string;
  /** On whose behalf its releases start. */
  readonly actor: string;
  readonly secrets: readonly string[];
  readonly secretEnvs: readonly string[];
  /** What it may say; null where the file does not say. */
  readonly scope: Scope | null;
}

const principal = z.string().regex(PRINCIPAL, { error: 'expected a principal such as service:ci' });
const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });
const patterns = z.array(z.string().min(1).max(256)).max(100);
const repository = z
  .string()
  .max(256)
  .regex(/^[\w.*-]+(\/[\w.*-]+)+$/, {
    error: 'expected the full name of a repository, such as acme/kvstore or acme/*',
  });

const common = {
  // Several, so that a new secret works before the old one is withdrawn.
  secretEnv: z.union([variable, z.array(variable).min(1)], {
    error: 'expected the name of an environment variable, or a list of them',
  }),
  actor: principal.optional(),
  repositories: z.array(repository).max(1_000).optional(),
  with: z
    .record(
      z.string(),
      z.union([
        z
          .string()
          .min(1)
          .transform((one) => [one]),
        patterns,
      ]),
    )
    .optional(),
};
const github = z.strictObject(common);
const standard = z.strictObject({ ...common, finders: patterns.optional(), pipelines: patterns.optional() });

const named = { name: z.string().regex(NAME, { error: 'expected lower-case letters, digits and hyphens' }) };

/** One source, or several that have names. Unlike a union it says what is wrong, and where. */
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

/** The keys of conveyor.config.yaml that this file is about. */
export const accessFields = {
  tokens: z.array(z.strictObject({ principal, tokenEnv: variable })).default([]),
  webhooks: z
    .strictObject({
      github: oneOrSeveral(github, z.array(github.extend(named)).min(1).max(100)),
      standard: oneOrSeveral(standard, z.array(standard.extend(named)).min(1).max(100)),
    })
    .default({}),
};

type Given = { readonly [F in keyof typeof accessFields]: z.output<(typeof accessFields)[F]> };

export function toAccess({ tokens, webhooks }: Given, env: Env): Access {
  const read = {
    github: toSources('github', webhooks.github, env),
    standard: toSources('standard', webhooks.standard, env),
  };
  const wanted = [
    ...tokens.map(({ tokenEnv }) => tokenEnv),
    ...Object.values(read).flatMap((all) => all.flatMap(({ secretEnvs }) => secretEnvs)),
  ];
  return {
    tokens: tokens.flatMap((it) => {
      const token = env[it.tokenEnv];
      return token ? [{ principal: it.principal, token }] : [];
    }),
    webhooks: read,
    unset: [...new Set(wanted.filter((one) => !env[one]))],
  };
}

/** Sources that may say whatever somebody may, although they are open: by their keys in the file. */
export const withoutScope = ({ webhooks }: Pick<Access, 'webhooks'>): readonly string[] =>
  Object.entries(webhooks).flatMap(([kind, all]) =>
    all
      .filter(({ scope, secrets }) => scope === null && secrets.length > 0)
      .map(({ name }) => (name === kind ? `webhooks.${kind}` : `webhooks.${kind} (${name})`)),
  );

type GivenSource = z.output<typeof github> &
  Partial<Pick<z.output<typeof standard>, 'finders' | 'pipelines'>> & { readonly name?: string };

function toSources(kind: WebhookKind, given: GivenSource | readonly GivenSource[] | undefined, env: Env) {
  return [given ?? []].flat().map(({ name, secretEnv, actor, ...scope }): WebhookSource => {
    const secretEnvs = [secretEnv].flat();
    return {
      name: name ?? kind,
      actor: actor ?? `service:${name ?? (kind === 'github' ? 'github' : 'webhook')}`,
      secretEnvs,
      secrets: secretEnvs.flatMap((variable) => env[variable] || []),
      scope: toScope(kind, scope),
    };
  });
}

/** A push speaks of commits, and addresses nobody. */
function toScope(kind: WebhookKind, given: Omit<GivenSource, 'name' | 'secretEnv' | 'actor'>): Scope | null {
  if (Object.values(given).every((value) => value === undefined)) return null;
  const { repositories, with: about } = given;
  return {
    finders: kind === 'github' ? ['commits'] : (given.finders ?? []),
    pipelines: given.pipelines ?? [],
    ...(repositories === undefined ? {} : { repositories }),
    ...(about === undefined ? {} : { with: about }),
  };
}
