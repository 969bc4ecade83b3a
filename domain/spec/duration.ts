import ms, { type StringValue } from 'ms';
import { DAY_MS } from '../milliseconds';
import { SPEC_LIMITS } from '../limits';

/** The units of the package `ms`. */
const MS_UNITS = [
  ...['milliseconds?', 'msecs?', 'ms', 'seconds?', 'secs?', 's', 'minutes?', 'mins?', 'm'],
  ...['hours?', 'hrs?', 'h', 'days?', 'd', 'weeks?', 'w', 'years?', 'yrs?', 'y'],
];

/** Patterns in JSON schemas have no flag for ignoring case. */
const inAnyCase = (unit: string): string => unit.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

/** The inputs of `ms`, except bare and negative numbers. */
export const DURATION = new RegExp(`^(\\d+|\\d*\\.\\d+) *(${MS_UNITS.map(inAnyCase).join('|')})$`);

export const toMs = (text: string): number => ms(text as StringValue);

/** Whether the end of a duration from now is on a valid date. `ms` returns nothing for more than a hundred characters. */
export const isShortEnough = (text: string): boolean => toMs(text) <= SPEC_LIMITS.duration.max * DAY_MS;

/** `90s`, `10m`, `8 hours`, `14d` → ms; undefined for a text that is not a duration, or is too long a duration. */
export const parseDuration = (text: string): number | undefined =>
  DURATION.test(text) && isShortEnough(text) ? toMs(text) : undefined;
