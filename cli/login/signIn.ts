import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { isPrivate } from '../../domain/loopback';
import { rootCause } from '../../domain/rootCause';
import type { SignInOffer } from '../../domain/signIn';
import type { Io } from '../io';
import { printNote } from '../output';
import { Callback } from './callback';
import type { Grant, Renewal } from './credentials';

/** Signs people in with the identity provider of a server (OpenID Connect): this is a public client, which keeps no secret. */

/** How long a user may take in the browser. */
const SIGN_IN_TIMEOUT_MS = 300_000;
/** A token is renewed this long before its end, so that it outlives the request. */
const EARLY_MS = 60_000;

type Library = typeof import('openid-client');
type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/**
 * Signs in with a code typed on another machine (RFC 8628), or a browser on this one (RFC 8252). @throws ConveyorError
 * `sign-in-failed`
 */
export const signIn = (io: Io, offer: SignInOffer, { device }: { readonly device: boolean }): Promise<Grant> =>
  wrapSignInError(offer.issuer, async () => {
    const [library, provider] = await discoverProvider(offer);
    const given = device
      ? await signInByDevice(io, library, provider, offer)
      : await signInByBrowser(io, library, provider, offer);
    return toGrant(given, offer, undefined);
  });

/** Whether a token expires so soon that it must be renewed. */
export const isEnding = ({ expiresAtMs = Infinity, renewal }: Grant, nowMs: number): boolean =>
  renewal !== undefined && expiresAtMs - EARLY_MS <= nowMs;

/** The grant, renewed if it is about to expire. @throws ConveyorError `sign-in-failed` if a new sign-in is needed */
export async function renewGrant(kept: Grant, nowMs: number): Promise<Grant> {
  const { expiresAtMs = Infinity, renewal } = kept;
  if (renewal === undefined || !isEnding(kept, nowMs)) return kept;
  return wrapSignInError(renewal.issuer, async () => {
    try {
      const [library, provider] = await discoverProvider(renewal);
      return toGrant(await library.refreshTokenGrant(provider, renewal.refreshToken), renewal, renewal.refreshToken);
    } catch (error) {
      // The token is still valid for a moment, and an unavailable provider may be back by then; a refusal would only be
      // repeated.
      if (nowMs < expiresAtMs && oauthCode(error) !== 'invalid_grant') return kept;
      throw error;
    }
  });
}

/** Revokes the renewal token, so that a copy is worthless. @throws ConveyorError `sign-in-failed` */
export const revokeRenewal = (renewal: Renewal): Promise<void> =>
  wrapSignInError(renewal.issuer, async () => {
    const [library, provider] = await discoverProvider(renewal);
    await library.tokenRevocation(provider, renewal.refreshToken);
  });

async function signInByDevice(
  io: Io,
  library: Library,
  provider: Configuration,
  { scopes }: SignInOffer,
): Promise<Tokens> {
  const started = await library.initiateDeviceAuthorization(provider, { scope: scopes.join(' ') });
  printNote(io, `open ${started.verification_uri} and enter ${started.user_code}`);
  return library.pollDeviceAuthorizationGrant(provider, started, undefined, { signal: io.interrupted() });
}

async function signInByBrowser(
  io: Io,
  library: Library,
  provider: Configuration,
  { scopes }: SignInOffer,
): Promise<Tokens> {
  const callback = await Callback.open();
  try {
    const pkceCodeVerifier = library.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [library.randomState(), library.randomNonce()];
    const url = library.buildAuthorizationUrl(provider, {
      redirect_uri: callback.url,
      scope: scopes.join(' '),
      code_challenge: await library.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
      // Without it a provider issues no renewal token.
      ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
    });
    printNote(io, `sign in at ${url.href}`);
    io.browse(url.href);
    const answered = await callback.awaitAnswer(
      AbortSignal.any([io.interrupted(), AbortSignal.timeout(SIGN_IN_TIMEOUT_MS)]),
    );
    return await library.authorizationCodeGrant(provider, answered, { pkceCodeVerifier, expectedState, expectedNonce });
  } finally {
    callback.close();
  }
}

async function discoverProvider({
  issuer,
  client,
}: Pick<SignInOffer, 'issuer' | 'client'>): Promise<[Library, Configuration]> {
  if (!isPrivate(issuer)) throw new Error('it is reached without https');
  const library = await import('openid-client');
  // Only a provider on this machine is configured without https (settings/signIn.ts).
  const execute = issuer.startsWith('http:') ? [library.allowInsecureRequests] : [];
  return [library, await library.discovery(new URL(issuer), client, undefined, library.None(), { execute })];
}

function toGrant(
  tokens: Tokens,
  { issuer, client }: Pick<SignInOffer, 'issuer' | 'client'>,
  before: string | undefined,
): Grant {
  const { id_token: token, refresh_token: refreshToken = before } = tokens;
  const expiresAtMs = tokens.claims()?.exp;
  if (token === undefined || expiresAtMs === undefined) throw new Error('it gave no ID token');
  return {
    ...{ token, expiresAtMs: expiresAtMs * 1_000 },
    ...(refreshToken === undefined ? {} : { renewal: { issuer, client, refreshToken } }),
  };
}

async function wrapSignInError<T>(issuer: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConveyorError) throw error;
    throw conveyorError('sign-in-failed', { issuer, detail: signInErrorDetail(error) });
  }
}

/** The provider's own message is better than that of the library. */
function signInErrorDetail(error: unknown): string {
  const code = oauthCode(error);
  const { error_description: why } = error as { readonly error_description?: string };
  if (code !== undefined) return why === undefined ? code : `${code}: ${why}`;
  if (error instanceof Error && error.name === 'TimeoutError') return 'no sign-in within five minutes';
  const [message, root] = [error instanceof Error ? error.message : '', rootCause(error)];
  return message === '' || message === root ? root : `${message}: ${root}`;
}

/** RFC 6749, 5.2 */
const oauthCode = (error: unknown): string | undefined => (error as { readonly error?: string }).error;
