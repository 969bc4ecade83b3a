import { DAY_MS } from '../milliseconds';
import { readRule, recurrences, type RecurrenceRule } from './icalendarRule';
import {
  CalendarFault,
  findZoneClock,
  eventAt,
  readFurtherDays,
  lastsMs,
  readMoments,
  readEvent,
  readMoment,
  placeEvent,
  type Component,
  type EventSpan,
  type IcalEvent,
  type Moment,
  type Zones,
} from './icalendarTimes';

/** An event with its days: the days of its rules and dates, minus the excluded ones, with replacements for some. */

export interface EventSeries {
  readonly master: Component;
  readonly exceptions: readonly Component[];
}

/** The file and the range for the reader of events. */
export interface SeriesScope {
  readonly zones: Zones;
  /** ms since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Uses up the time for one more day. @throws CalendarFault once there is none left */
  readonly spend: () => void;
  readonly reasonOf: (event: Component) => string;
}

export interface SeriesDays {
  readonly spans: readonly EventSpan[];
  /** Whether more days follow after the scope. */
  readonly goesOn: boolean;
  /** Properties without effect, which cause more blackout than intended, never less. */
  readonly doubts: readonly string[];
}

/** @throws CalendarFault if days might be missing */
export function expandSeries({ master, exceptions }: EventSeries, scope: SeriesScope): SeriesDays {
  const event = readEvent(master, scope.zones);
  const moved = exceptions.map((exception) => readException(exception, scope));
  const reachMs = Math.max(0, ...moved.map((exception) => exception.reachMs));
  const set = recurrenceSet(event, scope, reachMs);
  const doubts = master.getFirstProperty('exrule') === null ? [] : ['its EXRULE is not understood: no day is left out'];
  const days = new Map(set.days);
  for (const out of readMoments(master, 'exdate')) {
    const key = findDay(out, event, set.days, scope.zones);
    if (key !== undefined) days.delete(key);
    else if (isInScope(out, scope))
      doubts.push(`its EXDATE ${formatWallMoment(out)} is no day of it: no day is left out`);
  }
  for (const { event: exception, id } of moved) {
    const key = findDay(id, event, set.days, scope.zones);
    if (key !== undefined) days.delete(key);
    else if (isInScope(id, scope) && set.days.size > 0)
      doubts.push(
        `${scope.reasonOf(exception.component)} takes the place of ${formatWallMoment(id)}, which is no day of it`,
      );
  }
  const spans = [
    ...recent([...days], scope.fromMs - reachMs).flatMap(([wall, day]) => placeDay(wall, day, event, moved, scope)),
    ...moved.flatMap(({ event: one }) => spansAt(one, one.start.wallMs, scope)),
  ];
  return { spans, goesOn: set.goesOn, doubts };
}

interface RecurrenceSet {
  /** By wall time of the event's clock. */
  readonly days: ReadonlyMap<number, IcalEvent>;
  readonly goesOn: boolean;
}

/** DTSTART, the days of the rules, and RDATE, up to days that `reachMs` may move into the scope. */
function recurrenceSet(event: IcalEvent, scope: SeriesScope, reachMs: number): RecurrenceSet {
  const { start, clock, component } = event;
  const days = new Map([[start.wallMs, event]]);
  let goesOn = false;
  for (const property of component.getAllProperties('rrule')) {
    const rule = readRule(property.jCal[3]);
    const isBy = createUntilTest(rule, event, scope.zones);
    let count = 0;
    let isOver = false;
    for (const wall of recurrences(rule, start.wallMs, start.isDate, scope.toMs + 2 * DAY_MS + reachMs)) {
      scope.spend();
      isOver = !isBy(wall) || (rule.count !== undefined && ++count > rule.count);
      if (isOver) break;
      days.set(wall, event);
    }
    goesOn ||= !isOver && !isBounded(rule, count, isBy, scope.toMs);
  }
  for (const further of readFurtherDays(component)) {
    scope.spend();
    const day = eventAt(event, further, scope.zones);
    days.set(start.isDate ? day.start.wallMs : clock.toWall(day.clock.toInstant(day.start.wallMs)), day);
  }
  return { days: new Map([...days].sort(([a], [b]) => a - b)), goesOn };
}

const isBounded = ({ count }: RecurrenceRule, came: number, isBy: (wallMs: number) => boolean, toMs: number): boolean =>
  (count !== undefined && came >= count) || !isBy(toMs);

/** Whether a day is not after UNTIL, which may be a day or an instant, for any kind of event. */
function createUntilTest(
  { until }: RecurrenceRule,
  { start, clock }: IcalEvent,
  zones: Zones,
): (wallMs: number) => boolean {
  if (until === undefined) return () => true;
  const last = readMoment(until, undefined);
  if (last.isDate) return (wall) => wall < last.wallMs + DAY_MS;
  if (!start.isDate && last.zone === undefined) return (wall) => wall <= last.wallMs;
  // An instant at which a day begins in its zone means that day, even if it is the day before in UTC.
  const atMs =
    last.zone === undefined ? clock.toInstant(last.wallMs) : findZoneClock(last, zones).toInstant(last.wallMs);
  return start.isDate
    ? (wall) => wall <= Math.max(clock.toWall(atMs), last.wallMs)
    : (wall) => wall < last.wallMs - 2 * DAY_MS || clock.toInstant(wall) <= atMs;
}

interface Exception {
  readonly event: IcalEvent;
  readonly id: Moment;
  /** With RANGE=THISANDFUTURE. */
  readonly isForLater: boolean;
  /** The longest time by which it may move the start or the end of later days. */
  readonly reachMs: number;
}

function readException(component: Component, { zones }: SeriesScope): Exception {
  const event = readEvent(component, zones);
  const [id] = readMoments(component, 'recurrence-id');
  if (id === undefined) throw new CalendarFault('its RECURRENCE-ID is empty', 'export the calendar once more');
  if (['rrule', 'rdate'].some((name) => component.getFirstProperty(name) !== null))
    throw new CalendarFault(
      'an event that takes the place of a day of it recurs itself',
      'make it an event of its own',
    );
  const range = [component.getFirstProperty('recurrence-id')?.getParameter('range')].flat()[0];
  if (range !== undefined && range.toUpperCase() !== 'THISANDFUTURE')
    throw new CalendarFault(`RANGE=${range} is not understood`, 'move each day by itself');
  const isForLater = range !== undefined;
  const isSameZone = event.start.isDate || id.isDate || event.start.zone === id.zone;
  if (isForLater && !isSameZone)
    throw new CalendarFault('all later days of it are moved to another timezone', 'make them an event of their own');
  const reachMs = isForLater ? Math.abs(event.start.wallMs - id.wallMs) + lastsMs(event) : 0;
  return { event, id, isForLater, reachMs };
}

/** Without the days that ended long ago, except the last one, which shows when the event ended. */
const recent = (days: readonly (readonly [number, IcalEvent])[], fromMs: number): (readonly [number, IcalEvent])[] =>
  days.filter(([wall, day], index) => wall + lastsMs(day) + 2 * DAY_MS >= fromMs || index === days.length - 1);

/** The time of a day without an exception of its own: moved together with all later days, or its own time. */
function placeDay(
  wall: number,
  day: IcalEvent,
  event: IcalEvent,
  moved: readonly Exception[],
  scope: SeriesScope,
): EventSpan[] {
  const starts = moved
    .filter(({ isForLater }) => isForLater)
    .map((exception) => ({ exception, key: findWallTime(exception.id, event, scope.zones) }))
    .filter(({ key }) => key <= wall)
    .sort((a, b) => b.key - a.key);
  const [last] = starts;
  if (last === undefined) return spansAt(day, day === event ? wall : day.start.wallMs, scope);
  const { event: to } = last.exception;
  const at = to.start.wallMs + wall - last.key;
  return spansAt(to, to.start.isDate ? Math.floor(at / DAY_MS) * DAY_MS : at, scope);
}

function spansAt(event: IcalEvent, wall: number, { zones, reasonOf }: SeriesScope): EventSpan[] {
  const status = event.component.getFirstPropertyValue('status');
  if (typeof status === 'string' && status.toUpperCase() === 'CANCELLED') return [];
  return [placeEvent(event, wall, zones, reasonOf(event.component))];
}

/**
 * The day of an event that a date or time refers to: it should be written in the form of the event, but often is not.
 */
function findDay(
  moment: Moment,
  event: IcalEvent,
  days: ReadonlyMap<number, IcalEvent>,
  zones: Zones,
): number | undefined {
  if (moment.isDate && !event.start.isDate)
    return [...days.keys()].find((wall) => wall >= moment.wallMs && wall < moment.wallMs + DAY_MS);
  return candidates(moment, event, zones).find((wall) => days.has(wall));
}

const findWallTime = (moment: Moment, event: IcalEvent, zones: Zones): number =>
  candidates(moment, event, zones)[0] ?? moment.wallMs;

/** Wall times of the event's clock. A whole day may be written as the time at which it begins, in the event's zone or in the writer's. */
function candidates(moment: Moment, { start, clock }: IcalEvent, zones: Zones): number[] {
  if (moment.isDate) return [moment.wallMs];
  if (moment.zone === start.zone && !start.isDate) return [moment.wallMs];
  const elsewhere = instantIfKnown(moment, zones);
  const walls = [...(elsewhere === undefined ? [] : [clock.toWall(elsewhere)]), moment.wallMs];
  return start.isDate
    ? walls.filter((wall) => wall % DAY_MS === 0)
    : walls.filter((_, index) => index === 0 || moment.zone === undefined);
}

function instantIfKnown(moment: Moment, zones: Zones): number | undefined {
  try {
    return findZoneClock(moment, zones).toInstant(moment.wallMs);
  } catch (error) {
    if (error instanceof CalendarFault) return undefined;
    throw error;
  }
}

const isInScope = ({ wallMs }: Moment, { fromMs, toMs }: SeriesScope): boolean => wallMs >= fromMs && wallMs < toMs;

/** `2026-12-24`, or with its time. */
const formatWallMoment = ({ wallMs, isDate }: Moment): string =>
  new Date(wallMs).toISOString().slice(0, isDate ? 10 : 16);
