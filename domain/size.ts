/** Sizes as Temporal counts them: in bytes of JSON. */

/** Bytes of a value as JSON; 0 for a value that JSON cannot express. */
export function jsonBytes(value: unknown): number {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? 0 : utf8Bytes(text);
}

/** Bytes of a text inside JSON: a quote or a line break counts with its backslash. */
export const textBytes = (text: string): number => jsonBytes(text) - 2;

/** Bytes of a text in UTF-8, without functions of Node or browsers, because workflows use it too. */
export function utf8Bytes(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // A pair of surrogates is two units and four bytes.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** A character that JSON writes unchanged, in one byte. */
const PLAIN = /^[ !#-[\]-~]$/;

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** The longest beginning of a text that fits into a number of bytes of JSON, with a mark if it was cut. */
export function cutText(text: string, bytes: number): string {
  if (text.length * 6 <= bytes || textBytes(text) <= bytes) return text;
  const room = bytes - textBytes(CUT);
  let kept = '';
  let size = 0;
  for (const character of text.slice(0, bytes)) {
    size += PLAIN.test(character) ? 1 : textBytes(character);
    if (size > room) break;
    kept += character;
  }
  return kept + CUT;
}
const CUT = '…';

/** The newest items of a list (oldest first) that fit into a number of bytes, up to a maximum count. */
export function newestWithin<T>(list: readonly T[], bytes: number, count: number = Infinity): readonly T[] {
  let size = 0;
  let first = list.length;
  while (first > 0 && list.length - first < count) {
    size += jsonBytes(list[first - 1]) + 1;
    if (size > bytes) break;
    first -= 1;
  }
  return first === 0 ? list : list.slice(first);
}

/** The first items of a list that fit into a number of bytes. */
export function firstWithin<T>(list: readonly T[], bytes: number): readonly T[] {
  let size = 0;
  const end = list.findIndex((item) => (size += jsonBytes(item) + 1) > bytes);
  return end === -1 ? list : list.slice(0, end);
}

/** `714 kB`, `1.5 kB`, `2,000 bytes`: exact for small sizes that are not round in the unit. */
export const formatBytes = (bytes: number): string =>
  bytes < 1024 || (bytes < 10 * 1024 && Number(roundSize(bytes / 1024)) * 1024 !== bytes)
    ? exactBytes(bytes)
    : `${roundSize(bytes / 1024)} kB`;

const exactBytes = (bytes: number): string => `${bytes.toLocaleString('en')} bytes`;

/** A size and the limit that it exceeds: exact to the byte if they would otherwise read the same. */
export function sizeAndLimit(bytes: number, max: number): { readonly size: string; readonly limit: string } {
  const isClose = formatBytes(bytes) === formatBytes(max);
  const worded = isClose ? exactBytes : formatBytes;
  return { size: worded(bytes), limit: worded(max) };
}

const roundSize = (value: number): string =>
  value < 10 ? value.toFixed(1).replace('.0', '') : String(Math.round(value));
