import { forPeople } from '../render/times';
import type { Child } from 'hono/jsx';
import type { Frame } from './frame';
import type { ProblemModel } from './models';
import { Layout, toDocument } from './parts/layout';
import { Prose } from './parts/text';

/** The pages of the sign-in, for readers who are not known yet. */

/** The ways to sign in. */
export interface SignInModel {
  /** The local path to which the sign-in leads back. */
  readonly to: string;
  readonly providers: readonly { readonly entry: string; readonly name: string }[];
  /** The token of the form that takes a token; null if this server offers none. */
  readonly tokenForm: string | null;
  /** The server writes links for the user of this machine into its log. */
  readonly links: boolean;
}

const toPage = (frame: Frame, title: string, content: Child): string =>
  toDocument(
    <Layout frame={frame} title={title} heading={title} isFailure>
      <section id="sign-in" aria-label={title}>
        {content}
      </section>
    </Layout>,
  );

export function renderSignInPage({ to, providers, tokenForm, links }: SignInModel, frame: Frame): string {
  const hasNone = providers.length === 0 && tokenForm === null && !links;
  return toPage(
    frame,
    'Sign in',
    <>
      {providers.map(({ entry, name }) => (
        <p>
          <a href={`/sign-in?with=${encodeURIComponent(entry)}&to=${encodeURIComponent(to)}`}>
            Sign in with <bdi>{name}</bdi>
          </a>
        </p>
      ))}
      {tokenForm === null ? null : <TokenForm csrf={tokenForm} />}
      {links ? (
        <p>
          <code>conveyor dev</code> printed a link that signs you in, good once and for ten minutes. The last line of
          the server's log has a new one.
        </p>
      ) : null}
      {hasNone ? (
        <p>This server has no way to sign in: conveyor.config.yaml lists no client of pages, and no token.</p>
      ) : null}
    </>,
  );
}

function TokenForm({ csrf }: { readonly csrf: string }) {
  return (
    <form class="confirm" method="post" action="/sign-in">
      <input type="hidden" name="csrf" value={csrf} />
      <label>
        <span>A token of conveyor.config.yaml</span>
        <input id="token" name="token" type="password" autocomplete="off" required />
      </label>
      <div class="ways">
        <button type="submit">Sign in</button>
      </div>
    </form>
  );
}

const SignInLink = () => (
  <p>
    <a href="/sign-in">Sign in</a>
  </p>
);

export const renderSignedOutPage = (frame: Frame): string =>
  toPage(
    frame,
    'Signed out',
    <>
      <p>You are signed out of Conveyor. Your identity provider may still know you.</p>
      <SignInLink />
    </>,
  );

/** The server could not store a sign-out. @param until when copies of the session end */
export const renderCopiesPage = (detail: string, until: string, frame: Frame): string =>
  toPage(
    frame,
    'Signed out of this browser only',
    <>
      <p>
        This browser has forgotten the session, but the server could not store that it has ended:{' '}
        <Prose text={forPeople(detail, frame.view)} />
      </p>
      <p>Copies of it, if there are any, stay valid until {until}. Sign in again later, and sign out everywhere.</p>
    </>,
  );

/** A sign-in or a sign-out that failed, in the words of the API. */
export function renderSignInFailure(given: Pick<ProblemModel, 'message' | 'hint'>, frame: Frame): string {
  const [message, hint] = [given.message, given.hint].map((text) => forPeople(text, frame.view));
  return toPage(
    frame,
    'That did not work',
    <>
      <p class="lead">
        <Prose text={message ?? ''} />
      </p>
      <p>
        <Prose text={hint ?? ''} />
      </p>
      <SignInLink />
    </>,
  );
}
