import { hash } from '../hash';
import { nextTick } from './ticks';

/** A calendar, and its owner among all that would fire with it. */
interface SpreadCalendar {
  readonly calendar: string;
  readonly timezone: string;
  readonly of: string;
}

/**
 * The next time that it fires, strictly after `afterMs`, in ms since the epoch; null if it never does again. Each time is delayed by a share of
 * the spread, which is constant for each owner, so that thousands with a calendar for nine o'clock do not begin in the same second.
 */
export function nextSpreadTick(
  { calendar, timezone, of }: SpreadCalendar,
  spreadMs: number,
  afterMs: number,
): number | null {
  const lateMs = Math.floor((hash(of) / 2 ** 32) * spreadMs);
  const tick = nextTick(calendar, timezone, afterMs - lateMs);
  return tick === null ? null : tick + lateMs;
}
