import pc from 'picocolors';
import stringWidth from 'string-width';
import { writtenOut } from '../../domain/plainText';

/** What a renderer needs to know besides the data. */
export interface View {
  /** Columns; longer lines are folded. */
  readonly width: number;
  readonly color: boolean;
  /** ms since the epoch. */
  readonly now: number;
  /** IANA zone for clock times; the machine's own when left out. */
  readonly timeZone?: string;
  /** Fewer details, so that it fits a small terminal. */
  readonly compact?: boolean;
}

export type Colors = ReturnType<typeof pc.createColors>;
export const paint = (color: boolean): Colors => pc.createColors(color);

const LAYOUT = '\n\t';
/** What `paint` writes: bold, dim, underlined, and colours; nothing that hides or moves. */
const OURS = /\u001b\[(?:0|1|2|4|22|24|3[0-79]|9[0-7])m/g;

/**
 * A text for a terminal. What was stored may hold anything: all that moves a cursor, hides or turns text is written out. Our own
 * colours stay where there are any.
 */
export function safe(text: string, color: boolean): string {
  if (!color) return writtenOut(text, LAYOUT);
  const colors = text.match(OURS) ?? [];
  return text
    .split(OURS)
    .map((part, at) => writtenOut(part, LAYOUT) + (colors[at] ?? ''))
    .join('');
}

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet' | 'plain';

export function tint(colors: Colors, tone: Tone, text: string): string {
  switch (tone) {
    case 'good':
      return colors.green(text);
    case 'bad':
      return colors.red(text);
    case 'warn':
      return colors.yellow(text);
    case 'busy':
      return colors.cyan(text);
    case 'quiet':
      return colors.dim(text);
    case 'plain':
      return text;
  }
}

export const widthOf = (text: string): number => stringWidth(text);

/** Fills with spaces up to `width` columns, whatever colours and wide characters are inside. */
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

const COLOR = /\u001b\[[0-9;]*m/gu;
const PIECE = /\u001b\[[0-9;]*m|./gsu;

/** Cuts a line, with its colours, to `width` columns; what was cut shows as `…`. */
export function truncate(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let room = width - 1;
  let kept = '';
  for (const piece of line.match(PIECE) ?? []) {
    const size = piece.startsWith('\u001b') ? 0 : widthOf(piece);
    // Once one did not fit, nothing after it may; colours are kept to the end, so that they end.
    if (size > room) room = -1;
    if (size > 0 && room < 0) continue;
    room -= size;
    kept += piece;
  }
  return placeEllipsis(kept);
}

/** Before the colours that end the line. */
function placeEllipsis(text: string): string {
  const end = /(?:\u001b\[[0-9;]*m)*$/.exec(text)?.index ?? text.length;
  return `${text.slice(0, end).trimEnd()}…${text.slice(end)}`;
}

const TOKEN = /\u001b\[[0-9;]*m| +|[^ \u001b]+/gu;

/**
 * A line, with its colours, in as many lines of `width` columns as it takes: people need all of it at night. It is broken at spaces,
 * and continues under its last column.
 */
export function fold(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const indent = ' '.repeat(hangingOf(line.replace(COLOR, ''), width));
  const lines = [''];
  let gap = '';
  for (const token of line.match(TOKEN) ?? []) {
    const last = lines.at(-1) ?? '';
    if (token.startsWith(' ')) gap = token;
    else if (token.startsWith('\u001b')) lines[lines.length - 1] = last + token;
    else if (widthOf(last + gap + token) <= width) {
      lines[lines.length - 1] = last + gap + token;
      gap = '';
    } else {
      lines.push(...pieces(token, width - indent.length).map((piece) => indent + piece));
      gap = '';
    }
  }
  return lines[0] === '' ? lines.slice(1) : lines;
}

/** Where the last column of a line begins, if that leaves half of the width; else a little further in than the line itself. */
function hangingOf(line: string, width: number): number {
  const columns = [...line.matchAll(/(?<=\S {2,})\S/gu)].map(({ index }) => widthOf(line.slice(0, index)));
  return columns.filter((column) => column <= width / 2).at(-1) ?? (/^ */.exec(line)?.[0].length ?? 0) + 2;
}

/** A word that is wider than a line, in parts that are not. */
function pieces(word: string, width: number): string[] {
  const found = [''];
  for (const char of word) {
    const longer = `${found.at(-1) ?? ''}${char}`;
    if (widthOf(longer) <= width) found[found.length - 1] = longer;
    else found.push(char);
  }
  return found;
}

/** Breaks a plain text at spaces into lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Rows under aligned columns; the last column is not padded. Cells may be coloured. */
export function alignRows(rows: readonly (readonly string[])[], gap: string = '  '): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))));
  return rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/** A table with a heading; says `empty` when there is nothing. */
export function table(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
  view: View,
): string {
  if (rows.length === 0) return empty;
  const colors = paint(view.color);
  const [head = '', ...body] = alignRows([heading, ...rows]);
  return [colors.bold(head), ...body].flatMap((line) => fold(line, view.width)).join('\n');
}
