import ICAL from 'ical.js';
import { SPEC_LIMITS } from '../limits';
import type { BlackoutSpec } from '../spec/times';
import { cutText } from '../size';
import { expandSeries, type EventSeries, type SeriesDays, type SeriesScope } from './icalendarSeries';
import { CalendarFault, type Component, type Zones } from './icalendarTimes';

/** The events of a file in iCalendar (RFC 5545), as dated blackouts. */
export interface CalendarReadResult {
  readonly blackouts: readonly BlackoutSpec[];
  readonly faults: readonly { readonly message: string; readonly hint: string }[];
  /** Properties without effect, by event: they cause more blackout than intended, never less. */
  readonly doubts: readonly string[];
  /** The end of the last known event; null if some continue for ever. */
  readonly endsAtMs: number | null;
}

/** Events are read from the beginning of this year to the end of the year after next, so that a file has the same meaning all year. */
const YEARS_AHEAD = 2;
/** The limit for all events together, including past ones: a daily event has fewer in fifty years. */
const MOST_OCCURRENCES = 20_000;

/**
 * Reads a calendar. `timezone` applies to whole days, and to times without their own zone, unless the file names one
 * (`X-WR-TIMEZONE`). It never throws. A rule that never matches may run for ever, so the caller has to set a time
 * limit.
 */
export function readCalendar(text: string, nowMs: number, timezone: string | undefined): CalendarReadResult {
  try {
    return readEvents(parseVCalendar(text), nowMs, timezone);
  } catch (error) {
    return { blackouts: [], faults: [toCalendarFault(error)], doubts: [], endsAtMs: null };
  }
}

function parseVCalendar(text: string): Component {
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR/i.test(text))
    throw new CalendarFault('it is not an iCalendar file, which begins with BEGIN:VCALENDAR', EXPORT);
  const jCal: unknown = ICAL.parse(text.replace(/^\uFEFF/, ''));
  const isOne = Array.isArray(jCal) && jCal[0] === 'vcalendar';
  if (!isOne) throw new CalendarFault('it holds several calendars', 'keep each in a file of its own');
  return new ICAL.Component(jCal);
}

const EXPORT = 'export the calendar as .ics once more';

function readEvents(calendar: Component, nowMs: number, timezone: string | undefined): CalendarReadResult {
  const events = calendar.getAllSubcomponents('vevent');
  if (events.length === 0) throw new CalendarFault('it has no events', EXPORT);
  const most = SPEC_LIMITS.calendarEvents.max;
  if (events.length > most)
    throw new CalendarFault(
      `it has ${events.length} events, more than ${most}`,
      'keep what matters in a file of its own',
    );
  const zones: Zones = {
    default: timezone ?? presentText(calendar.getFirstPropertyValue('x-wr-timezone')),
    known: new Map(
      calendar.getAllSubcomponents('vtimezone').map((zone) => [presentText(zone.getFirstPropertyValue('tzid')), zone]),
    ),
  };
  const year = new Date(nowMs).getUTCFullYear();
  let left = MOST_OCCURRENCES;
  const spend = (): void => {
    left -= 1;
    if (left <= 0)
      throw new TooMany(`its events come more than ${MOST_OCCURRENCES} times`, 'let those that recur begin later');
  };
  const range = { fromMs: Date.UTC(year, 0, 1), toMs: Date.UTC(year + YEARS_AHEAD + 1, 0, 1) };
  const scope = { zones, ...range, spend, reasonOf: eventReason };
  const read = groupEventSeries(events).map((series) => readSeries(series, scope));
  const spans = read.flatMap((one) => one.spans);
  if (spans.length === 0 && read.every(({ fault }) => fault === undefined))
    throw new CalendarFault('none of its events ever comes', EXPORT);
  const blackouts = spans
    .filter(({ endMs, blackout }) => endMs > range.fromMs && Number(blackout.from.slice(0, 4)) <= year + YEARS_AHEAD)
    .sort((a, b) => a.startMs - b.startMs)
    .map(({ blackout }) => blackout);
  return {
    blackouts: [...new Map(blackouts.map((one) => [JSON.stringify(one), one])).values()],
    faults: read.flatMap(({ fault }) => fault ?? []),
    doubts: [...noEvents(calendar), ...read.flatMap(({ doubts }) => doubts)],
    endsAtMs: read.some(({ goesOn }) => goesOn) ? null : Math.max(0, ...spans.map(({ endMs }) => endMs)),
  };
}

class TooMany extends CalendarFault {}

/** Entries that are not events, such as tasks; they are not blackouts. */
function noEvents(calendar: Component): string[] {
  const others = calendar.getAllSubcomponents().filter(({ name }) => !/^(vevent|vtimezone|x-)/.test(name));
  const names = [...new Set(others.map(({ name }) => name.toUpperCase()))].sort().join(', ');
  return others.length === 0
    ? []
    : [
        `${others.length} of its entries ${others.length === 1 ? 'is no event' : 'are no events'} (${names}), and no blackout`,
      ];
}

/** Recurring events, each with the events that replace one of its days. */
function groupEventSeries(events: readonly Component[]): EventSeries[] {
  const isException = (event: Component): boolean => event.getFirstProperty('recurrence-id') !== null;
  const uidOf = (event: Component): string => presentText(event.getFirstPropertyValue('uid')) ?? '';
  const masters = events.filter((event) => !isException(event));
  const uids = new Set(masters.map(uidOf));
  const exceptions = new Map<string, Component[]>();
  for (const event of events.filter(isException))
    exceptions.set(uidOf(event), [...(exceptions.get(uidOf(event)) ?? []), event]);
  const orphans = [...exceptions].flatMap(([uid, moved]) => (uids.has(uid) ? [] : moved));
  return [
    ...masters.map((master) => ({ master, exceptions: exceptions.get(uidOf(master)) ?? [] })),
    ...orphans.map((master) => ({ master, exceptions: [] })),
  ];
}

interface SeriesReadResult extends SeriesDays {
  readonly fault?: CalendarReadResult['faults'][number];
}

function readSeries(series: EventSeries, scope: SeriesScope): SeriesReadResult {
  const name = eventName(series.master);
  try {
    const { doubts, ...days } = expandSeries(series, scope);
    return { ...days, doubts: doubts.map((doubt) => `${name}: ${doubt}`) };
  } catch (error) {
    if (error instanceof TooMany) throw error;
    const { message, hint } = toCalendarFault(error);
    return { spans: [], goesOn: false, doubts: [], fault: { message: `${name}: ${message}`, hint } };
  }
}

const eventReason = (event: Component): string =>
  cutText(
    (presentText(event.getFirstPropertyValue('summary')) ?? '').replace(/[\s\p{C}]+/gu, ' ').trim(),
    SPEC_LIMITS.word.max,
  ) || 'an event of the calendar';

/** `event Christmas (uid 4711@example.org)`. */
function eventName(event: Component): string {
  const uid = presentText(event.getFirstPropertyValue('uid'));
  const name = presentText(event.getFirstPropertyValue('summary'))?.replace(/[\s\p{C}]+/gu, ' ');
  return `event ${cutText(name ?? 'without a name', 80)}${uid === undefined ? '' : ` (uid ${cutText(uid.replace(/[\s\p{C}]+/gu, ' '), 80)})`}`;
}

const presentText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function toCalendarFault(error: unknown): { message: string; hint: string } {
  if (error instanceof CalendarFault) return { message: error.message, hint: error.hint };
  return { message: `it cannot be read: ${error instanceof Error ? error.message : String(error)}`, hint: EXPORT };
}
