/** The type of the failure that a look ends with while there is no answer: its activity is tried again later. It is no trouble. */
export const STILL_WAITING = 'still-waiting';

/**
 * How many looks have begun since the one that saw something last, which was the attempt `since`; the server counts good ones as
 * attempts as well. When it is asked to look at once, it counts anew, and then none of them was that one.
 */
export const looksSince = (attempt: number, since: number): number =>
  isAnew(attempt, since) ? attempt : attempt - since;

export const isAnew = (attempt: number, since: number): boolean => attempt <= since;

/** The type of the failure of a look after so many others that whoever waits for an answer should know. */
export const KEEPS_FAILING = 'keeps-failing';
