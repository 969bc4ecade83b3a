import type { WindowSpec } from '../spec/times';
import { firstInstantFrom, lastInstantBefore, wallAt } from './zone';
import { DAY_MS } from '../milliseconds';

/** `days` are the days on which it opens; with `to` not after `from` it closes on the next day. */
export type Window = Pick<WindowSpec, 'days' | 'from' | 'to' | 'timezone'>;

/** Times in ms. The caller asks again after the change; a window that never closes is reported to close in some weeks. */
export type WindowState =
  | { readonly open: true; readonly closesAtMs: number }
  /** `why`: the reason of the blackout that keeps it closed. */
  | { readonly open: false; readonly opensAtMs: number; readonly why?: string };

const WEEK = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
/** If a gap covers a whole window, it does not open that day, so the next opening may be two weeks away; the third week is a reserve. */
const DAYS_AHEAD = 21;

/**
 * Whether a window is open, and until when. It is open from the first instant at which clocks show `from` or later, until the
 * instant after which they never again show a time before `to` (docs/adr/0011).
 */
export function windowAt(window: Window, nowMs: number): WindowState {
  const openings = listOpeningsAround(window, nowMs);
  const current = openings.find(({ opensAtMs, closesAtMs }) => opensAtMs <= nowMs && nowMs < closesAtMs);
  if (current !== undefined) return { open: true, closesAtMs: current.closesAtMs };
  const next = openings.find(({ opensAtMs }) => opensAtMs > nowMs);
  if (next === undefined) throw new Error(`a window from ${window.from} to ${window.to} never opens`);
  return { open: false, opensAtMs: next.opensAtMs };
}

/** The time since which it is open; undefined while it is closed. */
export const findOpeningStart = (window: Window, nowMs: number): number | undefined =>
  listOpeningsAround(window, nowMs).find(({ opensAtMs, closesAtMs }) => opensAtMs <= nowMs && nowMs < closesAtMs)
    ?.opensAtMs;

interface Opening {
  readonly opensAtMs: number;
  readonly closesAtMs: number;
}

/** From two days before a moment until 18 days after it, in order and disjoint: if one closes as the next day opens, both are one opening. */
export function listOpeningsAround(window: Window, nowMs: number): readonly Opening[] {
  const today = Math.floor(wallAt(window.timezone, nowMs) / DAY_MS);
  const days = Array.from({ length: DAYS_AHEAD }, (_, index) => today - 2 + index);
  return days
    .filter((day) => window.days.includes(weekday(day) as Window['days'][number]))
    .map((day) => computeDayOpening(window, day))
    .filter(({ opensAtMs, closesAtMs }) => opensAtMs < closesAtMs)
    .reduce<readonly Opening[]>(joinOpenings, []);
}

/** 1970-01-01 was a Thursday. */
const weekday = (day: number): string | undefined => WEEK[(day + 4) % 7];

function computeDayOpening({ from, to, timezone }: Window, day: number): Opening {
  const [start, end] = [parseClockMinutes(from), parseClockMinutes(to)];
  const endDay = end <= start ? day + 1 : day;
  return {
    opensAtMs: firstInstantFrom(timezone, day * DAY_MS + start * 60_000),
    closesAtMs: lastInstantBefore(timezone, endDay * DAY_MS + end * 60_000),
  };
}

function joinOpenings(openings: readonly Opening[], next: Opening): readonly Opening[] {
  const last = openings.at(-1);
  if (last === undefined || next.opensAtMs > last.closesAtMs) return [...openings, next];
  return [...openings.slice(0, -1), { ...last, closesAtMs: Math.max(last.closesAtMs, next.closesAtMs) }];
}

function parseClockMinutes(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
