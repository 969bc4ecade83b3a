import { conveyorError } from '../../domain/errors';
import { parseDuration } from '../../domain/spec/duration';
import { parseMoment } from '../../domain/spec/moment';

/** A time, or a duration from now; in ms since the epoch. */
export function momentOption(flag: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const fromNowMs = parseDuration(text);
  if (fromNowMs !== undefined) return nowMs + fromNowMs;
  const at = parseMoment(text);
  if (at !== undefined) return at;
  const hint = 'write it as 2026-12-27T06:00:00Z, 2026-12-27T06:00+01:00 or 2h';
  throw conveyorError('usage', { text: `${flag} ${text} is not a time`, hint });
}

/** A time, or a duration ago; in ms since the epoch. */
export function sinceOption(flag: string, text: string | undefined, nowMs: number): number | undefined {
  const agoMs = text === undefined ? undefined : parseDuration(text);
  return agoMs === undefined ? momentOption(flag, text, nowMs) : nowMs - agoMs;
}
