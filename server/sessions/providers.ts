import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { conveyorError } from '../../domain/errors';
import { MINUTE_MS } from '../../domain/milliseconds';
import { rootCause } from '../../domain/rootCause';
import { cutText } from '../../domain/size';
import { sha256 } from '../../sdk/digest';
import { MIB } from '../../sdk/protocol/common';
import { sendRequest } from '../../sdk/request';
import type { Issuer, PagesClient } from '../../settings/signIn';
import type { CallerIdentity, Identities } from '../identity';

/** An identity provider with which people sign in to the pages. */
interface PageProvider {
  /** The digest of its entry under `signIn`. */
  readonly entry: string;
  readonly issuer: Issuer;
  readonly pages: PagesClient;
}

/** The facts that the answer of a provider has to fit. */
export interface SignInAttempt {
  readonly entry: string;
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
}

/** A person whom a provider has identified, with the means to ask it again. */
export interface ConfirmedPerson {
  readonly identity: CallerIdentity;
  readonly refreshToken: string | null;
}

/** `refused`: the provider no longer vouches for the person. `unanswered`: it may do so again later. */
export type RenewalAnswer = ConfirmedPerson | 'refused' | 'unanswered';

type OidcLibrary = typeof import('openid-client');
type PageTokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

const PAGES_TIMEOUT_MS = 5_000;
const DISCOVERED_FOR_MS = 10 * MINUTE_MS;
const PAGES_SKEW_S = 60;
const MAX_DETAIL_BYTES = 300;

/** The providers of the configuration, as the server uses them: authorization code flow with PKCE, state and nonce. */
export class PageProviders {
  private readonly discovered = new Map<string, { readonly found: Promise<Configuration>; readonly atMs: number }>();

  constructor(
    private readonly issuers: () => readonly Issuer[],
    private readonly identities: Pick<Identities, 'confirm'>,
    private readonly now: () => number,
  ) {}

  list(): readonly PageProvider[] {
    return this.issuers().flatMap((issuer) => {
      const { pages } = issuer;
      if (pages === null || pages.unset.length > 0) return [];
      return [{ entry: describeEntry(issuer, pages), issuer, pages }];
    });
  }

  find(entry: string): PageProvider | undefined {
    return this.list().find((one) => one.entry === entry);
  }

  /** @throws ConveyorError `identity-unreachable` */
  async begin(
    provider: PageProvider,
    redirectUri: string,
  ): Promise<{ readonly url: URL; readonly attempt: SignInAttempt }> {
    const [library, configuration] = await this.reach(provider);
    const verifier = library.randomPKCECodeVerifier();
    const [state, nonce] = [library.randomState(), library.randomNonce()];
    const { scopes } = provider.pages;
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...{ state, nonce },
      // Without it a provider issues no renewal token.
      ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
    });
    return { url, attempt: { entry: provider.entry, state, nonce, verifier } };
  }

  /** @param answer the address to which the provider led @throws ConveyorError `sign-in-refused`, `identity-unreachable` */
  async finish({ entry, state, nonce, verifier }: SignInAttempt, answer: URL): Promise<ConfirmedPerson> {
    const provider = this.find(entry);
    if (provider === undefined) throw createRefusal('the provider has been removed from the configuration meanwhile');
    const [library, configuration] = await this.reach(provider);
    const tokens = await library
      .authorizationCodeGrant(configuration, answer, {
        ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      })
      .catch((error: unknown) => {
        throw isProviderAnswer(error)
          ? createRefusal(describeProviderError(error))
          : createSilenceError(provider, error);
      });
    const confirmed = await this.confirm(provider, tokens, null);
    if (typeof confirmed === 'string') throw createRefusal(confirmed);
    return confirmed;
  }

  /** Asks a provider again about a person. Never throws. */
  async renew(entry: string, refreshToken: string, principal: string): Promise<RenewalAnswer> {
    const provider = this.find(entry);
    if (provider === undefined) return 'refused';
    try {
      const [library, configuration] = await this.reach(provider);
      const tokens = await library.refreshTokenGrant(configuration, refreshToken);
      // Without an ID token, the provider has not said who the person is now.
      if (tokens.id_token === undefined) return 'unanswered';
      const confirmed = await this.confirm(provider, tokens, refreshToken);
      if (typeof confirmed === 'string') return 'refused';
      return confirmed.identity.principal === principal ? confirmed : 'refused';
    } catch (error) {
      return readOauthError(error) === 'invalid_grant' ? 'refused' : 'unanswered';
    }
  }

  /** Revokes a renewal token, so that a copy is worthless. Never throws: the session has ended in any case. */
  async revoke(entry: string, refreshToken: string): Promise<void> {
    const provider = this.find(entry);
    if (provider === undefined) return;
    try {
      const [library, configuration] = await this.reach(provider);
      await library.tokenRevocation(configuration, refreshToken);
    } catch {
      // Some providers offer no revocation.
    }
  }

  /** The person of an ID token, by its signature and by the entry of the configuration, or the reason for a refusal. */
  private async confirm(
    { issuer, pages }: PageProvider,
    { id_token: idToken = '', refresh_token: refreshToken }: PageTokens,
    before: string | null,
  ): Promise<ConfirmedPerson | string> {
    const identity = await this.identities.confirm(issuer, pages.client, idToken);
    return typeof identity === 'string' ? identity : { identity, refreshToken: refreshToken ?? before };
  }

  /** @throws ConveyorError `identity-unreachable` */
  private async reach(provider: PageProvider): Promise<[OidcLibrary, Configuration]> {
    const library = await import('openid-client');
    const key = `${provider.entry} ${provider.pages.secret}`;
    const known = this.discovered.get(key);
    const isFresh = known !== undefined && this.now() - known.atMs < DISCOVERED_FOR_MS;
    const found = isFresh ? known.found : discoverForPages(library, provider);
    if (!isFresh) this.discovered.set(key, { found, atMs: this.now() });
    try {
      return [library, await found];
    } catch (error) {
      this.discovered.delete(key);
      throw createSilenceError(provider, error);
    }
  }
}

function discoverForPages(library: OidcLibrary, { issuer: { issuer }, pages }: PageProvider): Promise<Configuration> {
  const login = pages.secret === null ? library.None() : library.ClientSecretBasic(pages.secret);
  return library.discovery(new URL(issuer), pages.client, { [library.clockTolerance]: PAGES_SKEW_S }, login, {
    [library.customFetch]: fetchBounded,
    timeout: PAGES_TIMEOUT_MS / 1_000,
    // Only a provider on this machine is configured without https (settings/signIn.ts).
    execute: issuer.startsWith('http:') ? [library.allowInsecureRequests] : [],
  });
}

/** A provider may be slow, or answer without end. */
async function fetchBounded(url: string, init: object): Promise<Response> {
  const answer = await sendRequest(url, init, { timeoutMs: PAGES_TIMEOUT_MS, maxBytes: MIB });
  if (answer.text === undefined) throw new Error('its answer is too large');
  const { status, headers } = answer;
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : answer.text, { status, headers });
}

/** Everything by which the entry identifies people: a changed entry ends the sessions that it began. */
const describeEntry = ({ issuer, principal, groups, only }: Issuer, { client }: PagesClient): string =>
  sha256(JSON.stringify([issuer, client, principal, groups, only])).slice(0, 32);

const createRefusal = (why: string) => conveyorError('sign-in-refused', { why });

const createSilenceError = ({ issuer: { issuer } }: PageProvider, error: unknown) =>
  conveyorError('identity-unreachable', { issuer, detail: cutText(rootCause(error), MAX_DETAIL_BYTES) });

/** Whether the provider answered, and its answer was a refusal or did not fit the attempt. */
function isProviderAnswer(error: unknown): boolean {
  if (readOauthError(error) !== undefined) return true;
  const code = String((error as { readonly code?: unknown } | null)?.code);
  return code.startsWith('OAUTH_') && !CODES_WITHOUT_ANSWER.includes(code);
}

const CODES_WITHOUT_ANSWER: readonly string[] = ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'];

/** RFC 6749, 5.2 */
const readOauthError = (error: unknown): string | undefined => (error as { readonly error?: string } | null)?.error;

function describeProviderError(error: unknown): string {
  const code = readOauthError(error);
  const { error_description: why } = error as { readonly error_description?: string };
  const text = code === undefined ? rootCause(error) : why === undefined ? code : `${code}: ${why}`;
  return cutText(`the answer of the provider is not accepted: ${text}`, MAX_DETAIL_BYTES);
}
