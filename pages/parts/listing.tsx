import type { Child } from 'hono/jsx';
import type { ListTexts } from '../../render/columns';
import type { Tone } from '../../render/paint';
import { CLASS_BY_TONE } from '../tones';
import { Table } from './section';
import { Prose } from './text';

/** Texts of a list of the command line as a table. */
interface ListingProps {
  readonly caption: string;
  readonly texts: ListTexts;
  /** Another cell than its text, by the name of its column: a link, for example. */
  readonly cells?: Readonly<Record<string, (row: number, text: string) => Child>>;
  readonly empty?: Child;
}

export function Listing({ caption, texts, cells = {}, empty = texts.empty }: ListingProps) {
  const { heading, rows } = texts;
  return (
    <Table
      caption={caption}
      headings={heading.map(toHeading)}
      rows={rows.map((row, nth) =>
        row.map((text, column) => cells[heading[column] ?? '']?.(nth, text) ?? <SignedText text={text} />),
      )}
      empty={empty}
    />
  );
}

/** `DEPLOYED` of a terminal is `Deployed` here. */
const toHeading = (text: string): string => text.charAt(0) + text.slice(1).toLowerCase();

const TONE_BY_GLYPH: Readonly<Record<string, Tone>> = {
  ...{ '✔': 'good', '✖': 'bad', '✘': 'bad', '✗': 'bad', '⚠': 'warn', '‖': 'warn', '↩': 'warn' },
  ...{ '◌': 'busy', '◷': 'busy', '?': 'warn', '·': 'quiet' },
};

/** A text; if it begins with a sign, both have its colour. */
export function SignedText({ text }: { readonly text: string }) {
  const [, glyph = '', rest = ''] = /^([^\w\s]) (.+)$/s.exec(text) ?? [];
  const tone = TONE_BY_GLYPH[glyph];
  if (tone === undefined) return <Prose text={text} />;
  return (
    <span class={CLASS_BY_TONE[tone]}>
      <span aria-hidden="true">{glyph}</span> <Prose text={rest} />
    </span>
  );
}

/** Sentences below a list. */
export function Notes({ lines }: { readonly lines: readonly string[] }) {
  return (
    <>
      {lines.map((line) => (
        <p class="note">
          <SignedText text={line} />
        </p>
      ))}
    </>
  );
}
