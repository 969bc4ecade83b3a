import { Hono, type Context } from 'hono';
import { formatTime } from '../../domain/text';
import type { Session } from '../../domain/sessions/session';
import { renderCopiesPage } from '../../pages/signIn';
import type { SessionSettings } from '../../settings/sessions';
import { answerSignInPage } from './answers';
import { findOwnOrigin } from './browser';
import type { SessionKeeper } from './keeper';
import type { PageProviders } from './providers';
import type { SessionRecords } from './record';
import type { SignedOut } from './signedOut';
import { refuseForm, type PageEnv } from './viewer';

interface SignOutDeps {
  readonly config: { readonly sessions: SessionSettings };
  readonly keeper: Pick<SessionKeeper, 'forget'>;
  readonly signedOut: Pick<SignedOut, 'end' | 'endAll'>;
  readonly providers: Pick<PageProviders, 'revoke'>;
  readonly records: SessionRecords;
}

/** The ways out. They come after `findViewer` and `acceptForms`. */
export function signOutRoutes(deps: SignOutDeps): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  app.post('/sign-out', (c) => endSession(c, deps, 'one session', ({ signedOut }, session) => signedOut.end(session)));
  app.post('/sign-out/everywhere', (c) =>
    endSession(c, deps, 'all sessions', ({ signedOut }, { principal }) => signedOut.endAll(principal)),
  );
  return app;
}

/** This browser is signed out in any case. The answer says so if other copies of the session stay valid. */
async function endSession(
  c: Context<PageEnv>,
  deps: SignOutDeps,
  result: string,
  end: (deps: SignOutDeps, session: Session) => Promise<void>,
): Promise<Response> {
  const session = c.get('session');
  const origin = findOwnOrigin(c, deps.config.sessions);
  if (session === null || origin === undefined) throw refuseForm('you are not signed in');
  const { principal, proof } = session;
  deps.keeper.forget(c, origin);
  if (proof.kind === 'oidc' && proof.refreshToken !== null) void deps.providers.revoke(proof.entry, proof.refreshToken);
  try {
    await end(deps, session);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    deps.records.signedOut(c, principal, { outcome: 'unknown', result: `${result}: ${detail}` });
    return answerSignInPage(c, (frame) => renderCopiesPage(detail, formatTime(session.untilMs), frame), 503);
  }
  deps.records.signedOut(c, principal, { outcome: 'accepted', result });
  return c.redirect('/sign-in?signed-out', 303);
}
