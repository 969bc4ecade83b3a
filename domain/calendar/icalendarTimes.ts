import ICAL from 'ical.js';
import type { BlackoutSpec } from '../spec/times';
import { firstInstantFrom, isTimezone } from './zone';
import { DAY_MS } from '../milliseconds';

/** When events of a calendar begin and end: whole days in a zone, or instants. */

export type Component = InstanceType<typeof ICAL.Component>;
export type IcalTime = InstanceType<typeof ICAL.Time>;

/** What is wrong with a calendar, or with an event of it. */
export class CalendarFault extends Error {
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export interface Zones {
  /** Of whole days, and of times without one. */
  readonly default: string | undefined;
  /** Those that the file describes, by name. */
  readonly known: ReadonlyMap<string | undefined, Component>;
}

/** ms since 1970. */
export interface EventSpan {
  readonly startMs: number;
  readonly endMs: number;
  readonly blackout: BlackoutSpec;
}

/** An event, or one day of an event that recurs, which lasts as long as the event itself. */
export function spanOf(
  event: Component,
  of: { readonly at: IcalTime; readonly like: EventSpan } | undefined,
  zones: Zones,
  reason: string,
): EventSpan {
  const start = eventTime(event, 'dtstart');
  if (start === undefined) throw new CalendarFault('it has no beginning (DTSTART)', 'give it one, or remove it');
  const at = of?.at ?? start;
  return start.isDate
    ? wholeDaySpan(event, start, at, zones, reason)
    : timedSpan(event, start, at, of?.like, zones, reason);
}

function wholeDaySpan(event: Component, start: IcalTime, at: IcalTime, zones: Zones, reason: string): EventSpan {
  const end = eventTime(event, 'dtend');
  const seconds = secondsOf(event);
  const count = end ? Math.round((wallOf(end) - wallOf(start)) / DAY_MS) : seconds === undefined ? 1 : seconds / 86_400;
  if (count < 1) throw new CalendarFault('it ends before it begins', 'let it end later');
  const timezone = zones.default;
  if (timezone === undefined || !isTimezone(timezone))
    throw new CalendarFault(
      timezone === undefined
        ? 'whole days need a timezone, and the file has none'
        : `${timezone} is not a timezone that means one place`,
      'write timezone: Europe/Berlin beside ics',
    );
  const [fromWall, toWall] = [wallOf(at), wallOf(at) + count * DAY_MS];
  const blackout = { from: dateOf(fromWall), to: dateOf(toWall - DAY_MS), timezone, reason };
  return { startMs: firstInstantFrom(timezone, fromWall), endMs: firstInstantFrom(timezone, toWall), blackout };
}

function timedSpan(
  event: Component,
  start: IcalTime,
  at: IcalTime,
  like: EventSpan | undefined,
  zones: Zones,
  reason: string,
): EventSpan {
  const startMs = instantOf(event, 'dtstart', at, zones);
  const lastsMs = like ? like.endMs - like.startMs : eventEnd(event, start, zones) - startMs;
  if (!(lastsMs > 0)) throw new CalendarFault('it ends when it begins, or before', 'let it end later');
  const endMs = startMs + lastsMs;
  return { startMs, endMs, blackout: { from: isoMinute(startMs), to: isoMinute(endMs), reason } };
}

function eventEnd(event: Component, start: IcalTime, zones: Zones): number {
  const end = eventTime(event, 'dtend');
  if (end) return instantOf(event, 'dtend', end, zones);
  const seconds = secondsOf(event);
  if (seconds === undefined) throw new CalendarFault('it has no end', 'give it an end (DTEND) or a DURATION');
  return instantOf(event, 'dtstart', start, zones) + seconds * 1000;
}

const secondsOf = (event: Component): number | undefined =>
  (event.getFirstPropertyValue('duration') as { toSeconds(): number } | null)?.toSeconds();

/** By our own rule where the zone is one that we know, else by what the file says of it. */
function instantOf(event: Component, name: string, time: IcalTime, zones: Zones): number {
  const written = event.getFirstProperty(name);
  if (time.zone === ICAL.Timezone.utcTimezone) return wallOf(time);
  const named = [written?.getParameter('tzid')].flat()[0];
  const zone = named ?? zones.default;
  if (zone === undefined)
    throw new CalendarFault('its time has no timezone', 'write timezone: Europe/Berlin beside ics');
  if (isTimezone(zone)) return firstInstantFrom(zone, wallOf(time));
  const described = zones.known.get(zone);
  if (described === undefined)
    throw new CalendarFault(`${zone} is not a timezone that means one place`, 'use an IANA name such as Europe/Berlin');
  const copy = time.clone();
  copy.zone = new ICAL.Timezone(described);
  return copy.toUnixTime() * 1000;
}

/** A date or time that there is; ical.js counts on where one is too large. */
function eventTime(event: Component, name: string): IcalTime | undefined {
  const property = event.getFirstProperty(name);
  if (property === null) return undefined;
  const text = String(property.jCal[3]);
  const at = Date.parse(text.length === 10 ? `${text}T00:00Z` : text.endsWith('Z') ? text : `${text}Z`);
  if (!Number.isFinite(at) || new Date(at).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new CalendarFault(`${text} does not come`, 'name a day and a time that there is');
  return property.getFirstValue() as IcalTime;
}

/** In which month an event begins first. */
export const monthOf = (event: Component): number => eventTime(event, 'dtstart')?.month ?? 0;

/** As if clocks showed UTC. */
const wallOf = ({ year, month, day, hour, minute, second }: IcalTime): number =>
  Date.UTC(year, month - 1, day, hour, minute, second);

const dateOf = (wallMs: number): string => new Date(wallMs).toISOString().slice(0, 10);

/** `2026-12-24T12:00Z`, as people write it. */
const isoMinute = (atMs: number): string => new Date(atMs).toISOString().replace(/(:00)?\.000Z$/, 'Z');
