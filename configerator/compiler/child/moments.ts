/**
 * Programs and schemas have no clock, only two fixed times. These are so far apart that a time-dependent value differs
 * between them, and they never change, so the same sources make the same value tomorrow.
 */
export const MOMENT = Date.parse('2001-02-03T04:05:06.007Z');
export const OTHER_MOMENT = Date.parse('2099-11-28T17:26:35.432Z');
