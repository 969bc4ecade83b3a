import type { Context, MiddlewareHandler } from 'hono';
import { conveyorError } from '../../domain/errors';
import { SESSION_LIMITS } from '../../domain/limits';
import { whyForeignForm } from '../../domain/sessions/ownForm';
import type { Session } from '../../domain/sessions/session';
import { formatTime } from '../../domain/text';
import type { Caller, CallerDeps } from '../auth';
import { readBytes } from '../body';
import type { ServerDeps } from '../deps';
import { whyNotOpen } from '../reads';
import { findOwnOrigin } from './browser';
import type { SessionKeeper } from './keeper';
import type { Vault } from './vault';

/** The person who looks at a page. */
export interface Viewer {
  readonly principal: string;
  /** The field `csrf` of every form. */
  readonly csrf: string;
  /** RFC 3339. */
  readonly until: string;
}

/** The variables of page routes. */
export interface PageEnv {
  Variables: {
    /** Null for an anonymous reader, if the server lets anonymous callers read. */
    viewer: Viewer | null;
    /** The viewer, as the routes of `/v1` know a caller: commands go through its client, and so through the guard. */
    caller: Caller | null;
    session: Session | null;
    /** The fields of an accepted form. */
    form: URLSearchParams | undefined;
  };
}

type ViewerDeps = CallerDeps & Pick<ServerDeps, 'reads'>;
type PageContext = Context<PageEnv>;

/**
 * Finds the viewer of a page, by its cookie alone. Where reading needs an identity, a page leads anonymous readers to
 * the sign-in, and answers other requests with `unauthorized`.
 */
export const findViewer =
  (keeper: SessionKeeper, vault: Vault, deps: ViewerDeps): MiddlewareHandler<PageEnv> =>
  async (c, next) => {
    const closed = whyNotOpen(c, deps);
    // If Temporal cannot say whether a session was signed out, it does not count.
    const session = await keeper.read(c).catch((error: unknown) => {
      if (closed === undefined) return null;
      throw error;
    });
    if (session === null && closed !== undefined) {
      if (!isPagePath(c)) throw conveyorError('unauthorized', { why: 'there is no session' });
      return c.redirect(toSignIn(c), 303);
    }
    c.set('session', session);
    c.set('viewer', session && toViewer(session, vault));
    c.set('caller', session && toCaller(session, deps));
    await next();
    // A page of one person must not be shown to another by a cache.
    c.header('cache-control', 'private, no-store');
    c.header('vary', 'cookie', { append: true });
  };

/**
 * Accepts forms of our own pages alone, for routes behind `findViewer`: of a viewer, from a page of this origin, with
 * the token of the session. @throws ConveyorError `form-refused`
 */
export const acceptForms =
  (vault: Vault, deps: Pick<ServerDeps, 'config'>): MiddlewareHandler<PageEnv> =>
  async (c, next) => {
    if (['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)) return next();
    // A program with a token has no session: forms are for people.
    const session = c.get('session') ?? null;
    if (session === null) throw refuseForm('you are not signed in, or no longer');
    requireOwnPage(c, findOwnOrigin(c, deps.config.sessions));
    const form = await readForm(c);
    if (!vault.isCsrf(session.id, form.get('csrf') ?? '')) throw refuseForm('it is not a form of your session');
    c.set('form', form);
    return next();
  };

/** @throws ConveyorError `form-refused` */
export function requireOwnPage(c: Context, origin: string | undefined): void {
  const from = { origin: c.req.header('origin'), site: c.req.header('sec-fetch-site') };
  const why = origin === undefined ? 'it came under a name that is not of this server' : whyForeignForm(from, origin);
  if (why !== undefined) throw refuseForm(why);
}

/** The fields of a form. @throws ConveyorError `form-refused`, `too-large`, `too-slow` */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) throw refuseForm('it is not a form of a page');
  return new URLSearchParams(Buffer.from(await readBytes(c, { maxBytes: SESSION_LIMITS.form.max })).toString('utf8'));
}

export const refuseForm = (why: string) => conveyorError('form-refused', { why });

const toViewer = ({ id, principal, untilMs }: Session, vault: Vault): Viewer => ({
  principal,
  csrf: vault.csrf(id),
  until: formatTime(untilMs),
});

function toCaller({ principal, groups, untilMs, proof }: Session, { client, clientAs }: CallerDeps): Caller {
  const identity = { principal, groups, expiresAtMs: untilMs, door: proof.kind };
  const isVouched = proof.kind === 'oidc' && clientAs !== undefined;
  return { ...identity, client: isVouched ? clientAs(identity) : client };
}

/** A request that shows its answer as a page; a script, a stream or a program that reads JSON cannot sign in. */
const isPagePath = (c: PageContext): boolean =>
  c.req.method === 'GET' &&
  !c.req.path.endsWith('.json') &&
  (c.req.header('sec-fetch-mode') ?? 'navigate') === 'navigate';

function toSignIn(c: PageContext): string {
  const { pathname, search } = new URL(c.req.url);
  return `/sign-in?to=${encodeURIComponent(pathname + search)}`;
}
