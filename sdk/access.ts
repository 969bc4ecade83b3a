import { z } from 'zod';
import { PRINCIPAL } from '../domain/principals';
import type { Env } from './env';

/**
 * Who may come in through the HTTP front end, as `tokens` and `webhooks` of conveyor.config.yaml say. Secrets are read
 * from the environment variables that the file names and never stand in it. A variable that is not set closes its door
 * and no other: a worker has no use for any, and a development stack starts without.
 */
export interface Access {
  readonly tokens: readonly ApiToken[];
  readonly webhooks: { readonly github: WebhookSource | null; readonly standard: WebhookSource | null };
  /** Variables that the file names and the environment does not have. */
  readonly unset: readonly string[];
}

export interface ApiToken {
  readonly principal: string;
  readonly token: string;
}

/** Where signed deliveries come from. Any of the secrets may have signed; without one, none is believed. */
export interface WebhookSource {
  /** On whose behalf its releases start. */
  readonly actor: string;
  readonly secrets: readonly string[];
  readonly secretEnvs: readonly string[];
}

const principal = z.string().regex(PRINCIPAL, { error: 'expected a principal such as service:ci' });
const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });
const source = z.strictObject({
  // Several, so that a new secret works before the old one is withdrawn.
  secretEnv: z.union([variable, z.array(variable).min(1)], {
    error: 'expected the name of an environment variable, or a list of them',
  }),
  actor: principal.optional(),
});

/** The keys of conveyor.config.yaml that this file is about. */
export const accessFields = {
  tokens: z.array(z.strictObject({ principal, tokenEnv: variable })).default([]),
  webhooks: z.strictObject({ github: source.optional(), standard: source.optional() }).default({}),
};

type Given = { readonly [F in keyof typeof accessFields]: z.output<(typeof accessFields)[F]> };

export function toAccess({ tokens, webhooks }: Given, env: Env): Access {
  const wanted = [
    ...tokens.map(({ tokenEnv }) => tokenEnv),
    ...[webhooks.github, webhooks.standard].flatMap((it) => envsOf(it?.secretEnv)),
  ];
  return {
    tokens: tokens.flatMap((it) => {
      const token = env[it.tokenEnv];
      return token ? [{ principal: it.principal, token }] : [];
    }),
    webhooks: {
      github: toSource(webhooks.github, 'service:github', env),
      standard: toSource(webhooks.standard, 'service:webhook', env),
    },
    unset: [...new Set(wanted.filter((name) => !env[name]))],
  };
}

const envsOf = (secretEnv: string | readonly string[] | undefined): readonly string[] =>
  typeof secretEnv === 'string' ? [secretEnv] : (secretEnv ?? []);

function toSource(given: z.output<typeof source> | undefined, actor: string, env: Env): WebhookSource | null {
  if (given === undefined) return null;
  const secretEnvs = envsOf(given.secretEnv);
  return { actor: given.actor ?? actor, secretEnvs, secrets: secretEnvs.flatMap((name) => env[name] || []) };
}
