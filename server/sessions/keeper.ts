import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import { isSessionOver, renewalNeed, sessionEnd, type Session, type SessionProof } from '../../domain/sessions/session';
import { sha256 } from '../../sdk/digest';
import type { CallerDeps } from '../auth';
import { clearCookie, findOwnOrigin, readCookie, writeCookie } from './browser';
import type { PageProviders } from './providers';
import type { SessionRenewal } from './renewal';
import { parseSession } from './schema';
import type { SignedOut } from './signedOut';
import type { Vault } from './vault';

/** A person who has just proved who they are. */
interface NewSession {
  readonly principal: string;
  readonly groups: readonly string[];
  readonly proof: SessionProof;
  /** The end of an ID token that nothing can renew. */
  readonly idTokenUntilMs?: number;
}

interface KeeperDeps extends Pick<CallerDeps, 'config' | 'devLogin'> {
  readonly vault: Vault;
  readonly signedOut: SignedOut;
  readonly renewal: Pick<SessionRenewal, 'renew'>;
  readonly providers: Pick<PageProviders, 'find'>;
  /** Whether links of a development stack sign its user in. */
  readonly hasLinks: boolean;
  now(): number;
}

/** Begins sessions, reads them from cookies, and renews them. */
export class SessionKeeper {
  constructor(private readonly deps: KeeperDeps) {}

  /** A new session with a new id, whatever the browser had before. @throws ConveyorError `temporal-unreachable`, `sign-in-refused` */
  async begin(c: Context, origin: string, { principal, groups, proof, idTokenUntilMs }: NewSession): Promise<Session> {
    const { signedOut } = this.deps;
    const after = await signedOut.last(principal);
    const nowMs = this.deps.now();
    const session: Session = {
      ...{ id: randomBytes(18).toString('base64url'), principal, groups, proof, after },
      ...{ signedInAtMs: nowMs, confirmedAtMs: nowMs, untilMs: sessionEnd(nowMs, nowMs, idTokenUntilMs) },
    };
    if (await this.give(c, origin, session)) return session;
    const why = `a cookie has no room for the session: the provider lists ${groups.length} groups. Have it list fewer for this client`;
    throw conveyorError('sign-in-refused', { why });
  }

  /**
   * The session of a request; null if there is none, or if it has ended. A session that should be renewed is, as far as
   * its provider answers. @throws ConveyorError `temporal-unreachable` if it is unknown whether it was signed out
   */
  async read(c: Context): Promise<Session | null> {
    const origin = findOwnOrigin(c, this.deps.config.sessions);
    const text = origin === undefined ? undefined : readCookie(c, 'session', origin);
    if (origin === undefined || text === undefined) return null;
    const session = parseSession(await this.deps.vault.open('session', text));
    if (session === undefined || !this.isProven(session)) return this.forget(c, origin);
    const isChange = !['GET', 'HEAD'].includes(c.req.method);
    if (await this.deps.signedOut.has(session, isChange ? 'now' : 'soon')) return this.forget(c, origin);
    const need = renewalNeed(session, this.deps.now());
    if (need === 'none' || (need === 'due' && !isChange && !isNavigation(c))) return session;
    return this.renew(c, origin, session);
  }

  /** Whether a session that was read before still counts. @throws ConveyorError `temporal-unreachable` */
  async isValid(session: Session): Promise<boolean> {
    return this.isProven(session) && !(await this.deps.signedOut.has(session, 'soon'));
  }

  /** Whether this server already knows that a session has ended. */
  isOver(session: Session): boolean {
    return !this.isProven(session) || this.deps.signedOut.knows(session);
  }

  /** Removes the cookie. */
  forget(c: Context, origin: string): null {
    clearCookie(c, 'session', origin);
    return null;
  }

  private async renew(c: Context, origin: string, session: Session): Promise<Session | null> {
    const renewed = await this.deps.renewal.renew(session);
    if (renewed === session) return session;
    if (renewed !== 'refused' && (await this.give(c, origin, renewed))) return renewed;
    // Copies of the session end with it; without Temporal, when their own renewal is due.
    await this.deps.signedOut.end(session).catch(() => undefined);
    return this.forget(c, origin);
  }

  private async give(c: Context, origin: string, session: Session): Promise<boolean> {
    const text = await this.deps.vault.seal('session', session);
    if (text === undefined) return false;
    writeCookie(c, 'session', origin, text, session.untilMs - this.deps.now());
    return true;
  }

  /** Whether the present configuration would still sign the person in. */
  private isProven(session: Session): boolean {
    const { config, devLogin, hasLinks, providers } = this.deps;
    if (isSessionOver(session, this.deps.now())) return false;
    const { principal, proof } = session;
    switch (proof.kind) {
      case 'oidc':
        return providers.find(proof.entry) !== undefined;
      case 'token':
        return config.access.tokens.some((one) => one.principal === principal && sha256(one.token) === proof.digest);
      case 'development':
        return devLogin === true || hasLinks;
    }
  }
}

/** A page that loads parts of itself sends several requests at once, and a renewal token may be valid only once. */
const isNavigation = (c: Context): boolean => (c.req.header('sec-fetch-mode') ?? 'navigate') === 'navigate';
