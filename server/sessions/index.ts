import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { ConveyorError, conveyorError } from '../../domain/errors';
import type { SignOuts } from '../../client/signOuts';
import { renderSignInFailure } from '../../pages/signIn';
import type { ServerDeps } from '../deps';
import { answerFailure } from '../failures';
import type { RequestGate } from '../gate';
import { answerSignInPage } from './answers';
import { SessionKeeper } from './keeper';
import { SignInLinks } from './links';
import { Notices } from './notices';
import { PageProviders } from './providers';
import { SessionRecords } from './record';
import { SessionRenewal } from './renewal';
import { signInRoutes } from './routes';
import { SignedOut } from './signedOut';
import { signOutRoutes } from './signOutRoutes';
import { Vault } from './vault';
import { acceptForms, findViewer, type PageEnv } from './viewer';

export interface Sessions {
  /** `/sign-in` and `/sign-out`. */
  readonly routes: Hono<PageEnv>;
  /** For every page route: sets `viewer`, `caller` and `session`. */
  readonly viewer: MiddlewareHandler<PageEnv>;
  /** For page routes that change something, after `viewer`: sets `form`. */
  readonly forms: MiddlewareHandler<PageEnv>;
  readonly notices: Notices;
  /** Whether the sessions of readers who keep a page open still count. */
  readonly keeper: Pick<SessionKeeper, 'isValid' | 'isOver'>;
}

/** Sign-in to the pages (docs/adr/0078). @param strangers the queue of callers who are not known yet */
export function createSessions(deps: ServerDeps & { readonly signOuts: SignOuts }, strangers: RequestGate): Sessions {
  const now = (): number => deps.now();
  const { config, devLogin, linkSignIn } = deps;
  const vault = new Vault(() => config.sessions.secrets);
  const providers = new PageProviders(() => config.issuers, deps.identities ?? NO_IDENTITIES, now);
  const signedOut = new SignedOut(deps.signOuts, now);
  const keeper = new SessionKeeper({
    ...{ config, vault, signedOut, providers, now, renewal: new SessionRenewal(providers, now) },
    ...{ devLogin, hasLinks: linkSignIn !== undefined },
  });
  const records = new SessionRecords(deps);
  const links = linkSignIn === undefined ? undefined : new SignInLinks(linkSignIn, now(), now);
  const viewer = findViewer(keeper, vault, deps);
  const forms = acceptForms(vault, deps);
  const log = (line: string): void => deps.log(line);
  const routes = new Hono<PageEnv>();
  routes.onError((error, c) => answerSessionFailure(c, error));
  const enter: MiddlewareHandler = (c, next) => strangers.run(next, c.req.raw.signal);
  routes.use('/sign-in/*', enter);
  routes.use('/sign-out/*', enter, viewer, forms);
  routes.route('/', signInRoutes({ config, devLogin, now, log, keeper, vault, providers, records, links }));
  routes.route('/', signOutRoutes({ config, keeper, signedOut, providers, records }));
  return { routes, viewer, forms, notices: new Notices(vault, now), keeper };
}

const NO_IDENTITIES: ConstructorParameters<typeof PageProviders>[1] = {
  confirm: () => Promise.resolve('this server verifies no tokens of identity providers'),
};

/** The answer of the API as a page. */
async function answerSessionFailure(c: Context, error: unknown): Promise<Response> {
  const { status } = answerFailure(c, error);
  const known = error instanceof ConveyorError ? error : conveyorError('internal', { detail: '' });
  return answerSignInPage(c, (frame) => renderSignInFailure(known, frame), status as 500);
}
