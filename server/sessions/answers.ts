import type { Context } from 'hono';
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { ConveyorError } from '../../domain/errors';

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/**
 * Nothing from elsewhere, and in no frame. With a stricter `referrer-policy`, browsers would hide the origin of our own
 * forms; this one keeps the code of a sign-in from other sites.
 */
const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

type PageStatus = 200 | 400 | 401 | 403 | 408 | 413 | 500 | 503;

export function answerHtml(
  c: Context,
  title: string,
  body: Html,
  status: PageStatus = 200,
): Response | Promise<Response> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value);
  return c.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title}: Conveyor</title>
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            ${body}
          </main>
        </body>
      </html>`,
    status,
  );
}

/** The ways to sign in. */
interface SignInWays {
  readonly to: string;
  readonly providers: readonly { readonly entry: string; readonly name: string }[];
  /** The token of the form that takes a token; null if this server offers none. */
  readonly tokenForm: string | null;
  /** The server writes links for the user of this machine into its log. */
  readonly links: boolean;
}

export const renderWays = ({ to, providers, tokenForm, links }: SignInWays): Html => html`
  ${
    providers.length === 0
      ? ''
      : html`<ul>
          ${providers.map((one) => renderProvider(one, to))}
        </ul>`
  }
  ${tokenForm === null ? '' : renderTokenForm(tokenForm)}
  ${
    links
      ? html`<p>
          <code>conveyor dev</code> printed a link that signs you in, good once and for ten minutes. The last line of
          the server's log has a new one.
        </p>`
      : ''
  }
  ${
    providers.length === 0 && tokenForm === null && !links
      ? html`<p>This server has no way to sign in: conveyor.config.yaml lists no client of pages, and no token.</p>`
      : ''
  }
`;

const renderProvider = ({ entry, name }: SignInWays['providers'][number], to: string): Html =>
  html`<li><a href="/sign-in?with=${entry}&amp;to=${encodeURIComponent(to)}">Sign in with ${name}</a></li>`;

const renderTokenForm = (csrf: string): Html => html`
  <form method="post" action="/sign-in">
    <input type="hidden" name="csrf" value="${csrf}" />
    <p>
      <label for="token">A token of conveyor.config.yaml</label><br />
      <input id="token" name="token" type="password" autocomplete="off" required size="60" />
    </p>
    <button type="submit">Sign in</button>
  </form>
`;

export const renderSignedOut = (): Html => html`
  <p>You are signed out of Conveyor. Your identity provider may still know you.</p>
  <p><a href="/sign-in">Sign in</a></p>
`;

export const renderCopies = (detail: string, until: string): Html => html`
  <p>This browser has forgotten the session, but the server could not store that it has ended: ${detail}</p>
  <p>Copies of it, if there are any, stay valid until ${until}. Sign in again later, and sign out everywhere.</p>
`;

export const renderFailure = ({ message, hint }: Pick<ConveyorError, 'message' | 'hint'>): Html => html`
  <p>${message}</p>
  <p>${hint}</p>
  <p><a href="/sign-in">Sign in</a></p>
`;
