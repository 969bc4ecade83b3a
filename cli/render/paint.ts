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

const COLOR = /\u001b\[[0-9;]*m/gu;
const PIECE = /\u001b\[[0-9;]*m|./gsu;

/** Cuts a line, with its colours, to `width` columns at one of its ends; what was cut shows as `…`. */
export function truncate(line: string, width: number, at: 'start' | 'end' = 'end'): string {
  if (widthOf(line) <= width) return line;
  const pieces = line.match(PIECE) ?? [];
  return at === 'end'
    ? keepPieces(pieces, width - 1)
        .join('')
        .replace(COLORS_AFTER, '…$1')
    : keepPieces(pieces.reverse(), width - 1)
        .reverse()
        .join('')
        .replace(COLORS_BEFORE, '$1…');
}

/** The dots stand inside the colours that begin or end a line. */
const COLORS_AFTER = / *((?:\u001b\[[0-9;]*m)*)$/u;
const COLORS_BEFORE = /^((?:\u001b\[[0-9;]*m)*) */u;

/** As many characters as fit, and all colours, so that each ends. */
function keepPieces(pieces: readonly string[], width: number): string[] {
  let room = width;
  return pieces.filter((piece) => {
    if (piece.startsWith('\u001b')) return true;
    // Once one did not fit, nothing after it may.
    room = widthOf(piece) > room ? -1 : room - widthOf(piece);
    return room >= 0;
  });
}

const TOKEN = /\u001b\[[0-9;]*m| +|[^ \u001b]+/gu;

/**
 * A line, with its colours, in as many lines of `width` columns as it takes: people need all of it at night. It is broken at spaces,
 * and continues under its last column. A link, a path or a command to type stays whole, on a line of its own if it has to: half of one opens
 * nothing.
 */
export function fold(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const indent = ' '.repeat(hangingOf(line.replace(COLOR, ''), width));
  const lines = [''];
  let gap = '';
  for (const token of glued(line).match(TOKEN) ?? []) {
    const last = lines.at(-1) ?? '';
    if (token.startsWith(' ')) gap = token;
    else if (token.startsWith('\u001b')) lines[lines.length - 1] = last + token;
    else {
      if (widthOf(last + gap + token) <= width) lines[lines.length - 1] = last + gap + token;
      else if (PLACE.test(token) || token.includes(GLUE))
        lines.push((widthOf(indent + token) <= width ? indent : '') + token);
      else lines.push(...pieces(token, width - indent.length).map((piece) => indent + piece));
      gap = '';
    }
  }
  return (lines[0] === '' ? lines.slice(1) : lines).map(unglued);
}

/** Every line of a text folded. */
export const foldAll = (lines: readonly string[], { width }: Pick<View, 'width'>): string[] =>
  lines.flatMap((line) => fold(line, width));

/** A link, or a path from the root. */
const PLACE = /https?:\/\/|^\/[^/\s]+\//;

/** A word of a command, behind which neither a sentence nor a part of one ends. */
const WORD = String.raw`(?!\S*[,;:.](?:\s|$))[^\s\u001b-][^\s\u001b]*`;
const OPTION = String.raw`--?[a-z][a-z-]*(?:[ =](?:"[^"\u001b]*"|[^\s\u001b-][^\s\u001b]*))?`;
/** Without options, it ends where it is not plainly an id, a file or a placeholder that follows. */
const OPERAND = String.raw`[^\s\u001b-]*[/.=:\dA-Z][^\s\u001b]*`;
const COMMAND = new RegExp(
  String.raw`(?<=^|[^\w-]|\u001b\[[\d;]*m)(?:npx --no-install )?(?:conveyor|temporal workflow) [a-z][a-z-]*(?:(?: ${WORD}){0,3}?(?: ${OPTION})+|(?: ${OPERAND})?)`,
  'gu',
);

/** Stands for a space inside a command, at which no line is broken. */
const GLUE = '\ue000';
const glued = (text: string): string => text.replace(COMMAND, (command) => command.replaceAll(' ', GLUE));
const unglued = (text: string): string => text.replaceAll(GLUE, ' ');

/** Whether a line, with its colours, is a link, a path or a command, and nothing else. */
export const isPlaceAlone = (line: string): boolean =>
  /^ *(?:(?:https?:\/)?\/|\S*\ue000)\S+$/u.test(glued(line.replace(COLOR, '')));

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

/** Breaks a plain text at spaces into lines of at most `width` columns, but for a command to type that is longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of glued(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(unglued);
}
