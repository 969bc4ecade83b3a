/**
 * Texts from outside go into ids, logs and terminals. They must not move the cursor, hide text or change its direction.
 * Refused are control characters (C0 with line breaks, C1), line separators, marks of direction, and halves of
 * surrogate pairs.
 */
const EVERY =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Characters also allowed in a text of several lines, such as a commit message. */
export const LINES = '\n\r\t';

/**
 * The reason why a text from outside is refused: `has the control character U+001B at character 4`. Undefined if it is
 * plain, apart from the characters in `keep`.
 */
export function whyNotPlain(text: string, keep: string = ''): string | undefined {
  const found = [...text.matchAll(EVERY)].find(([character]) => !keep.includes(character));
  return found ? `has the control character ${codePointName(found[0])} at character ${found.index + 1}` : undefined;
}

/** The text with all of these characters escaped as in JSON: `kv\u001b[2J`. This includes line breaks, unless `keep` has them. */
export const escapeUnsafe = (text: string, keep: string = ''): string =>
  text.replace(EVERY, (found) => (keep.includes(found) ? found : `\\u${hex(found)}`));

/** The text on one line: a line break, with the spaces around it, becomes one space; other characters that are not plain are escaped. */
export const onOneLine = (text: string): string => escapeUnsafe(text.replace(BREAKS, ' '));

const BREAKS = /[ \t]*[\n\r\u0085\u2028\u2029][\s\u0085]*/g;

/**
 * A value with every text in it on one line, including the names of its fields: stored values and answers may contain
 * anything, and are shown in rows and sentences.
 */
export const allOnOneLine = <T>(value: T): T => mapTexts(value, onOneLine);

/** A value with every text in it changed, including the names of its fields. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((inner: unknown) => mapTexts(inner, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), mapTexts<unknown>(inner, change)]),
  ) as T;
}

const codePointName = (character: string): string => `U+${hex(character).toUpperCase()}`;
const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');
