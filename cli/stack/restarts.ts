import { backOff } from '../../domain/backoff';

/** The period in which repeated deaths count. */
const WITHIN_MS = 60_000;
const TIMES = 5;
const FIRST_DELAY_MS = 200;

/**
 * Decides about a process that died at these moments (ms; the last is now): `delayMs` until its restart, which doubles
 * each time, or null if it has died too often within a minute.
 */
export function planRestart(deaths: readonly number[]): { readonly times: number; readonly delayMs: number | null } {
  const now = deaths.at(-1) ?? 0;
  const times = deaths.filter((at) => now - at < WITHIN_MS).length;
  return { times, delayMs: times > TIMES ? null : backOff(FIRST_DELAY_MS, times) };
}
