import { Cron } from 'croner';
import { firstInstantFrom, wallAt } from './zone';

/**
 * Calendars: five-field cron. croner finds the wall times. Our own rule finds their instants in a zone, since croner lets a list of
 * minutes fire twice in the fold and not at all in the gap (docs/adr/0011).
 */

/**
 * The next time that a calendar fires, strictly after `afterMs`; null if it never does again. Each wall time fires
 * once: if it occurs twice, at the first; if it does not occur, at the end of the gap, where all times of the gap count
 * as one.
 */
export function nextTick(calendar: string, timezone: string, afterMs: number): number | null {
  const cron = wallCron(calendar);
  let wall = cron.nextRun(new Date(wallAt(timezone, afterMs)));
  while (wall !== null) {
    const tick = firstInstantFrom(timezone, wall.getTime());
    if (tick > afterMs) return tick;
    wall = cron.nextRun(wall);
  }
  return null;
}

const FIELDS = ['minute', 'hour', 'day of the month', 'month', 'day of the week'] as const;
/** The last value of each field. */
const ENDS = [59, 23, 31, 12, 6] as const;

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
]);

/** The five fields of a calendar. `5/15`, which croner does not read, means every 15 from 5: `5-59/15`. */
function parseCronFields(calendar: string): string[] {
  const line = calendar.trim();
  const fields = (NICKNAMES.get(line) ?? line).split(/\s+/);
  return fields.map((field, at) => field.replace(/(?<=^|,)(\d+)\//g, `$1-${ENDS[at] ?? ''}/`));
}

/** The faults of a calendar, one phrase for each; empty if it is valid. */
export function calendarFaults(calendar: string): readonly string[] {
  const [parts, written] = [parseCronFields(calendar), calendar.trim().split(/\s+/)];
  if (calendar.trim().startsWith('@') && parts.length === 1)
    return [`${calendar.trim()} is none of ${[...NICKNAMES.keys()].join(', ')}`];
  if (parts.length !== FIELDS.length) return [`a calendar has five fields, not ${parts.length}`];
  return FIELDS.flatMap((label, index) => {
    const alone = FIELDS.map((_, at) => (at === index ? parts[at] : '*')).join(' ');
    return isCron(alone) ? [] : [`${written[index]} is not a valid ${label}`];
  });
}

/** Any moment will do, since the answer does not depend on it; four years have every date that exists. */
const ANY_SUNDAY_MS = Date.UTC(2023, 0, 1);
const FOUR_YEARS_MS = 1461 * 86_400_000;

export const neverFires = (calendar: string): boolean => nextTick(calendar, 'UTC', ANY_SUNDAY_MS) === null;

/** The days of the week on which a calendar fires within four years; 0 is Sunday. */
export function listWeekdays(calendar: string): ReadonlySet<number> {
  const [, , ...date] = parseCronFields(calendar);
  const cron = wallCron(['0 0', ...date].join(' '));
  const found = new Set<number>();
  let day = cron.nextRun(new Date(ANY_SUNDAY_MS - 1));
  while (day !== null && day.getTime() < ANY_SUNDAY_MS + FOUR_YEARS_MS && found.size < 7) {
    found.add(day.getUTCDay());
    day = cron.nextRun(day);
  }
  return found;
}

/** Wall times are counted as if they were UTC. */
const wallCron = (calendar: string): Cron =>
  new Cron(parseCronFields(calendar).join(' '), { timezone: 'UTC', mode: '5-part' });

function isCron(calendar: string): boolean {
  try {
    wallCron(calendar);
    return true;
  } catch {
    return false;
  }
}
