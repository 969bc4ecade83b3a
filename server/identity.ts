import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { matches } from '../domain/pattern';
import { conveyorError } from '../domain/errors';
import { principalFrom, type Issuer } from '../settings/signIn';
import { MIB } from '../sdk/protocol/common';
import { sendRequest } from '../sdk/request';

/** The identity of a caller, as the server knows it. */
export interface CallerIdentity {
  readonly principal: string;
  /** Groups from the identity provider, in addition to those of the platform's settings; without `group:`. */
  readonly groups: readonly string[];
  /** ms since the epoch; null for a token of the configuration. */
  readonly expiresAtMs: number | null;
  readonly door: 'token' | 'oidc' | 'development';
}

/** Tolerance for clocks of different machines. */
const SKEW_S = 60;
/** Signatures by a shared secret, or none at all, could be forged by any reader of the configuration. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];
const PROVIDER_TIMEOUT_MS = 5_000;
/** How long people can keep working while a provider is away; a key that is new to the server is fetched at once. */
const KEYS_MS = 3_600_000;
const MAX_GROUPS = 1_000;
const EXPIRED = 'the token has expired';

/** Tokens of identity providers, by their signatures. Keeps their keys, and nothing about people. */
export class Identities {
  private readonly keys = new Map<string, Promise<JWTVerifyGetKey>>();

  constructor(
    private readonly issuers: () => readonly Issuer[],
    private readonly now: () => number,
  ) {}

  /**
   * @returns undefined for another kind of token @throws ConveyorError `unauthorized` for an invalid one;
   * `identity-unreachable` if its provider does not answer
   */
  async identify(token: string): Promise<CallerIdentity | undefined> {
    if (token.split('.').length !== 3) return undefined;
    const { decodeJwt } = await import('jose');
    const iss = orUndefined(() => decodeJwt(token).iss);
    // One provider may be listed several times, each for different tokens.
    const known = this.issuers().filter(({ issuer, audience }) => issuer === iss && audience !== null);
    if (known.length === 0)
      throw createUnauthorizedError('no identity provider of the configuration has made this token');
    const refusals: string[] = [];
    for (const issuer of known) {
      const outcome = await this.verifyToken(issuer, token);
      if (typeof outcome !== 'string') return outcome;
      refusals.push(outcome);
    }
    const why = [...new Set(refusals)].join('; ');
    throw refusals.includes(EXPIRED)
      ? conveyorError('unauthorized', { why, expired: true })
      : createUnauthorizedError(why);
  }

  /**
   * The identity in an ID token that the server itself got, or the reason for a refusal. @throws ConveyorError
   * `identity-unreachable`
   */
  confirm(issuer: Issuer, client: string, idToken: string): Promise<CallerIdentity | string> {
    return this.verifyToken({ ...issuer, audience: client }, idToken);
  }

  private async verifyToken(issuer: Issuer, token: string): Promise<CallerIdentity | string> {
    const { jwtVerify, errors } = await import('jose');
    const keys = await this.getKeys(issuer.issuer);
    const options = {
      ...{ issuer: issuer.issuer, audience: issuer.audience ?? '', algorithms: ALGORITHMS },
      ...{ clockTolerance: SKEW_S, requiredClaims: ['exp', 'sub'], currentDate: new Date(this.now()) },
    };
    try {
      return identityFromClaims(issuer, (await jwtVerify(token, keys, options)).payload);
    } catch (error) {
      if (error instanceof errors.JWTExpired) return EXPIRED;
      const isAway = error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError);
      if (isAway) throw providerUnreachable(issuer.issuer, error);
      return `the token is not valid: ${error.message}`;
    }
  }

  /** Discovers the keys once; after a failure, the next caller tries again. */
  private getKeys(issuer: string): Promise<JWTVerifyGetKey> {
    const known = this.keys.get(issuer);
    if (known) return known;
    const found = discoverKeys(issuer).catch((error: unknown) => {
      this.keys.delete(issuer);
      throw providerUnreachable(issuer, error);
    });
    this.keys.set(issuer, found);
    return found;
  }
}

async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet } = await import('jose');
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, ok, text = '' } = await sendRequest(url, {}, { timeoutMs: PROVIDER_TIMEOUT_MS, maxBytes: MIB });
  if (!ok) throw new Error(`${url} answered ${status}`);
  const found = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown };
  if (found.issuer !== issuer) throw new Error(`${url} belongs to another issuer`);
  const keys = new URL(String(found.jwks_uri));
  if (keys.protocol !== 'https:' && keys.origin !== new URL(issuer).origin)
    throw new Error(`${url} names keys over http`);
  return createRemoteJWKSet(keys, { timeoutDuration: PROVIDER_TIMEOUT_MS, cacheMaxAge: KEYS_MS });
}

function identityFromClaims(
  { principal: template, groups, only }: Issuer,
  claims: JWTPayload,
): CallerIdentity | string {
  for (const [name, wanted] of Object.entries(only)) {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof value !== 'string' || !matches(wanted, value)) return `its ${name} is not ${wanted}`;
  }
  // Any user could claim an e-mail address that is not verified.
  if (template.includes('{email}') && claims['email_verified'] !== true) return 'its e-mail address is not verified';
  const principal = principalFrom(template, claims);
  if (principal === undefined) return `its claims do not fit the principal template ${template}`;
  const given = groups === null ? [] : claims[groups];
  const names = Array.isArray(given) ? given.filter((name): name is string => typeof name === 'string') : [];
  if (names.length > MAX_GROUPS) return `it lists more than ${MAX_GROUPS} groups`;
  return { principal, groups: names, expiresAtMs: (claims.exp ?? 0) * 1_000, door: 'oidc' };
}

const createUnauthorizedError = (why: string) => conveyorError('unauthorized', { why });

const providerUnreachable = (issuer: string, error: unknown) =>
  conveyorError('identity-unreachable', { issuer, detail: error instanceof Error ? error.message : String(error) });

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
