import { MINUTE_MS } from '../milliseconds';

const SECOND_MS = 1_000;

/** A notice is retried for an hour, so a receiver that asks for a longer wait would not get it at all. */
const LONGEST_RETRY_MS = 10 * MINUTE_MS;

/** The wait that a receiver asks for, in seconds or as a date, within bounds; undefined if it asks for none that can be read. */
export function readRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * SECOND_MS : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, SECOND_MS), LONGEST_RETRY_MS);
}
