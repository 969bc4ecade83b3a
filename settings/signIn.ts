import { z } from 'zod';
import { isPrivate } from '../domain/loopback';
import { PRINCIPAL } from '../domain/principals';
import type { SignInOffer } from '../domain/signIn';

/**
 * The issuers of signed tokens (OpenID Connect) that the front end accepts in addition to `tokens`: `signIn` of
 * conveyor.config.yaml. People sign in with an identity provider, and jobs of a forge use the token that the forge
 * issues to them, so no secret is stored.
 */
export interface Issuer {
  /** `iss` of its tokens, from which its keys are found by OpenID Connect Discovery. */
  readonly issuer: string;
  /** `aud` that a token must be for. */
  readonly audience: string;
  /** The client id of `conveyor login`, a public client; null if only programs use tokens. */
  readonly client: string | null;
  readonly scopes: readonly string[];
  /** `user:{email}`: names of claims in braces are replaced by the claims' values. */
  readonly principal: string;
  /** The claim that lists the user's groups; null if only the platform's settings do. */
  readonly groups: string | null;
  /** Required values of other claims: `{ repository: acme/shop }`, with `*` for any part. */
  readonly only: Readonly<Record<string, string>>;
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
const url = z.url({ protocol: /^https?$/ }).refine(isPrivate, {
  error: 'expected an https URL, as the provider writes it into its tokens',
});

const issuer = z.strictObject({
  issuer: url,
  audience: z.string().min(1).optional(),
  client: z.string().min(1).optional(),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)).default(['openid']),
  principal: template.default('user:{sub}'),
  groups: z.string().min(1).optional(),
  only: z.record(z.string(), z.string()).default({}),
});

/** The key of conveyor.config.yaml that this file handles. */
export const signInFields = {
  signIn: z
    .array(
      issuer.superRefine(({ audience, client, principal, only }, context) => {
        if (audience === undefined && client === undefined)
          context.addIssue({
            code: 'custom',
            path: ['audience'],
            message: 'name the required audience of its tokens: audience or client',
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

type SignInConfig = { readonly signIn: z.output<typeof signInFields.signIn> };

export const toIssuers = ({ signIn }: SignInConfig): readonly Issuer[] =>
  signIn.map(({ audience, client = null, groups = null, ...rest }) => ({
    ...{ ...rest, client, groups },
    // The audience of an ID token is the client that requested it.
    audience: audience ?? client ?? '',
  }));

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
