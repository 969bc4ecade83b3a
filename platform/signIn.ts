import { z } from 'zod';
import { isPrivate } from '../domain/loopback';
import { PRINCIPAL } from '../domain/principals';
import type { SignInOffer } from '../domain/signIn';

/**
 * Whose signed tokens (OpenID Connect) the front end takes besides those of `tokens`: `signIn` of conveyor.config.yaml. People sign in with
 * an identity provider, and jobs of a forge bring the token that the forge made for them, so that nobody stores a secret.
 */
export interface Issuer {
  /** `iss` of its tokens, from which its keys are found as OpenID Connect Discovery has it. */
  readonly issuer: string;
  /** `aud` that a token must be for. */
  readonly audience: string;
  /** Of `conveyor login`, which is a public client; null where only programs bring tokens. */
  readonly client: string | null;
  readonly scopes: readonly string[];
  /** `user:{email}`: names of claims in braces stand for their values. */
  readonly principal: string;
  /** The claim that lists somebody's groups; null where the platform's configuration alone does. */
  readonly groups: string | null;
  /** What other claims must be: `{ repository: acme/shop }`, with `*` for any part. */
  readonly only: Readonly<Record<string, string>>;
}

export const offersOf = (issuers: readonly Issuer[]): readonly SignInOffer[] =>
  issuers.flatMap(({ issuer, scopes, client }) => (client === null ? [] : [{ issuer, scopes, client }]));

const TEMPLATE_PLACES = /\{(\w+)\}/g;
const template = z
  .string()
  .refine((text) => PRINCIPAL.test(text.replace(TEMPLATE_PLACES, 'x')) && !text.startsWith('group:'), {
    error: 'expected a principal such as user:{email} or service:shop-ci; groups never act',
  });
// Its keys decide who somebody is; on this machine nobody is in between.
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

/** The key of conveyor.config.yaml that this file is about. */
export const signInFields = {
  signIn: z
    .array(
      issuer.superRefine(({ audience, client, principal, only }, context) => {
        if (audience === undefined && client === undefined)
          context.addIssue({
            code: 'custom',
            path: ['audience'],
            message: 'say for whom its tokens must be: audience or client',
          });
        if (!principal.includes('{') && Object.keys(only).length === 0)
          context.addIssue({
            code: 'custom',
            path: ['only'],
            message: `whoever has a token would be ${principal}: say which claims`,
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
    // An ID token is for the client that asked for it.
    audience: audience ?? client ?? '',
  }));

/** The principal of somebody with these claims; undefined where one is missing, or is not a name. */
export function principalFrom(template: string, claims: Readonly<Record<string, unknown>>): string | undefined {
  let whole = true;
  const principal = template.replace(TEMPLATE_PLACES, (_, name: string) => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof value !== 'string' || value === '') whole = false;
    return String(value);
  });
  return whole && PRINCIPAL.test(principal) ? principal : undefined;
}
