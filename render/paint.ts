import pc from 'picocolors';
import stringWidth from 'string-width';
import { escapeUnsafe } from '../domain/plainText';
import { glueCommands, isUnbroken, unglueCommands } from './unbroken';

/** The context of a renderer, in addition to the data. */
export interface View {
  /** Columns; longer lines are folded. */
  readonly width: number;
  readonly color: boolean;
  /** ms since the epoch. */
  readonly now: number;
  /** IANA zone for clock times; by default the machine's own. */
  readonly timeZone?: string;
  /** Show fewer details, to fit a small terminal. */
  readonly compact?: boolean;
}

export type Colors = ReturnType<typeof pc.createColors>;
export const paint = (color: boolean): Colors => pc.createColors(color);

const LAYOUT = '\n\t';
/** The output of `paint`: bold, dim, underlined and colours; no code that hides text or moves the cursor. */
const OURS = /\u001b\[(?:0|1|2|4|22|24|3[0-79]|9[0-7])m/g;

/**
 * A text for a terminal. Stored text may contain anything: characters that move the cursor, hide text or change its
 * direction are escaped. Our own colours stay.
 */
export function safe(text: string, color: boolean): string {
  if (!color) return escapeUnsafe(text, LAYOUT);
  const colors = text.match(OURS) ?? [];
  return text
    .split(OURS)
    .map((part, at) => escapeUnsafe(part, LAYOUT) + (colors[at] ?? ''))
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

export const measureWidth = (text: string): number => stringWidth(text);

const COLOR = /\u001b\[[0-9;]*m/gu;
const PIECE = /\u001b\[[0-9;]*m|./gsu;

/** Cuts a line, with its colours, to `width` columns at one of its ends, and marks the cut with `…`. */
export function truncate(line: string, width: number, at: 'start' | 'end' = 'end'): string {
  if (measureWidth(line) <= width) return line;
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

/** The dots go inside the colours that begin or end a line. */
const COLORS_AFTER = / *((?:\u001b\[[0-9;]*m)*)$/u;
const COLORS_BEFORE = /^((?:\u001b\[[0-9;]*m)*) */u;

/** As many characters as fit, and all colour codes, so that each colour ends. */
function keepPieces(pieces: readonly string[], width: number): string[] {
  let room = width;
  return pieces.filter((piece) => {
    if (piece.startsWith('\u001b')) return true;
    // After the first piece that does not fit, none may follow.
    room = measureWidth(piece) > room ? -1 : room - measureWidth(piece);
    return room >= 0;
  });
}

const TOKEN = / +|(?:\u001b\[[0-9;]*m|[^ \u001b])+/gu;

/**
 * Folds a line, with its colours, into lines of `width` columns, so that people can read all of it. It breaks at
 * spaces; continuation lines align with the text, or are slightly indented. A link, a path or a command stays whole, on
 * its own line if necessary.
 */
export function fold(line: string, width: number): string[] {
  if (measureWidth(line) <= width) return [line];
  const plain = line.replace(COLOR, '');
  const little = (/^ */.exec(plain)?.[0].length ?? 0) + 2;
  const hanging = findHangingIndent(plain, width) ?? little;
  const indent = ' '.repeat(hanging);
  const lines = [''];
  let gap = '';
  for (const token of glueCommands(line).match(TOKEN) ?? []) {
    const last = lines.at(-1) ?? '';
    if (token.startsWith(' ')) gap += token;
    else if (measureWidth(token) === 0) lines[lines.length - 1] = last + token;
    else {
      if (measureWidth(last + gap + token) <= width) lines[lines.length - 1] = last + gap + token;
      else if (isUnbroken(token.replace(COLOR, '')))
        lines.push(' '.repeat([hanging, little].find((room) => room + measureWidth(token) <= width) ?? 0) + token);
      else lines.push(...cutPieces(token, width - indent.length).map((piece) => indent + piece));
      gap = '';
    }
  }
  return (lines[0] === '' ? lines.slice(1) : lines).map(unglueCommands);
}

/** Folds every line of a text. */
export const foldAll = (lines: readonly string[], { width }: Pick<View, 'width'>): string[] =>
  lines.flatMap((line) => fold(line, width));

/** Whether a line, with its colours, is a link, a path or a command, and nothing else. */
export function isPlaceAlone(line: string): boolean {
  const text = glueCommands(line.replace(COLOR, '')).trimStart();
  return !text.includes(' ') && isUnbroken(text);
}

/** A sign or a label at the beginning of a line, such as `→` or `Held:`, with the text before it. */
const HEAD = /^ *(?:[^\w\s"'(…] +)?(?:(?:error|hint|warning|[A-Z][a-z]+(?: [a-z]+)?): +)?/u;

/** The column at which the last column of a line begins, or its text after a label, if that leaves half of the width. */
function findHangingIndent(line: string, width: number): number | undefined {
  const columns = [...line.matchAll(/(?<=\S {2,})\S/gu)].map(({ index }) => measureWidth(line.slice(0, index)));
  const [head = ''] = HEAD.exec(line) ?? [];
  if (head.trim() !== '') columns.unshift(measureWidth(head));
  return columns.filter((column) => column <= width / 2).at(-1);
}

/** Splits a word that is wider than a line, with its colours. */
function cutPieces(word: string, width: number): string[] {
  const found = [''];
  for (const piece of word.match(PIECE) ?? []) {
    const longer = `${found.at(-1) ?? ''}${piece}`;
    if (measureWidth(longer) <= width) found[found.length - 1] = longer;
    else found.push(piece);
  }
  return found;
}

/** Breaks a plain text at spaces into lines of at most `width` columns; a longer command stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of glueCommands(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && measureWidth(last) + 1 + measureWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(unglueCommands);
}
