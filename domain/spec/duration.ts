import ms, { type StringValue } from 'ms';

export const DURATION = /^\d+(\.\d+)?\s?(ms|s|m|h|d|w)$/;

export const toMs = (text: string): number => ms(text as StringValue);

/** `90s`, `10m`, `8h`, `14d` → ms; undefined for what is no duration. */
export const parseDuration = (text: string): number | undefined => (DURATION.test(text) ? toMs(text) : undefined);
