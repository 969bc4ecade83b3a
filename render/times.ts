import { onOneLine, mapTexts } from '../domain/plainText';
import { formatDuration } from '../domain/text';
import { getDateFormat } from './dateFormat';
import { offsetIfTwice } from './offset';
import type { View } from './paint';

/** Times and durations for people. Programs get ISO 8601. */

/** The time and the zone of the reader. */
type Reader = Pick<View, 'now' | 'timeZone'>;

/** `2m 3s ago`. */
export function ago(iso: string, view: View): string {
  const since = view.now - Date.parse(iso);
  return since < 1000 ? 'just now' : `${formatDuration(since)} ago`;
}

/** `in 42s`, or `any moment` once it is over. */
export function until(iso: string, view: View): string {
  const left = Date.parse(iso) - view.now;
  return left > 0 ? `in ${formatDuration(Math.ceil(left / 1000) * 1000)}` : 'any moment';
}

/**
 * `until 23 Nov 10:00:00 (18:00 UTC), in 2d 19h`: clear to the reader and to colleagues elsewhere, without arithmetic.
 */
export function untilWords(iso: string, view: View): string {
  const utc: View = { ...view, timeZone: 'UTC' };
  // Schedules have whole minutes, and lines are short.
  const [here, there] = [clock(iso, view).replace(/(:\d\d):00(?= [+-]|$)/, '$1'), clock(iso, utc)];
  const minutes = there.replace(/(:\d\d):\d\d$/, '$1');
  // The day of the other zone is shown only if it differs.
  const short = shortDate(iso, view) === shortDate(iso, utc) ? minutes.slice(-5) : minutes;
  const both = formatMinute(iso, view) === formatMinute(iso, utc) ? here : `${here} (${short} UTC)`;
  return `until ${both}, ${until(iso, view)}`;
}

/** From start to end, or to now. */
export function took(startedAt: string, endedAt: string | null, view: View): string {
  const end = endedAt === null ? view.now : Date.parse(endedAt);
  return wholeSeconds(end - Date.parse(startedAt));
}

/**
 * `14:03:10` in the zone of the reader, with the day if it is not today, the year if it differs, and the offset if the
 * time occurs twice.
 */
export function clock(iso: string, view: Reader): string {
  const zone = toZoneOptions(view);
  const format = (at: number, options: Intl.DateTimeFormatOptions): string =>
    getDateFormat({ ...options, ...zone }).format(at);
  const at = Date.parse(iso);
  const isOfYear = format(at, { year: 'numeric' }) === format(view.now, { year: 'numeric' });
  const year = isOfYear ? {} : ({ year: 'numeric' } as const);
  const day = { day: '2-digit', month: 'short', ...year } as const;
  const shown = format(at, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  const time = shown + offsetIfTwice(at, view);
  return format(at, day) === format(view.now, day) ? time : `${format(at, day)} ${time}`;
}

const toZoneOptions = ({ timeZone }: Reader): { timeZone?: string } => (timeZone ? { timeZone } : {});

const shortDate = (iso: string, view: View): string =>
  new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', ...toZoneOptions(view) }).format(Date.parse(iso));

const formatMinute = (iso: string, view: View): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'short', ...toZoneOptions(view) }).format(
    Date.parse(iso),
  );

/** `12s`; `0s` for less than one. */
export const wholeSeconds = (ms: number): string => (ms < 1000 ? '0s' : formatDuration(ms));

/** `2026-11-20 14:02 UTC`, for spans of months, where a time of day says little. */
export const minuteWords = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** `2026-11-20T14:02:10Z`, for lines that are stored: the zone of their reader is unknown. */
export const truncateToSeconds = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z');

/** A time in a sentence of a workflow, server or service. A version may look like a time, but follows other words. */
const TIME_IN_SENTENCE =
  /(?<=(?<![\w-])(?:at|until|since|after|before|only from|poll:) )\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?=[\s),.;:]|$)/g;

/** A sentence with its times in the zone of the reader. */
export const localTimes = (text: string, format: (iso: string) => string): string =>
  text.replace(TIME_IN_SENTENCE, (iso) => (Number.isNaN(Date.parse(iso)) ? iso : format(iso)));

/** A value as it is shown to people: every text on one line, the times in its sentences in the zone of the reader. */
export const forPeople = <T>(value: T, view: View): T =>
  mapTexts(value, (text) => localTimes(onOneLine(text), (iso) => clock(iso, view)));
