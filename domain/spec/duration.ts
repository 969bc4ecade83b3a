import ms, { type StringValue } from 'ms';
import { DAY_MS } from '../milliseconds';
import { SPEC_LIMITS } from '../limits';

/** As `ms` has them. */
const MS_UNITS = [
  ...['milliseconds?', 'msecs?', 'ms', 'seconds?', 'secs?', 's', 'minutes?', 'mins?', 'm'],
  ...['hours?', 'hrs?', 'h', 'days?', 'd', 'weeks?', 'w', 'years?', 'yrs?', 'y'],
];

/** Patterns of JSON schemas have no flag for it. */
const inAnyCase = (unit: string): string => unit.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

/** What `ms` takes, but for bare and for negative numbers. */
export const DURATION = new RegExp(`^(\\d+|\\d*\\.\\d+) *(${MS_UNITS.map(inAnyCase).join('|')})$`);

export const toMs = (text: string): number => ms(text as StringValue);

/** Whether what ends so long from now ends on a day that there is. Of more than a hundred characters `ms` makes nothing. */
export const isShortEnough = (text: string): boolean => toMs(text) <= SPEC_LIMITS.duration.max * DAY_MS;

/** `90s`, `10m`, `8 hours`, `14d` → ms; undefined for what is not a duration, or too long for one. */
export const parseDuration = (text: string): number | undefined =>
  DURATION.test(text) && isShortEnough(text) ? toMs(text) : undefined;
