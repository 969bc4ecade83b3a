import { isRealDate } from '../calendar/ends';
import { parseDuration } from './duration';

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A time of RFC 3339 in ms since the epoch; undefined for any other text. */
export function parseMoment(text: string): number | undefined {
  const at = RFC_3339.test(text) && isRealDate(text) ? Date.parse(text) : NaN;
  return Number.isFinite(at) ? at : undefined;
}

/** A duration ago, or a time; in ms since the epoch. Undefined for any other text. */
export function parseSince(text: string, nowMs: number): number | undefined {
  const agoMs = parseDuration(text);
  return agoMs === undefined ? parseMoment(text) : nowMs - agoMs;
}
