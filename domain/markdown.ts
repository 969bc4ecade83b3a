import { onOneLine } from './plainText';
import { cutText, textBytes } from './size';

/**
 * Markdown for the User Metadata tab of the Temporal Web UI. The UI leaves no space between the cells of tables, so
 * rows of short cells are aligned in a code block instead, and sentences go into lists.
 *
 * Values in `formatMarkdown` are texts and stay texts, from any author: a reason cannot make a heading, link, image or HTML.
 */
export class Markdown {
  constructor(readonly source: string) {}
}

/** Our own Markdown, with unchanged texts in it: ``formatMarkdown`**${actor}** waits` ``. */
export const formatMarkdown = (
  ours: TemplateStringsArray,
  ...values: readonly (string | number | Markdown)[]
): Markdown => new Markdown(ours.map((part, at) => part + markdownSource(values[at] ?? '')).join(''));

const markdownSource = (value: string | number | Markdown): string =>
  value instanceof Markdown ? value.source : literal(String(value));

/** Characters that make a list, heading or rule at the beginning of a line, or end a heading. */
const AT_AN_END = /^(?:[-+=#]|\d+[.)])|#(?=#|$)/g;
const ANYWHERE = /[\\`*_[\]<>&~|!]/g;

/** Markdown that shows a text unchanged, on one line. */
function literal(text: string): string {
  const words = onOneLine(text).trim().split(' ');
  return words
    .map(word)
    .join(' ')
    .replace(AT_AN_END, (end) => end.replace(/.$/, '\\$&'));
}

/** The Web UI turns addresses into links automatically; only code spans prevent it. */
function word(text: string): string {
  if (!isAddress(text)) return escapeMarkdown(text);
  let end = text.length;
  while ('.,;:!?)'.includes(text.charAt(end - 1)) && end > 1) end -= 1;
  return code(text.slice(0, end)).source + escapeMarkdown(text.slice(end));
}

/** Whether a word looks like a web or mail address; `executable@kv:12` and `web@1.2.3` do not. */
const isAddress = (text: string): boolean =>
  /:\/\/|www\./i.test(text) || (text.includes('@') && /\.[-\w]*[a-z]/i.test(text.slice(text.indexOf('@'))));

const escapeMarkdown = (text: string): string => text.replace(ANYWHERE, '\\$&');

/** The server refuses a summary of more than 400 bytes, and a workflow that set one could not continue. */
const SUMMARY_BYTES = 380;

/** The summary of a workflow, an activity or a timer, which the Web UI also renders as Markdown: one line, and short enough. */
export function formatSummary(text: string): string {
  const summary = literal(text);
  return textBytes(summary) <= SUMMARY_BYTES
    ? summary
    : formatSummary(cutText(text, Math.floor(textBytes(text) * 0.8)));
}

/** A text as code within a line. */
export const code = (text: string): Markdown => new Markdown(`\`${withoutFences(text) || ' '}\``);

/** Inside code only the closing mark has a meaning. */
const withoutFences = (text: string): string => onOneLine(text).replace(/`/g, "'");

/** A text of several paragraphs from an untrusted author. */
export const paragraphs = (text: string): string =>
  sections(...text.split(/\n\s*\n/).map((part) => formatMarkdown`${part}`));

/** The server keeps at most 20,000 bytes of details; most of the text is ASCII. */
const MAX_DETAILS = 16_000;

/** The non-empty sections, with the blank lines that Markdown needs around lists. */
export function sections(...parts: readonly Markdown[]): string {
  const whole = parts.flatMap(({ source }) => (source === '' ? [] : [source])).join('\n\n');
  // A cut inside a line might leave a code span open, and its content would be Markdown again.
  return whole.length <= MAX_DETAILS ? whole : whole.slice(0, Math.max(0, whole.lastIndexOf('\n', MAX_DETAILS)));
}

export const NO_MARKDOWN = new Markdown('');

/** Aligned rows of cells, two spaces apart; empty if there are none. */
export function alignCells(rows: readonly (readonly string[])[]): Markdown {
  const cells = rows.map((row) => row.map(onOneLine));
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return block(lines);
}

export const block = (lines: readonly string[]): Markdown =>
  lines.length > 0 ? new Markdown(['```', ...lines.map(withoutFences), '```'].join('\n')) : NO_MARKDOWN;

/** A heading and a list; empty if the list is empty. */
export const list = (heading: string, items: readonly Markdown[]): Markdown =>
  items.length > 0
    ? new Markdown(`${literal(heading)}\n\n${items.map(({ source }) => `- ${source}`).join('\n')}`)
    : NO_MARKDOWN;

/** `2026-11-20 21:13:09`, in UTC. */
export const moment = (at: string): string => at.slice(0, 19).replace('T', ' ');
