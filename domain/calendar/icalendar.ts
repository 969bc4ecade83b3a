import ICAL from 'ical.js';
import { SPEC_LIMITS } from '../limits';
import type { BlackoutSpec } from '../spec/times';
import { cutText } from '../size';
import {
  CalendarFault,
  monthOf,
  spanOf,
  type Component,
  type EventSpan,
  type IcalTime,
  type Zones,
} from './icalendarTimes';

/** What a file in iCalendar (RFC 5545) says, as dated blackouts. */
export interface CalendarRead {
  readonly blackouts: readonly BlackoutSpec[];
  readonly faults: readonly { readonly message: string; readonly hint: string }[];
  /** When the last event that is known ends; null where some continue for ever. */
  readonly endsAtMs: number | null;
}

/** Events are read from the beginning of this year to the end of the year after next, so that a file means the same all year. */
const YEARS_AHEAD = 2;
/** Of all events together, the past ones too: a daily one for fifty years has fewer. */
const MOST_OCCURRENCES = 20_000;

/**
 * Reads a calendar. `timezone` is that of whole days, and of times without a zone of their own, where the file has none
 * (`X-WR-TIMEZONE`). Never throws; a rule that never comes may take for ever, which is for the caller to bound.
 */
export function readCalendar(text: string, nowMs: number, timezone: string | undefined): CalendarRead {
  try {
    return readEvents(calendarOf(text), nowMs, timezone);
  } catch (error) {
    return { blackouts: [], faults: [faultOf(error)], endsAtMs: null };
  }
}

function calendarOf(text: string): Component {
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR/i.test(text))
    throw new CalendarFault('it is not an iCalendar file, which begins with BEGIN:VCALENDAR', EXPORT);
  const jCal: unknown = ICAL.parse(text.replace(/^\uFEFF/, ''));
  const isOne = Array.isArray(jCal) && jCal[0] === 'vcalendar';
  if (!isOne) throw new CalendarFault('it holds several calendars', 'keep each in a file of its own');
  return new ICAL.Component(jCal);
}

const EXPORT = 'export the calendar as .ics once more';

function readEvents(calendar: Component, nowMs: number, timezone: string | undefined): CalendarRead {
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
  const range = { fromMs: Date.UTC(year, 0, 1), toMs: Date.UTC(year + YEARS_AHEAD + 1, 0, 1) };
  const room = { left: MOST_OCCURRENCES };
  const read = seriesOf(events).map((series) => readSeries(series, zones, range, room));
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
    endsAtMs: read.some(({ goesOn }) => goesOn) ? null : Math.max(0, ...spans.map(({ endMs }) => endMs)),
  };
}

interface EventSeries {
  readonly master: Component;
  readonly exceptions: readonly Component[];
}

/** Events that recur, each with those that take the place of one of its days. */
function seriesOf(events: readonly Component[]): EventSeries[] {
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

interface SeriesRead {
  readonly spans: readonly EventSpan[];
  readonly goesOn: boolean;
  readonly fault?: CalendarRead['faults'][number];
}

/** ms since 1970. */
interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How many more occurrences there is time for. */
interface OccurrenceBudget {
  left: number;
}

function readSeries(series: EventSeries, zones: Zones, range: Range, room: OccurrenceBudget): SeriesRead {
  try {
    return expanded(series, zones, range, room);
  } catch (error) {
    if (room.left <= 0) throw error;
    const { message, hint } = faultOf(error);
    return { spans: [], goesOn: false, fault: { message: `${eventName(series.master)}: ${message}`, hint } };
  }
}

function expanded(
  { master, exceptions }: EventSeries,
  zones: Zones,
  { fromMs, toMs }: Range,
  room: OccurrenceBudget,
): SeriesRead {
  const reason = eventReason(master);
  const own = spanOf(master, undefined, zones, reason);
  checkRule(master);
  const event = new ICAL.Event(recurring(master), { exceptions: [...exceptions] });
  const spans: EventSpan[] = [];
  const isMiscounted = miscountedIn(master);
  // Those of long ago are not looked at one by one, but where one of them may have been moved to now.
  const fromYear =
    exceptions.length > 0 ? -Infinity : new Date(fromMs - (own.endMs - own.startMs)).getUTCFullYear() - 1;
  let past: IcalTime | undefined;
  const iterator = event.iterator();
  for (;;) {
    const at = iterator.next();
    if (!at && past && spans.length === 0)
      return { spans: [spanOf(master, { at: past, like: own }, zones, reason)], goesOn: false };
    if (!at) return { spans, goesOn: false };
    room.left -= 1;
    if (room.left <= 0)
      throw new CalendarFault(
        `its events come more than ${MOST_OCCURRENCES} times`,
        'let those that recur begin later',
      );
    if (isMiscounted(at.month)) continue;
    if (at.year < fromYear) {
      past = at;
      continue;
    }
    const { startDate, item } = event.getOccurrenceDetails(at);
    const isMoved = item.component !== master;
    const span = isMoved
      ? spanOf(item.component, undefined, zones, eventReason(item.component))
      : spanOf(master, { at: startDate, like: own }, zones, reason);
    if (span.startMs >= toMs && !isMoved) return { spans, goesOn: true };
    if (!isCancelled(item.component)) spans.push(span);
  }
}

/** ical.js leaves out days (EXDATE) only of what recurs, so that what comes once gets a rule for that. */
function recurring(event: Component): Component {
  const has = (name: string): boolean => event.getFirstProperty(name) !== null;
  if (has('exdate') && !has('rrule') && !has('rdate') && !has('recurrence-id'))
    event.addPropertyWithValue('rrule', ICAL.Recur.fromString('FREQ=DAILY;COUNT=1'));
  return event;
}

/** ical.js takes the 30th of February for the 2nd of March, or looks for it for ever. */
function checkRule(event: Component): void {
  for (const property of event.getAllProperties('rrule')) {
    const rule = String(property.getFirstValue());
    const months = numbersIn(rule, 'BYMONTH');
    const never = numbersIn(rule, 'BYMONTHDAY').find(
      (day) =>
        day === 0 ||
        Math.abs(day) > 31 ||
        (months.length > 0 && months.every((month) => Math.abs(day) > daysOf(month))),
    );
    if (never !== undefined)
      throw new CalendarFault(`its rule names a day that does not come (${rule})`, 'correct the day');
    if (Object(property.jCal[3]).count === 0)
      throw new CalendarFault('it never comes: its rule has COUNT=0', 'remove the event, or its COUNT');
    const often = /FREQ=(SECONDLY|MINUTELY|HOURLY)/.exec(rule);
    if (often) throw new CalendarFault('it recurs more often than each day', 'let it last for the whole time instead');
  }
}

/** In common years ical.js takes the 29th of February for the 1st of March. */
function miscountedIn(event: Component): (month: number) => boolean {
  const [rule, ...others] = event.getAllProperties('rrule');
  const text = String(rule?.getFirstValue() ?? '');
  const months = /FREQ=YEARLY(?!.*;BY)/.test(text) ? [monthOf(event)] : numbersIn(text, 'BYMONTH');
  const isAlone = others.length === 0 && event.getFirstProperty('rdate') === null;
  return (month) => isAlone && months.length > 0 && !months.includes(month);
}

const numbersIn = (rule: string, key: string): number[] =>
  (new RegExp(`(?:^|;)${key}=([^;]*)`).exec(rule)?.[1] ?? '').split(',').filter(Boolean).map(Number);

/** In a leap year. */
const daysOf = (month: number): number => new Date(Date.UTC(2024, month, 0)).getUTCDate();

const isCancelled = (event: Component): boolean =>
  presentText(event.getFirstPropertyValue('status'))?.toUpperCase() === 'CANCELLED';

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

function faultOf(error: unknown): { message: string; hint: string } {
  if (error instanceof CalendarFault) return { message: error.message, hint: error.hint };
  return { message: `it cannot be read: ${error instanceof Error ? error.message : String(error)}`, hint: EXPORT };
}
