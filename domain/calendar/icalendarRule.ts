import { isJsonObject } from '../json';
import { DAY_MS } from '../milliseconds';
import { CalendarFault } from './icalendarTimes';

/**
 * The recurrence of an event (RFC 5545, "Recurrence Rule"), in wall-clock times: ms since 1970 as if clocks showed UTC. We use no library for
 * this, since the JavaScript libraries lose days or do not terminate (docs/adr/0059). The caller handles COUNT and UNTIL.
 */
export interface RecurrenceRule {
  readonly freq: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';
  readonly interval: number;
  readonly count: number | undefined;
  /** `2026-12-24` or `2026-12-24T07:00:00Z`. */
  readonly until: string | undefined;
  /** 0 is Sunday. */
  readonly weekStart: number;
  readonly byMonth: readonly number[];
  readonly byWeekNo: readonly number[];
  readonly byYearDay: readonly number[];
  readonly byMonthDay: readonly number[];
  readonly byDay: readonly { readonly weekday: number; readonly nth: number }[];
  readonly byHour: readonly number[];
  readonly byMinute: readonly number[];
  readonly bySecond: readonly number[];
  readonly bySetPos: readonly number[];
}

const WEEKDAY_CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

const RULE_PARTS =
  'freq interval count until wkst bymonth byweekno byyearday bymonthday byday byhour byminute bysecond bysetpos'.split(
    ' ',
  );

/** @throws CalendarFault for a rule that is not understood, or that names days that do not exist */
export function readRule(recur: unknown): RecurrenceRule {
  if (!isJsonObject(recur)) throw new CalendarFault('its rule (RRULE) cannot be read', 'export the calendar once more');
  const unknown = Object.keys(recur).find((key) => !RULE_PARTS.includes(key));
  if (unknown !== undefined)
    throw new CalendarFault(`its rule has ${unknown.toUpperCase()}, which is not understood`, LIST);
  const { freq, count } = recur;
  if (freq === 'SECONDLY' || freq === 'MINUTELY' || freq === 'HOURLY')
    throw new CalendarFault('it recurs more often than each day', 'let it last for the whole time instead');
  if (freq !== 'DAILY' && freq !== 'WEEKLY' && freq !== 'MONTHLY' && freq !== 'YEARLY')
    throw new CalendarFault('its rule (RRULE) has no FREQ', 'correct the rule');
  if (count === 0) throw new CalendarFault('it never comes: its rule has COUNT=0', 'remove the event, or its COUNT');
  const numbers = (key: string): number[] => [recur[key] ?? []].flat().map(Number);
  const rule: RecurrenceRule = {
    freq,
    interval: typeof recur['interval'] === 'number' ? recur['interval'] : 1,
    count: typeof count === 'number' ? count : undefined,
    until: typeof recur['until'] === 'string' ? recur['until'] : undefined,
    weekStart: typeof recur['wkst'] === 'number' ? recur['wkst'] - 1 : 1,
    byMonth: numbers('bymonth'),
    byWeekNo: numbers('byweekno'),
    byYearDay: numbers('byyearday'),
    byMonthDay: numbers('bymonthday'),
    byDay: [recur['byday'] ?? []].flat().map((day) => readWeekday(String(day))),
    byHour: numbers('byhour'),
    byMinute: numbers('byminute'),
    bySecond: numbers('bysecond'),
    bySetPos: numbers('bysetpos'),
  };
  checkDays(rule);
  return rule;
}

const LIST = 'list its days as events of their own';

function readWeekday(text: string): { weekday: number; nth: number } {
  const [, nth, day = ''] = /^([+-]?\d+)?([A-Z]{2})$/.exec(text) ?? [];
  if (!WEEKDAY_CODES.includes(day))
    throw new CalendarFault(`its rule names ${text}, which is no weekday`, 'correct the rule');
  return { weekday: WEEKDAY_CODES.indexOf(day), nth: Number(nth ?? 0) };
}

function checkDays({ byMonth, byMonthDay, byWeekNo, byDay }: RecurrenceRule): void {
  const never = byMonthDay.find(
    (day) =>
      day === 0 ||
      Math.abs(day) > 31 ||
      (byMonth.length > 0 && byMonth.every((month) => Math.abs(day) > countMonthDays(2024, month))),
  );
  const month = byMonth.find((one) => !(one >= 1 && one <= 12));
  if (never !== undefined || month !== undefined)
    throw new CalendarFault(
      never !== undefined
        ? `its rule names a day that does not come (BYMONTHDAY=${never})`
        : `its rule names a month that does not come (BYMONTH=${month})`,
      'correct the rule',
    );
  if (byWeekNo.length > 0 && byDay.length === 0)
    throw new CalendarFault('its rule has BYWEEKNO without BYDAY, which programs read differently', 'add BYDAY to it');
}

/** In order from the start, which is among them only if the rule matches it; the last one begins before `toMs`. */
export function* recurrences(
  written: RecurrenceRule,
  startMs: number,
  isDate: boolean,
  toMs: number,
): Generator<number> {
  const rule = completeRule(written, new Date(startMs));
  const times = isDate ? [0] : timesOfDay(rule, startMs);
  for (const days of periods(rule, startMs, toMs)) {
    const all = days.filter((day) => isRuleDay(rule, day)).flatMap((day) => times.map((time) => day + time));
    for (const wall of atPositions(all, rule.bySetPos)) {
      if (wall >= toMs) return;
      if (wall >= startMs) yield wall;
    }
  }
}

/** A rule without days means the day of the start. */
function completeRule(rule: RecurrenceRule, start: Date): RecurrenceRule {
  const { freq, byMonth, byWeekNo, byYearDay, byMonthDay, byDay } = rule;
  if ([byWeekNo, byYearDay, byMonthDay, byDay].some((list) => list.length > 0) || freq === 'DAILY') return rule;
  if (freq === 'WEEKLY') return { ...rule, byDay: [{ weekday: start.getUTCDay(), nth: 0 }] };
  const isOfYear = freq === 'YEARLY' && byMonth.length === 0;
  return {
    ...rule,
    byMonth: isOfYear ? [start.getUTCMonth() + 1] : byMonth,
    byMonthDay: [start.getUTCDate()],
  };
}

function timesOfDay({ byHour, byMinute, bySecond }: RecurrenceRule, startMs: number): number[] {
  const start = new Date(startMs);
  const or = (list: readonly number[], own: number): readonly number[] => (list.length > 0 ? list : [own]);
  const times = or(byHour, start.getUTCHours()).flatMap((hour) =>
    or(byMinute, start.getUTCMinutes()).flatMap((minute) =>
      or(bySecond, start.getUTCSeconds()).map((second) => ((hour * 60 + minute) * 60 + second) * 1000),
    ),
  );
  return [...new Set(times)].sort((a, b) => a - b);
}

function atPositions(all: readonly number[], positions: readonly number[]): readonly number[] {
  if (positions.length === 0) return all;
  const taken = positions.flatMap((at) => all[at > 0 ? at - 1 : all.length + at] ?? []);
  return [...new Set(taken)].sort((a, b) => a - b);
}

/** The days of each period that the interval includes; for months, only days that the rule may match. */
function* periods(rule: RecurrenceRule, startMs: number, toMs: number): Generator<number[]> {
  const { freq, interval, weekStart } = rule;
  const first = new Date(startMs);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()];
  const midnight = Date.UTC(year, month, first.getUTCDate());
  const week = midnight - ((first.getUTCDay() - weekStart + 7) % 7) * DAY_MS;
  for (let step = 0; ; step += Math.max(1, interval)) {
    const from = {
      DAILY: midnight + step * DAY_MS,
      WEEKLY: week + step * 7 * DAY_MS,
      MONTHLY: Date.UTC(year, month + step, 1),
      YEARLY: Date.UTC(year + step, 0, 1),
    }[freq];
    if (!(from < toMs)) return;
    if (freq === 'DAILY') yield [from];
    else if (freq === 'WEEKLY') yield daysFrom(from, 7);
    else yield (freq === 'MONTHLY' ? [month + step] : MONTHS).flatMap((one) => daysOfMonth(rule, year, one, step));
  }
}

const MONTHS = Array.from({ length: 12 }, (_, month) => month);

/** `month` counts from 0 and may go beyond the year; places are counted by year only if the rule does so. */
function daysOfMonth(
  { freq, byMonth, byMonthDay }: RecurrenceRule,
  year: number,
  month: number,
  step: number,
): number[] {
  const from = Date.UTC(freq === 'YEARLY' ? year + step : year, month, 1);
  const first = new Date(from);
  if (!isNamed(byMonth, first.getUTCMonth() + 1)) return [];
  const lasts = countMonthDays(first.getUTCFullYear(), first.getUTCMonth() + 1);
  if (byMonthDay.length === 0) return daysFrom(from, lasts);
  const days = byMonthDay.map((day) => (day > 0 ? day : lasts + 1 + day)).filter((day) => day >= 1 && day <= lasts);
  return [...new Set(days)].sort((a, b) => a - b).map((day) => from + (day - 1) * DAY_MS);
}

const daysFrom = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, day) => from + day * DAY_MS);

function isRuleDay(
  { freq, byMonth, byWeekNo, byYearDay, byMonthDay, byDay, weekStart }: RecurrenceRule,
  dayMs: number,
): boolean {
  const day = new Date(dayMs);
  const [year, month, date] = [day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()];
  const weekday = day.getUTCDay();
  if (byDay.length > 0 && !byDay.some((one) => one.weekday === weekday)) return false;
  if (!isNamed(byMonth, month)) return false;
  const inMonth = { at: date, of: countMonthDays(year, month) };
  if (!isPlaceAmong(byMonthDay, inMonth)) return false;
  const inYear = { at: Math.round((dayMs - Date.UTC(year, 0, 1)) / DAY_MS) + 1, of: daysInYear(year) };
  if (!isPlaceAmong(byYearDay, inYear)) return false;
  if (byWeekNo.length > 0) return isWeekAmong(byWeekNo, dayMs, weekStart);
  const isCounted = freq === 'MONTHLY' || freq === 'YEARLY';
  const within = freq === 'MONTHLY' || byMonth.length > 0 ? inMonth : inYear;
  return !isCounted || byDay.length === 0 || byDay.some((one) => one.weekday === weekday && isNth(one.nth, within));
}

/** A place, counted from 1, and the number of places. */
interface DayPlace {
  readonly at: number;
  readonly of: number;
}

const isNamed = (list: readonly number[], value: number): boolean => list.length === 0 || list.includes(value);

/** Negative numbers count from the end. */
const isPlaceAmong = (list: readonly number[], { at, of }: DayPlace): boolean =>
  list.length === 0 || list.includes(at) || list.includes(at - of - 1);

/** `2MO` is the second Monday of a month or year. A week or a day has no second one. */
const isNth = (nth: number, { at, of }: DayPlace): boolean =>
  nth === 0 || nth === Math.ceil(at / 7) || nth === -Math.ceil((of - at + 1) / 7);

/** Week 1 is the first with four days in the year. If a rule counts by year, a week that reaches into the next year belongs to both. */
function isWeekAmong(list: readonly number[], dayMs: number, weekStart: number): boolean {
  const year = new Date(dayMs).getUTCFullYear();
  const first = firstWeek(year, weekStart);
  const next = firstWeek(year + 1, weekStart);
  if (dayMs >= next) return isPlaceAmong(list, { at: 1, of: weeksBetween(next, firstWeek(year + 2, weekStart)) });
  const previous = firstWeek(year - 1, weekStart);
  const [from, to] = dayMs < first ? [previous, first] : [first, next];
  return isPlaceAmong(list, { at: weeksBetween(from, dayMs) + 1, of: weeksBetween(from, to) });
}

const weeksBetween = (fromMs: number, toMs: number): number => Math.floor((toMs - fromMs) / (7 * DAY_MS));

function firstWeek(year: number, weekStart: number): number {
  const fourth = Date.UTC(year, 0, 4);
  return fourth - ((new Date(fourth).getUTCDay() - weekStart + 7) % 7) * DAY_MS;
}

const countMonthDays = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

const daysInYear = (year: number): number => (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY_MS;
