import pc from 'picocolors';
import stringWidth from 'string-width';

/** What a renderer needs to know besides the data. */
export interface View {
  /** Columns; longer lines are cut. */
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

const PIECE = /\u001b\[[0-9;]*m|./gsu;

/** Cuts a line, with its colours, to `width` columns; what was cut shows as `…`. */
export function cut(line: string, width: number): string {
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
  return [colors.bold(head), ...body].map((line) => cut(line, view.width)).join('\n');
}
