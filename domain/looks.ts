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
