import { IANAZone } from 'luxon';
import { ZONE_PATTERN } from './zoneName';
import { DAY_MS } from '../milliseconds';

/**
 * Converts between wall times and instants. A wall time is the time that clocks show, in ms since 1970 as if clocks showed UTC, so
 * that days and minutes can be counted without a zone. Instants are ms since 1970. Both directions take daylight saving time into
 * account: some wall times never occur (the gap in spring), others occur twice (the fold in autumn). Rule: docs/adr/0011.
 */

/**
 * Names of the database with a place, and UTC. Offsets would be wrong for half the year, and several zones share one abbreviation: the
 * database reads BST as the zone of Dhaka. Only incoming files are checked; running work continues with its zones.
 */
export const isTimezone = (name: string): boolean => new RegExp(ZONE_PATTERN).test(name) && IANAZone.isValidZone(name);

/** The time that clocks show. @throws if this Node does not know the zone */
export const wallAt = (timezone: string, atMs: number): number => atMs + offsetMs(timezone, atMs);

/**
 * The first instant at which clocks show this time or a later one: the first of two occurrences, or the end of the gap if there is none.
 */
export function firstInstantFrom(timezone: string, wallMs: number): number {
  const { before, after } = offsetsAround(timezone, wallMs);
  const early = wallMs - before;
  if (offsetMs(timezone, early) === before) return early;
  const late = wallMs - after;
  return offsetMs(timezone, late) === after ? late : firstWith(timezone, after, late, early);
}

/** The instant from which on clocks show no earlier time than this: if the time occurs twice, only after the repeated hour. */
export function lastInstantBefore(timezone: string, wallMs: number): number {
  const { before, after } = offsetsAround(timezone, wallMs);
  const repeated = wallMs - after;
  const isRepeated = after < before && offsetMs(timezone, repeated - 1) === after;
  return isRepeated ? repeated : firstInstantFrom(timezone, wallMs);
}

/** The offsets before and after a nearby change: no zone is further than a day from UTC, and none changes twice in two days. */
function offsetsAround(timezone: string, wallMs: number): { before: number; after: number } {
  return { before: offsetMs(timezone, wallMs - DAY_MS), after: offsetMs(timezone, wallMs + DAY_MS) };
}

/** The time when the offset became this, known to be after `from` and not after `to`. */
function firstWith(timezone: string, offset: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(timezone, middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}

function offsetMs(timezone: string, atMs: number): number {
  const minutes = IANAZone.create(timezone).offset(atMs);
  if (Number.isNaN(minutes)) throw new Error(`${timezone} is not a timezone that this machine knows`);
  return minutes * 60_000;
}
