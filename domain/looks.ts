import { hash } from './hash';

/** The failure type of a look without an answer yet: its activity is retried later. It is not an error. */
export const STILL_WAITING = 'still-waiting';

/**
 * The number of looks since the last one with a result, which was attempt `since`; the server counts successful looks
 * as attempts, too. A request to look at once restarts the server's count, and then no attempt was that one.
 */
export const looksSince = (attempt: number, since: number): number =>
  isAnew(attempt, since) ? attempt : attempt - since;

export const isAnew = (attempt: number, since: number): boolean => attempt <= since;

/** The failure type of a look after so many failed ones that the waiting workflow should know. */
export const KEEPS_FAILING = 'keeps-failing';

const FIRST_LOOK_MS = 5_000;

/**
 * The time until the next look of a wait: at most a twentieth of its length so far, so that it ends at most 5% late, or five seconds. All in ms.
 * @param look its name; each takes another part of the second half of that time, so that waits that began together do not look together
 */
export function untilNextLook(waitedMs: number, atMostMs: number, look: string): number {
  const longest = Math.min(atMostMs, Math.max(FIRST_LOOK_MS, Math.floor(waitedMs / 20)));
  return Math.ceil(longest * (1 - hash(look) / 2 ** 33));
}
