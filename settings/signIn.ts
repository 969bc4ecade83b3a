import { z } from 'zod';
import { isPrivate } from '../domain/loopback';
import { PRINCIPAL } from '../domain/principals';
import type { SignInOffer } from '../domain/signIn';
import type { Env } from './env';
import { secretVariables } from './secrets';

/**
 * The issuers of signed tokens (OpenID Connect) that the front end accepts in addition to `tokens`: `signIn` of
 * conveyor.config.yaml. People sign in with an identity provider, and jobs of a forge use the token that the forge
 * issues to them, so no secret is stored.
 */
export interface Issuer {
  /** `iss` of its tokens, from which its keys are found by OpenID Connect Discovery. */
  readonly issuer: string;
  /** `aud` that a token of a request must be for; null if requests bring none, and people only sign in to pages. */
  readonly audience: string | null;
  /** The client id of `conveyor login`, a public client; null if only programs use tokens. */
  readonly client: string | null;
  readonly scopes: readonly string[];
  /** `user:{email}`: names of claims in braces are replaced by the claims' values. */
  readonly principal: string;
  /** The claim that lists the user's groups; null if only the platform's settings do. */
  readonly groups: string | null;
  /** Required values of other claims: `{ repository: acme/shop }`, with `*` for any part. */
  readonly only: Readonly<Record<string, string>>;
  /** The client of the pages; null if people do not sign in to pages with this provider. */
  readonly pages: PagesClient | null;
}

/** The server itself as a client of a provider: it has a redirect address of its own, and usually a secret. */
export interface PagesClient {
  readonly client: string;
  readonly scopes: readonly string[];
  /** The first that is set; null for a public client. */
  readonly secret: string | null;
  /** The variables, if none of them is set; then no person signs in with it. */
  readonly unset: readonly string[];
}

export const listSignInOffers = (issuers: readonly Issuer[]): readonly SignInOffer[] =>
  issuers.flatMap(({ issuer, scopes, client }) => (client === null ? [] : [{ issuer, scopes, client }]));

const TEMPLATE_PLACES = /\{(\w+)\}/g;
const template = z
  .string()
  .refine((text) => PRINCIPAL.test(text.replace(TEMPLATE_PLACES, 'x')) && !text.startsWith('group:'), {
    error: 'expected a principal such as user:{email} or service:shop-ci; groups never act',
  });
// Its keys decide identities, so https is required, except on this machine, where no one can interfere.
const url = z.url({ protocol: /^https?$/, abort: true }).refine(isPrivate, {
  error: 'expected an https URL, as the provider writes it into its tokens',
});

const scopeList = z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/));

const issuer = z.strictObject({
  issuer: url,
  audience: z.string().min(1).optional(),
  client: z.string().min(1).optional(),
  scopes: scopeList.default(['openid']),
  principal: template.default('user:{sub}'),
  groups: z.string().min(1).optional(),
  only: z.record(z.string(), z.string()).default({}),
  pages: z
    .strictObject({ client: z.string().min(1), secretEnv: secretVariables.optional(), scopes: scopeList.optional() })
    .optional(),
});

/** The key of conveyor.config.yaml that this file handles. */
export const signInFields = {
  signIn: z
    .array(
      issuer.superRefine(({ audience, client, pages, principal, only }, context) => {
        if (audience === undefined && client === undefined && pages === undefined)
          context.addIssue({
            code: 'custom',
            path: ['audience'],
            message: 'name the required audience of its tokens: audience or client, or a client of pages',
          });
        if (!principal.includes('{') && Object.keys(only).length === 0)
          context.addIssue({
            code: 'custom',
            path: ['only'],
            message: `any token would give ${principal}: name the required claims`,
          });
      }),
    )
    .max(20)
    .default([]),
};

type GivenIssuer = z.output<typeof issuer>;
type SignInConfig = { readonly signIn: z.output<typeof signInFields.signIn> };

export const toIssuers = ({ signIn }: SignInConfig, env: Env): readonly Issuer[] =>
  signIn.map(({ audience, client = null, groups = null, pages, ...rest }) => ({
    ...{ ...rest, client, groups },
    // The audience of an ID token is the client that requested it.
    audience: audience ?? client ?? null,
    pages: pages === undefined ? null : toPagesClient({ scopes: rest.scopes, ...pages }, env),
  }));

/** A provider chooses the secrets of its clients, so their length is its own affair. */
function toPagesClient(
  { client, scopes: wanted = [], secretEnv = [] }: NonNullable<GivenIssuer['pages']>,
  env: Env,
): PagesClient {
  const secret = secretEnv.map((name) => env[name]).find(Boolean) ?? null;
  return { client, scopes: wanted, secret, unset: secret === null ? secretEnv : [] };
}

/** The principal for these claims; undefined if one is missing or not a name. */
export function principalFrom(template: string, claims: Readonly<Record<string, unknown>>): string | undefined {
  let whole = true;
  const principal = template.replace(TEMPLATE_PLACES, (_, name: string) => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof value !== 'string' || value === '') whole = false;
    return String(value);
  });
  return whole && PRINCIPAL.test(principal) ? principal : undefined;
}
