/** Durations in ms, independent of any clock: days of a calendar have 23 to 25 hours. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;
