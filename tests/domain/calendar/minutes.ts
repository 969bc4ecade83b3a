/** The wall time in each minute of some weeks, found by asking the platform minute by minute: what domain/calendar is checked against. */
export interface Minutes {
  readonly startMs: number;
  /** Wall time in minutes since 1970, as if clocks showed UTC. */
  readonly wall: readonly number[];
  /** The latest that clocks have shown so far, and the earliest that they will show yet. */
  readonly latest: readonly number[];
  readonly earliest: readonly number[];
}

const DAY_MS = 86_400_000;

/** Changes of 2026, a day as written in UTC near each: spring, autumn, none, the year's end. */
export const PLACES = [
  ['America/Los_Angeles', '2026-03-08'],
  ['America/Los_Angeles', '2026-11-01'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['Australia/Lord_Howe', '2026-04-04'],
  ['Australia/Lord_Howe', '2026-10-03'],
  ['America/Havana', '2026-03-08'],
  ['America/Havana', '2026-11-01'],
  ['UTC', '2026-12-31'],
] as const;
export type Place = (typeof PLACES)[number];

const known = new Map<string, Minutes>();

/** From ten days before the date until 24 after it. */
export function minutesAround([timezone, date]: Place): Minutes {
  const key = `${timezone} ${date}`;
  const minutes = known.get(key) ?? look(timezone, Date.parse(date));
  known.set(key, minutes);
  return minutes;
}

function look(timezone: string, atMs: number): Minutes {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  const startMs = atMs - 10 * DAY_MS;
  const wall = Array.from({ length: 34 * 1440 }, (_, index) => {
    const shown = format.format(startMs + index * 60_000);
    const [day = 0, month = 0, year = 0, hour = 0, minute = 0] = shown.split(/\D+/).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute) / 60_000;
  });
  const latest = [...wall];
  for (let at = 1; at < latest.length; at += 1) latest[at] = Math.max(latest[at]!, latest[at - 1]!);
  const earliest = [...wall];
  for (let at = earliest.length - 2; at >= 0; at -= 1) earliest[at] = Math.min(earliest[at]!, earliest[at + 1]!);
  return { startMs, wall, latest, earliest };
}
