import { Hono, type Context } from 'hono';
import { randomBytes } from 'node:crypto';
import { conveyorError } from '../../domain/errors';
import { toLocalPath } from '../../domain/sessions/localPath';
import { whyNotFollowed } from '../../domain/sessions/ownForm';
import { SIGN_IN_MS, type SessionProof } from '../../domain/sessions/session';
import { renderSignedOutPage, renderSignInPage } from '../../pages/signIn';
import { sha256 } from '../../sdk/digest';
import { isSameSecret } from '../../settings/secrets';
import { findKnownToken } from '../auth';
import type { ServerDeps } from '../deps';
import { whyNotLocal } from '../reads';
import { answerSignInPage } from './answers';
import { clearCookie, findOwnOrigin, readCookie, writeCookie } from './browser';
import type { SessionKeeper } from './keeper';
import type { SignInLinks } from './links';
import type { PageProviders, SignInAttempt } from './providers';
import type { SessionRecords } from './record';
import { idTokenEnd } from './renewal';
import { parsePending, type PendingSignIn } from './schema';
import type { Vault } from './vault';
import { readForm, refuseForm, requireOwnPage, type PageEnv } from './viewer';

interface SignInDeps extends Pick<ServerDeps, 'config' | 'devLogin' | 'now' | 'log'> {
  readonly keeper: SessionKeeper;
  readonly vault: Vault;
  readonly providers: PageProviders;
  readonly records: SessionRecords;
  readonly links: SignInLinks | undefined;
}

/** The ways in: an identity provider, a token of the configuration, a link of `conveyor dev`. */
export function signInRoutes(deps: SignInDeps): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  const refusals = recordRefusals(deps);
  app.get('/sign-in', (c) => refusals(c, () => offerWays(c, deps)));
  app.get('/sign-in/callback', (c) => refusals(c, () => takeProviderAnswer(c, deps)));
  app.post('/sign-in', (c) => refusals(c, () => takeToken(c, deps)));
  app.get('/sign-in/link', (c) => refusals(c, () => takeLink(c, deps)));
  return app;
}

type HtmlAnswer = Response | Promise<Response>;

const recordRefusals =
  ({ records }: SignInDeps) =>
  async (c: Context<PageEnv>, run: () => HtmlAnswer): Promise<Response> => {
    try {
      return await run();
    } catch (error) {
      records.refused(c, error);
      throw error;
    }
  };

async function offerWays(c: Context, deps: SignInDeps): Promise<Response> {
  if (c.req.query('signed-out') !== undefined) return answerSignInPage(c, renderSignedOutPage);
  const origin = requireOrigin(c, deps);
  const to = toLocalPath(c.req.query('to'));
  const providers = deps.providers.list();
  const chosen = providers.length === 1 ? providers[0] : deps.providers.find(c.req.query('with') ?? '');
  if (chosen !== undefined) {
    const { url, attempt } = await deps.providers.begin(chosen, formatCallback(origin));
    await rememberSession(c, deps, origin, { to, attempt });
    return c.redirect(url.href, 302);
  }
  const hasForm = offersTokens(deps);
  const { csrf } = await rememberSession(c, deps, origin, { to, attempt: null });
  const links = logNewLink(c, deps, origin);
  const names = providers.map(({ entry, issuer, pages }) => ({ entry, name: `${issuer.issuer} (${pages.client})` }));
  const ways = { to, providers: names, tokenForm: hasForm ? csrf : null, links };
  return answerSignInPage(c, (frame) => renderSignInPage(ways, frame));
}

async function takeProviderAnswer(c: Context, deps: SignInDeps): Promise<Response> {
  const origin = requireOrigin(c, deps);
  const { to, attempt } = await takePending(c, deps, origin);
  if (attempt === null) throw refuseSignIn('this browser did not go to an identity provider');
  const answer = new URL(formatCallback(origin) + new URL(c.req.url).search);
  const { identity, refreshToken } = await deps.providers.finish(attempt, answer);
  const { principal, groups, expiresAtMs } = identity;
  const proof: SessionProof = { kind: 'oidc', entry: attempt.entry, refreshToken };
  const by = deps.providers.find(attempt.entry)?.issuer.issuer ?? 'a provider';
  await deps.records.ready();
  await deps.keeper.begin(c, origin, {
    ...{ principal, groups, proof },
    idTokenUntilMs: idTokenEnd(refreshToken, expiresAtMs),
  });
  await deps.records.signedIn(c, principal, by);
  return c.redirect(to, 303);
}

/** Small installations have no identity provider, and people have tokens. */
async function takeToken(c: Context, deps: SignInDeps): Promise<Response> {
  const origin = requireOrigin(c, deps);
  if (!offersTokens(deps)) throw refuseSignIn('this server takes no tokens here');
  requireOwnPage(c, origin);
  const form = await readForm(c);
  const pending = await takePending(c, deps, origin);
  if (!isSameSecret(pending.csrf, form.get('csrf') ?? '')) throw refuseForm('it is not the form of this browser');
  const given = (form.get('token') ?? '').trim();
  const caller = findKnownToken(given, deps);
  if (caller === undefined) throw refuseSignIn('the token is not one of the configured tokens');
  const { principal, door } = caller;
  const proof: SessionProof =
    door === 'development' ? { kind: 'development' } : { kind: 'token', digest: sha256(given) };
  return signInAs(c, deps, origin, { principal, proof, to: pending.to });
}

/** A page elsewhere, or a browser that fetches pages in advance, must not use the link up. */
async function takeLink(c: Context, deps: SignInDeps): Promise<Response> {
  const origin = requireOrigin(c, deps);
  const why =
    deps.links === undefined
      ? 'this server gives no links'
      : (whyNotLocal(c) ?? whyNotFollowed(c.req.header('sec-fetch-site'), c.req.header('sec-purpose')));
  if (deps.links === undefined || why !== undefined) throw refuseSignIn(why ?? '');
  const taken = deps.links.take(c.req.query('code') ?? '');
  if (typeof taken === 'string') throw refuseSignIn(taken);
  return signInAs(c, deps, origin, { principal: taken.principal, proof: { kind: 'development' }, to: '/' });
}

interface Proved {
  readonly principal: string;
  readonly proof: SessionProof;
  readonly to: string;
}

async function signInAs(
  c: Context,
  { keeper, records }: SignInDeps,
  origin: string,
  { principal, proof, to }: Proved,
): Promise<Response> {
  await records.ready();
  await keeper.begin(c, origin, { principal, groups: [], proof });
  await records.signedIn(
    c,
    principal,
    proof.kind === 'token' ? 'a token of the configuration' : 'the development login',
  );
  return c.redirect(to, 303);
}

const formatCallback = (origin: string): string => `${origin}/sign-in/callback`;

const offersTokens = ({ config, devLogin, providers }: SignInDeps): boolean =>
  providers.list().length === 0 && (config.access.tokens.length > 0 || devLogin === true);

/** Only the user of a development stack can read its log. @returns whether there are links at all */
function logNewLink(c: Context, { links, log }: SignInDeps, origin: string): boolean {
  if (links === undefined || whyNotLocal(c) !== undefined) return false;
  const link = links.create(origin);
  if (link !== undefined) log(`sign in at ${link}`);
  return true;
}

/** @throws ConveyorError `sign-in-refused` */
function requireOrigin(c: Context, { config }: SignInDeps): string {
  const origin = findOwnOrigin(c, config.sessions);
  if (origin !== undefined) return origin;
  throw refuseSignIn(
    'sessions.url of conveyor.config.yaml does not say under which address browsers reach this server',
  );
}

/** Keeps a sign-in that is under way in the browser, where no other browser can finish it. */
async function rememberSession(
  c: Context,
  { vault, now }: SignInDeps,
  origin: string,
  { to, attempt }: { readonly to: string; readonly attempt: SignInAttempt | null },
): Promise<PendingSignIn> {
  const csrf = randomBytes(18).toString('base64url');
  const pending: PendingSignIn = { to, attempt, csrf, untilMs: now() + SIGN_IN_MS };
  const text = await vault.seal('sign-in', pending);
  if (text === undefined) throw refuseSignIn('the address to which it leads back is too long');
  writeCookie(c, 'sign-in', origin, text, SIGN_IN_MS);
  return pending;
}

/** The sign-in that this browser began; it can be finished once. @throws ConveyorError `sign-in-refused` */
async function takePending(c: Context, { vault, now }: SignInDeps, origin: string): Promise<PendingSignIn> {
  const text = readCookie(c, 'sign-in', origin);
  const pending = text === undefined ? undefined : parsePending(await vault.open('sign-in', text));
  clearCookie(c, 'sign-in', origin);
  if (pending !== undefined && now() < pending.untilMs) return pending;
  throw refuseSignIn('this browser began no sign-in, or began it more than ten minutes ago');
}

const refuseSignIn = (why: string) => conveyorError('sign-in-refused', { why });
