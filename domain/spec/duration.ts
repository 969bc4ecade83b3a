import ms, { type StringValue } from 'ms';
import { DAY_MS } from '../milliseconds';
import { SPEC_LIMITS } from '../limits';

export const DURATION = /^\d+(\.\d+)?\s?(ms|s|m|h|d|w)$/;

export const toMs = (text: string): number => ms(text as StringValue);

/** Whether what ends so long from now ends on a day that there is. Of more than a hundred characters `ms` makes nothing. */
export const isShortEnough = (text: string): boolean => toMs(text) <= SPEC_LIMITS.duration.max * DAY_MS;

/** `90s`, `10m`, `8h`, `14d` → ms; undefined for what is no duration, or too long for one. */
export const parseDuration = (text: string): number | undefined =>
  DURATION.test(text) && isShortEnough(text) ? toMs(text) : undefined;
