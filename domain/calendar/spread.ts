import { hash } from '../hash';
import { nextTick } from './ticks';

/** A calendar, and whose it is among all those that would fire with it. */
interface SpreadCalendar {
  readonly calendar: string;
  readonly timezone: string;
  readonly of: string;
}

/**
 * The next time that it fires, strictly after; null when it never does again. Each comes later than its calendar says by a share of the
 * spread, always the same, so that thousands whose calendar says nine do not begin in the same second. ms since the epoch.
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
