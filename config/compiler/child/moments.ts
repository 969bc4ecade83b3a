/**
 * Programs and schemas have no clock: two moments stand for all, so far apart that what depends on the time differs, and always the
 * same, so that what a value was made of today makes it tomorrow.
 */
export const MOMENT = Date.parse('2001-02-03T04:05:06.007Z');
export const OTHER_MOMENT = Date.parse('2099-11-28T17:26:35.432Z');
