import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { readCalendar, type CalendarReadResult } from '../domain/calendar/icalendar';
import { SPEC_LIMITS } from '../domain/limits';
import { sizeAndLimit } from '../domain/size';
import type { CalendarFile, CalendarReader } from '../domain/spec/calendars';
import { formatTime, plural } from '../domain/text';

/** The time limit for a rule that never matches. */
const LONGEST_READ_MS = 5_000;
/** A calendar that ends earlier gets a warning. */
const ENDS_SOON_MS = 92 * 86_400_000;
const MOST_DOUBTS = 10;

/** Reads calendars next to a pipeline file. Nothing is fetched, so a file means the same wherever it is read. */
export const createCalendarReader =
  (file: string, nowMs: number): CalendarReader =>
  (path, timezone) => {
    if (/^[a-z][a-z0-9+.-]+:/i.test(path))
      return toRefusedCalendar(
        'calendar-unreadable',
        `${path} is an address: nothing is fetched`,
        'save it beside the pipeline file, and name that file',
      );
    const text = readCalendarText(resolve(dirname(file), path));
    if ('why' in text) return toRefusedCalendar('calendar-unreadable', `${path}: ${text.why}`, text.hint);
    const read = withinTime(text.text, nowMs, timezone);
    const faults = read.faults.map(({ message, hint }) => error('invalid-calendar', `${path}: ${message}`, hint));
    const doubts = listDoubts(path, read);
    const findings = faults.length > 0 ? [...faults, ...doubts] : [...doubts, ...findEndingSoon(path, read, nowMs)];
    return { blackouts: read.blackouts, findings };
  };

type CalendarText = { readonly text: string } | { readonly why: string; readonly hint: string };

function readCalendarText(path: string): CalendarText {
  try {
    const stat = statSync(path);
    const { max } = SPEC_LIMITS.calendarFile;
    if (!stat.isFile()) return { why: 'it is not a file', hint: 'name a file in iCalendar (.ics)' };
    if (stat.size > max) {
      const { size, limit } = sizeAndLimit(stat.size, max);
      return { why: `it has ${size}, more than ${limit}`, hint: 'keep what matters in a file of its own' };
    }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) };
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { why: `there is no file ${path}`, hint: 'paths begin where the pipeline file is' };
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return { why: 'it is not text in UTF-8', hint: 'name a file in iCalendar (.ics)' };
    return { why: message, hint: 'name a file in iCalendar (.ics)' };
  }
}

/** Only a time limit of the machine ends a loop in a library. */
function withinTime(text: string, nowMs: number, timezone: string | undefined): CalendarReadResult {
  try {
    const read = (): CalendarReadResult => readCalendar(text, nowMs, timezone);
    return runInNewContext('read()', { read }, { timeout: LONGEST_READ_MS }) as CalendarReadResult;
  } catch {
    const message = `it takes more than ${LONGEST_READ_MS / 1000} s to read: a rule of it may never come`;
    return { blackouts: [], faults: [{ message, hint: 'look at its RRULEs' }], doubts: [], endsAtMs: null };
  }
}

/** One warning each; if there are very many, the first ones and how many more. */
function listDoubts(path: string, { doubts }: CalendarReadResult): CalendarFile['findings'] {
  const more = doubts.length - MOST_DOUBTS;
  const shown =
    more > 0
      ? [
          ...doubts.slice(0, MOST_DOUBTS),
          `${plural(more, 'more thing')} in it ${more === 1 ? 'is' : 'are'} not understood`,
        ]
      : doubts;
  return shown.map((doubt) => ({
    severity: 'warning',
    code: 'calendar-not-understood',
    message: `${path}: ${doubt}`,
    hint: 'compare its blackouts (conveyor plan) with the calendar that you see, and correct the file',
  }));
}

function findEndingSoon(path: string, { endsAtMs }: CalendarReadResult, nowMs: number): CalendarFile['findings'] {
  if (endsAtMs === null || endsAtMs > nowMs + ENDS_SOON_MS) return [];
  const message = `${path} has nothing after ${formatTime(endsAtMs).slice(0, 10)}`;
  const hint = 'get a newer one, and apply the pipeline once more';
  return [{ severity: 'warning', code: 'calendar-ends', message, hint }];
}

const error = (code: string, message: string, hint: string): CalendarFile['findings'][number] => ({
  severity: 'error',
  code,
  message,
  hint,
});

const toRefusedCalendar = (code: string, message: string, hint: string): CalendarFile => ({
  blackouts: [],
  findings: [error(code, message, hint)],
});
