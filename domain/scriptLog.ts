import { LOG_LIMITS } from './limits';
import { textBytes } from './size';

/** The output of a script as plain text: its beginning, its end, and the number of characters left out between them. */
export interface ScriptLog {
  readonly head: string;
  readonly cut: number;
  readonly tail: string;
}

/** The size of the log that the nth script of a release or deploy may leave in the history. */
export function logBytes(nth: number): number {
  const { logs, log, laterLogs, laterLog, lastLog } = LOG_LIMITS;
  if (nth <= logs.max) return log.max;
  return nth <= laterLogs.max ? laterLog.max : lastLog.max;
}

/** A log cut to a number of bytes of JSON: a quarter for the beginning, because the end matters most. */
export function fitLog({ head, cut, tail }: ScriptLog, bytes: number): ScriptLog {
  if (cut === 0) {
    const all = head + tail;
    if (textBytes(all) <= bytes) return { head: all, cut: 0, tail: '' };
    const first = takeBeginning(all, bytes / 4);
    return withEnd(first, all.slice(first.length), 0, bytes);
  }
  const first = takeBeginning(head, bytes / 4);
  return withEnd(first, tail, cut + head.length - first.length, bytes);
}

function withEnd(head: string, rest: string, cut: number, bytes: number): ScriptLog {
  const tail = takeEnding(rest, (bytes * 3) / 4);
  return { head, cut: cut + rest.length - tail.length, tail };
}

/** The new part of a log after a number of shown characters, and their new number. */
export function newIn(
  { head, cut, tail }: ScriptLog,
  shown: number,
): { readonly text: string; readonly shown: number } {
  const tailAt = head.length + cut;
  const left = Math.max(0, tailAt - Math.max(shown, head.length));
  const first = head.slice(shown);
  const gap = left === 0 ? '' : `${first === '' || first.endsWith('\n') ? '' : '\n'}${formatGap(left)}\n`;
  const text = first + gap + tail.slice(Math.max(0, shown - tailAt));
  return { text, shown: Math.max(shown, tailAt + tail.length) };
}

const formatGap = (characters: number): string => `… ${characters.toLocaleString('en')} characters left out …`;

/** As many characters from the beginning as fit, in whole lines if possible. */
function takeBeginning(text: string, bytes: number): string {
  const end = mostThat(text.length, (count) => textBytes(text.slice(0, count)) <= bytes);
  if (end === text.length) return text;
  const line = text.lastIndexOf('\n', end - 1) + 1;
  return text.slice(0, line > 0 ? line : isInside(text, end) ? end - 1 : end);
}

function takeEnding(text: string, bytes: number): string {
  const count = mostThat(text.length, (many) => textBytes(text.slice(text.length - many)) <= bytes);
  const start = text.length - count;
  if (start === 0 || text[start - 1] === '\n') return text.slice(start);
  const line = text.indexOf('\n', start) + 1;
  const isWorthIt = line > 0 && line < text.length;
  return text.slice(isWorthIt ? line : isInside(text, start) ? start + 1 : start);
}

/** Whether a place is between the halves of one character. */
const isInside = (text: string, at: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));

/** The largest number up to `max` that fits, if all smaller ones fit. */
function mostThat(max: number, fits: (count: number) => boolean): number {
  let [most, tooMany] = [0, max + 1];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  return most;
}
