import ICAL from 'ical.js';
import type { BlackoutSpec } from '../spec/times';
import { DAY_MS } from '../milliseconds';
import { firstInstantFrom, isTimezone, wallAt } from './zone';

/** The beginnings and ends of calendar events: whole days in a zone, or instants. */

export type Component = InstanceType<typeof ICAL.Component>;

/** A fault of a calendar or one of its events. */
export class CalendarFault extends Error {
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export interface Zones {
  /** For whole days, and for times without a zone. */
  readonly default: string | undefined;
  /** The zones that the file describes, by name. */
  readonly known: ReadonlyMap<string | undefined, Component>;
}

/** A date or time as written. */
export interface Moment {
  /** ms since 1970, as if clocks showed UTC; for a day, its midnight. */
  readonly wallMs: number;
  readonly isDate: boolean;
  /** Undefined if it has no zone of its own. */
  readonly zone: string | undefined;
}

/** Converts between wall times and instants, both in ms. */
export interface ZoneClock {
  readonly toInstant: (wallMs: number) => number;
  readonly toWall: (atMs: number) => number;
}

/** The duration of an event: first in wall-clock time, then in elapsed time; at least `leastMs`. */
export interface Length {
  readonly wallMs: number;
  readonly thenMs: number;
  readonly leastMs: number;
}

/** The first occurrence of an event. */
export interface IcalEvent {
  readonly component: Component;
  readonly start: Moment;
  readonly clock: ZoneClock;
  readonly length: Length;
}

/** ms since 1970. */
export interface EventSpan {
  readonly startMs: number;
  readonly endMs: number;
  readonly blackout: BlackoutSpec;
}

/** @throws CalendarFault if it lacks a beginning or an end */
export function readEvent(component: Component, zones: Zones): IcalEvent {
  const [start] = readMoments(component, 'dtstart');
  if (start === undefined) throw new CalendarFault('it has no beginning (DTSTART)', 'give it one, or remove it');
  if (start.isDate) {
    const length = wholeDays(component, start);
    return { component, start, clock: findZoneClock(start, zones), length };
  }
  const clock = findZoneClock(start, zones);
  return { component, start, clock, length: computeTimedLength(component, start, clock, zones) };
}

/** The upper limit. */
export const lastsMs = ({ length }: IcalEvent): number => Math.max(length.wallMs + length.thenMs, length.leastMs);

/** An event that begins at a wall time of its clock. */
export function placeEvent(
  { clock, start, length }: IcalEvent,
  wallMs: number,
  zones: Zones,
  reason: string,
): EventSpan {
  const startMs = clock.toInstant(wallMs);
  const endMs = endOfEvent(length, wallMs, clock);
  if (!start.isDate) return { startMs, endMs, blackout: { from: isoMinute(startMs), to: isoMinute(endMs), reason } };
  const [from, to] = [formatWallDate(wallMs), formatWallDate(wallMs + length.wallMs - DAY_MS)];
  return { startMs, endMs, blackout: { from, to, timezone: zones.default ?? 'UTC', reason } };
}

/** Days have the length that wall clocks show (RFC 5545, "Duration"), so the day on which summer time ends has 25 hours. */
function endOfEvent({ wallMs, thenMs, leastMs }: Length, startWallMs: number, clock: ZoneClock): number {
  return Math.max(clock.toInstant(startWallMs + wallMs) + thenMs, clock.toInstant(startWallMs) + leastMs);
}

/** The end should be the day after the last day. If it is the first day, it means that day. */
function wholeDays(component: Component, start: Moment): Length {
  const [end] = readMoments(component, 'dtend');
  const lasts = end ? end.wallMs - start.wallMs : findDuration(component);
  const ms = typeof lasts === 'number' ? lasts : lasts ? lasts.wallMs + lasts.thenMs : DAY_MS;
  if (ms < 0) throw new CalendarFault('it ends before it begins', 'let it end later');
  return { wallMs: Math.max(1, Math.ceil(ms / DAY_MS)) * DAY_MS, thenMs: 0, leastMs: 0 };
}

/**
 * With DTEND, an event may last equally long in elapsed time, or end at the same wall time; the later end counts. RFC 5545 ("Recurrence Rule") says
 * the first, most calendars show the second, and too little blackout is the worse mistake.
 */
function computeTimedLength(component: Component, start: Moment, clock: ZoneClock, zones: Zones): Length {
  const [end] = readMoments(component, 'dtend');
  const length = end
    ? lengthBetween(start, clock, findZoneClock(end, zones).toInstant(end.wallMs))
    : findDuration(component);
  if (length === undefined) throw new CalendarFault('it has no end', 'give it an end (DTEND) or a DURATION');
  return checkLength(length, start, clock);
}

function lengthBetween(start: Moment, clock: ZoneClock, endMs: number): Length {
  const leastMs = endMs - clock.toInstant(start.wallMs);
  return { wallMs: leastMs > 0 ? Math.max(0, clock.toWall(endMs) - start.wallMs) : 0, thenMs: 0, leastMs };
}

function checkLength(length: Length, start: Moment, clock: ZoneClock): Length {
  if (!(endOfEvent(length, start.wallMs, clock) > clock.toInstant(start.wallMs)))
    throw new CalendarFault('it ends when it begins, or before', 'let it end later');
  return length;
}

/** A further day of an event (RDATE), which may have an end of its own. */
export interface FurtherDay {
  readonly moment: Moment;
  readonly end: string | undefined;
}

export function readFurtherDays(component: Component): FurtherDay[] {
  return component.getAllProperties('rdate').flatMap((property) => {
    const [, , , ...values] = property.jCal as unknown[];
    return values.map((value) => {
      const [from, end]: unknown[] = Array.isArray(value) ? value : [value];
      return { moment: readMoment(String(from), readZoneName(property)), end: end === undefined ? end : String(end) };
    });
  });
}

/** Like the event, but at another moment, and with another end if there is one. */
export function eventAt(event: IcalEvent, { moment, end }: FurtherDay, zones: Zones): IcalEvent {
  if (moment.isDate !== event.start.isDate)
    throw new CalendarFault(
      'a further day of it (RDATE) is written as a time where it has days, or the other way round',
      'write both in the same way',
    );
  const clock = findZoneClock(moment, zones);
  if (end === undefined) return { ...event, start: moment, clock };
  const ends = /^[+-]?P/.test(end) ? readDuration(end) : undefined;
  const until = ends ? undefined : readMoment(end, moment.zone);
  const length = ends ?? lengthBetween(moment, clock, until ? findZoneClock(until, zones).toInstant(until.wallMs) : 0);
  return { ...event, start: moment, clock, length: checkLength(length, moment, clock) };
}

/** All dates and times of the properties with that name. @throws CalendarFault if one of them does not exist */
export function readMoments(component: Component, name: string): Moment[] {
  return component.getAllProperties(name).flatMap((property) => {
    const [, , , ...values] = property.jCal as unknown[];
    return values.map((value) => readMoment(String(value), readZoneName(property)));
  });
}

const readZoneName = (property: ReturnType<Component['getAllProperties']>[number]): string | undefined =>
  [property.getParameter('tzid')].flat()[0];

/** ical.js turns a date without VALUE=DATE into `2026-12-25T::`, which is read as that date. */
export function readMoment(text: string, tzid: string | undefined): Moment {
  const [, date, hour, minute, second, utc] =
    /^(\d{4}-\d\d-\d\d)(?:T(?:::|(\d\d):(\d\d):(\d\d)?(Z?)))?$/.exec(text) ?? [];
  const time = hour === undefined ? '00:00:00' : `${hour}:${minute}:${second ?? '00'}`;
  const at = Date.parse(`${date}T${time === '23:59:60' ? '23:59:59' : time}Z`);
  if (!Number.isFinite(at) || new Date(at).toISOString().slice(0, 10) !== date)
    throw new CalendarFault(`${text} does not come`, 'name a day and a time that there is');
  return { wallMs: at, isDate: hour === undefined, zone: hour === undefined ? undefined : utc === 'Z' ? 'UTC' : tzid };
}

const findDuration = (component: Component): Length | undefined => {
  const property = component.getFirstProperty('duration');
  return property === null ? undefined : readDuration(String(property.jCal[3]));
};

/** Weeks and days in wall-clock time, the rest in elapsed time. */
function readDuration(text: string): Length {
  const [whole, sign, weeks, days, hours, minutes, seconds] =
    /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text) ?? [];
  if (whole === undefined || sign === '-')
    throw new CalendarFault(
      whole === undefined ? `its DURATION ${text} cannot be read` : 'it ends when it begins, or before',
      'write one such as PT2H',
    );
  const [w, d, h, m, s] = [weeks, days, hours, minutes, seconds].map((part) => Number(part ?? 0)) as number[];
  const thenMs = (((h ?? 0) * 60 + (m ?? 0)) * 60 + (s ?? 0)) * 1000;
  return { wallMs: ((w ?? 0) * 7 + (d ?? 0)) * DAY_MS, thenMs, leastMs: 0 };
}

/**
 * Uses our own rules if we know the zone, else the description in the file. @throws CalendarFault for any other zone
 */
export function findZoneClock({ isDate, zone }: Moment, zones: Zones): ZoneClock {
  const name = isDate ? zones.default : (zone ?? zones.default);
  if (name !== undefined && isTimezone(name))
    return { toInstant: (wall) => firstInstantFrom(name, wall), toWall: (at) => wallAt(name, at) };
  const described = isDate ? undefined : zones.known.get(name);
  if (described !== undefined) return createDescribedClock(described);
  if (name === undefined)
    throw new CalendarFault(
      isDate ? 'whole days need a timezone, and the file has none' : 'its time has no timezone',
      'write timezone: Europe/Berlin beside ics',
    );
  const hint = isDate ? 'write timezone: Europe/Berlin beside ics' : 'use an IANA name such as Europe/Berlin';
  throw new CalendarFault(`${name} is not a timezone that means one place`, hint);
}

function createDescribedClock(described: Component): ZoneClock {
  const zone = new ICAL.Timezone(described);
  const timeAt = (ms: number, of: InstanceType<typeof ICAL.Timezone>): InstanceType<typeof ICAL.Time> => {
    const at = new Date(ms);
    const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
    const [hour, minute, second] = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
    return new ICAL.Time({ year, month, day, hour, minute, second, isDate: false }, of);
  };
  return {
    toInstant: (wall) => timeAt(wall, zone).toUnixTime() * 1000,
    toWall: (at) => {
      const { year, month, day, hour, minute, second } = timeAt(at, ICAL.Timezone.utcTimezone).convertToZone(zone);
      return Date.UTC(year, month - 1, day, hour, minute, second);
    },
  };
}

const formatWallDate = (wallMs: number): string => new Date(wallMs).toISOString().slice(0, 10);

/** `2026-12-24T12:00Z`, as people write it. */
const isoMinute = (atMs: number): string => new Date(atMs).toISOString().replace(/(:00)?\.000Z$/, 'Z');
