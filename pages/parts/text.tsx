import type { Child } from 'hono/jsx';
import { formatTime } from '../../domain/text';
import { getDateFormat } from '../../render/dateFormat';
import type { View } from '../../render/paint';
import { ago, clock } from '../../render/times';
import type { StatusSymbol } from '../../render/words';
import { getPagePath } from '../frame';
import { CLASS_BY_TONE } from '../tones';

/** Texts of pages. Texts from outside stand in `bdi`, so that one that is written from right to left moves no other. */

/** A longer text is folded away behind its beginning. */
const LONG_TEXT = 600;
const SHOWN_OF_LONG_TEXT = 280;

/** A sentence from outside, such as a reason. */
export function Prose({ text }: { readonly text: string }) {
  if (text.length <= LONG_TEXT) return <bdi>{text}</bdi>;
  return (
    <details class="long">
      <summary>
        <bdi>{cutAtCharacter(text, SHOWN_OF_LONG_TEXT)}</bdi>…
      </summary>
      <bdi>{text}</bdi>
    </details>
  );
}

/** The beginning of a text, without half of a character. */
export const cutAtCharacter = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/u, '');

/** A text in a row of a list: the end of a long one shows only under a pointer. */
export function Clip({ text }: { readonly text: string }) {
  return (
    <span class="clip" title={text.length > SHOWN_OF_CLIP ? text : undefined}>
      <bdi>{text}</bdi>
    </span>
  );
}

const SHOWN_OF_CLIP = 30;

/** A sign with its word: the colour never stands alone. */
export function StateMark({ sign, word }: { readonly sign: StatusSymbol; readonly word: string }) {
  return (
    <span class={`mark ${CLASS_BY_TONE[sign.tone]}`}>
      <span aria-hidden="true">{sign.glyph}</span> {word}
    </span>
  );
}

/** How long ago something happened; the whole time under a pointer. */
export function TimeAgo({ iso, view }: { readonly iso: string; readonly view: View }) {
  return (
    <time datetime={iso} title={formatWholeTime(iso, view)}>
      {ago(iso, view)}
    </time>
  );
}

/** The time of day, with the day if it is not today. */
export function ClockTime({ iso, view }: { readonly iso: string; readonly view: View }) {
  return (
    <time datetime={iso} title={formatWholeTime(iso, view)}>
      {clock(iso, view)}
    </time>
  );
}

/** In the zone of the reader, with UTC if that is another one. A broken time from outside must not break its page. */
export function formatWholeTime(iso: string, { timeZone = 'UTC' }: View): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const words = getDateFormat({ dateStyle: 'full', timeStyle: 'medium', timeZone }).format(at);
  return timeZone === 'UTC' ? `${words} UTC` : `${words} ${timeZone}, ${formatTime(at)}`;
}

/** Longer words of a command may be broken. */
const LONGEST_WORD = 32;

/** A command to type, which a click selects as a whole. */
export function Command({ text }: { readonly text: string }) {
  return (
    <code class="command">
      <bdi>
        {text.split(' ').map((word, nth) => (
          <>
            {nth === 0 ? '' : ' '}
            {word.length > LONGEST_WORD ? word : <span>{word}</span>}
          </>
        ))}
      </bdi>
    </code>
  );
}

/** A link to the page of a pipeline, release or deploy. */
export function IdLink({ id, text = id }: { readonly id: string; readonly text?: string }) {
  return (
    <a href={getPagePath(id)} class="id">
      <bdi>{text}</bdi>
    </a>
  );
}

/** A link to another site; any other text than an http(s) address is shown as text. */
export function OuterLink({ url, children }: { readonly url: string; readonly children: Child }) {
  if (!/^https?:\/\//i.test(url)) return <bdi>{url}</bdi>;
  return (
    <a href={url} rel="noreferrer noopener">
      {children}
    </a>
  );
}

/** A revision with its repository, which leads to all releases that contain it. */
export function RevisionLink({ repository, revision }: { readonly repository: string; readonly revision: string }) {
  return (
    <a href={`/where?revision=${encodeURIComponent(revision)}`}>
      <bdi>{`${repository} ${revision}`}</bdi>
    </a>
  );
}
