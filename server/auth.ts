import type { Context } from 'hono';
import { conveyorError } from '../domain/errors';
import { isGroup, PRINCIPAL } from '../domain/principals';
import type { ApiToken } from '../settings/access';
import { isSameSecret } from '../settings/secrets';
import type { FrontClient, ServerDeps } from './deps';
import type { CallerIdentity } from './identity';

/** The sender of a request, and the client that the server uses for it. */
export interface Caller extends CallerIdentity {
  readonly client: FrontClient;
}

export type CallerDeps = Pick<ServerDeps, 'config' | 'client' | 'identities' | 'clientAs' | 'devLogin'>;

/** Several steps of one request need its caller. */
const callers = new WeakMap<Request, Promise<Caller>>();

/**
 * Identifies the caller by its bearer token, from the configuration or an identity provider. @throws ConveyorError
 * `unauthorized`, `identity-unreachable`
 */
export function authenticate(context: Context, known: CallerDeps): Promise<Caller> {
  const caller = callers.get(context.req.raw) ?? identifyCaller(context, known);
  callers.set(context.req.raw, caller);
  return caller;
}

async function identifyCaller(
  context: Context,
  { config, client, identities, clientAs, devLogin }: CallerDeps,
): Promise<Caller> {
  const given = getBearerToken(context);
  if (given === '') throw conveyorError('unauthorized', { why: 'there is no bearer token' });
  const known = findKnownToken(given, { config, devLogin });
  if (known !== undefined) return { ...known, client };
  const identity = await identities?.identify(given);
  if (identity === undefined)
    throw conveyorError('unauthorized', { why: 'the bearer token is not one of the configured tokens' });
  return { ...identity, client: clientAs === undefined ? client : clientAs(identity) };
}

/** The caller whose token needs no identity provider; undefined for any other token. */
export function findKnownToken(
  given: string,
  { config, devLogin }: Pick<CallerDeps, 'config' | 'devLogin'>,
): CallerIdentity | undefined {
  const listed = findPrincipal(given, config.access.tokens);
  if (listed !== undefined) return { principal: listed, groups: [], expiresAtMs: null, door: 'token' };
  const chosen = devLogin ? developmentPrincipal(given) : undefined;
  return chosen === undefined ? undefined : { principal: chosen, groups: [], expiresAtMs: null, door: 'development' };
}

/** Compares all tokens, so that the duration does not reveal which one matches. */
function findPrincipal(given: string, tokens: readonly ApiToken[]): string | undefined {
  const known = tokens.filter(({ token }) => isSameSecret(token, given));
  return known[0]?.principal;
}

/** The principal in a token such as `dev:user:alice`, which `conveyor login --as user:alice` stores. */
function developmentPrincipal(given: string): string | undefined {
  const principal = /^dev:(.*)$/.exec(given)?.[1] ?? '';
  return PRINCIPAL.test(principal) && !isGroup(principal) ? principal : undefined;
}

/** The bearer token of a request; empty if there is none. */
export const getBearerToken = (context: Context): string =>
  /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? '';
