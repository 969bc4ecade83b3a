import type { Child } from 'hono/jsx';
import type { View } from '../../render/paint';
import { truncateToSeconds } from '../../render/times';
import { escapeUnsafe, LINES, onOneLine } from '../../domain/plainText';
import { formatTime } from '../../domain/text';
import { ICON, SCRIPT, STYLE } from '../assets';
import { getTwinPath, type Frame, type PagePlace } from '../frame';
import { Command, formatWholeTime, Prose } from './text';

interface LayoutProps {
  readonly frame: Frame;
  /** The heading, without the name of the site. */
  readonly title: string;
  readonly heading: Child;
  /** The way to this page: links to the pages above it. */
  readonly above?: Child;
  /** The command that shows the same. */
  readonly command?: string;
  /** A page about a failure has no JSON that a link could lead to. */
  readonly isFailure?: boolean;
  readonly children: Child;
}

/** Pages that every server has. */
const FIRST_PLACES: readonly PagePlace[] = [
  ['/', 'Now'],
  ['/pipelines', 'Pipelines'],
];

/** The frame of every page: landmarks, the way around, and the place for the name of the reader. */
export function Layout({ frame, title, heading, above, command, isFailure = false, children }: LayoutProps) {
  const { view, path, places = [] } = frame;
  const twin = getTwinPath(path);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Conveyor`}</title>
        <link rel="stylesheet" href={STYLE.path} />
        <link rel="icon" href={ICON.path} type={ICON.type} />
        {frame.model === undefined || isFailure ? null : (
          <>
            <meta name="conveyor-live" content={frame.model} data-zone={view.timeZone} />
            <script src={SCRIPT.path} defer></script>
          </>
        )}
        {isFailure ? null : <link rel="alternate" type="application/json" href={twin} />}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/">
            Conveyor
          </a>
          <nav aria-label="Pages">
            <ul>
              {[...FIRST_PLACES, ...places].map(([place, name]) => (
                <li>
                  <a href={place} {...(isCurrentPlace(place, path) ? { 'aria-current': 'page' } : {})}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <ViewerPlace frame={frame} />
        </header>
        <main id="main" tabindex={-1}>
          {above === undefined ? null : (
            <nav class="above" aria-label="Above this page">
              {above}
            </nav>
          )}
          <h1>{heading}</h1>
          <p id="live" class="live" role="status"></p>
          {frame.notice == null ? null : <DoneNote text={frame.notice} />}
          {children}
        </main>
        <footer>
          {command === undefined ? null : (
            <p>
              The same in a terminal: <Command text={command} />
            </p>
          )}
          <p>
            As of <Moment view={view} />. Times are in {view.timeZone ?? 'the zone of the server'}.
            {isFailure ? null : ' '}
            {isFailure ? null : <a href={twin}>This page as JSON</a>}
          </p>
        </footer>
      </body>
    </html>
  );
}

/** When a page was made, in UTC; in the zone of the reader under a pointer. */
function Moment({ view }: { readonly view: View }) {
  const now = formatTime(view.now);
  return (
    <time datetime={now} title={formatWholeTime(now, view)}>
      {truncateToSeconds(now)}
    </time>
  );
}

/** The effect of the last command of the reader. */
function DoneNote({ text }: { readonly text: string }) {
  return (
    <div id="done" class="done" role="status">
      <b>✔ Done.</b> <Prose text={text} />
    </div>
  );
}

/** The name of the reader, with the way out, or the way in. */
function ViewerPlace({ frame: { viewer, csrf, signsIn, path } }: Pick<LayoutProps, 'frame'>) {
  return (
    <div id="viewer" class="viewer">
      {viewer === null ? null : <bdi>{onOneLine(viewer)}</bdi>}
      {viewer === null && signsIn ? <a href={`/sign-in?to=${encodeURIComponent(path)}`}>Sign in</a> : null}
      {csrf === null ? null : (
        <form method="post" action="/sign-out">
          <input type="hidden" name="csrf" value={csrf} />
          <button type="submit">Sign out</button>
        </form>
      )}
    </div>
  );
}

const isCurrentPlace = (place: string, path: string): boolean => path.split('?')[0] === place;

/** The whole text of a page. No text from outside keeps a character that hides text or changes its direction. */
export const toDocument = (page: { toString(): string }): string =>
  `<!doctype html>${escapeUnsafe(page.toString(), LINES)}`;
