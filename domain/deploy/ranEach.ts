import type { Unit } from '../fleet/unit';
import { STATE_LIMITS } from '../limits';
import { cutText } from '../size';
import { joinWords, plural } from '../text';
import { versionBefore, type RevertRules } from './versionBefore';

/** The number of versions, and of units of each, that are named; the others are counted. */
const NAMED_AT_MOST = 5;

/**
 * If units go back to several versions, the version of each: `kv:1 in kvstore-x and kvstore-y; kv:0 in kvstore-z`. Undefined if all of them go back
 * to one, or to an unknown version.
 */
export function ranEach(units: readonly Unit[], rules: RevertRules): string | undefined {
  const places = new Map<string | null, string[]>();
  for (const unit of units) {
    const version = versionBefore(unit, rules);
    const ids = places.get(version);
    if (ids) ids.push(unit.id);
    else places.set(version, [unit.id]);
  }
  if (places.size < 2) return undefined;
  const words = [...places].map(([version, ids]) => `${version ?? 'none that is known'} in ${formatFirstIds(ids)}`);
  const more = words.length > NAMED_AT_MOST ? [plural(words.length - NAMED_AT_MOST, 'more version')] : [];
  return cutText([...words.slice(0, NAMED_AT_MOST), ...more].join('; '), STATE_LIMITS.ranEach.max);
}

function formatFirstIds(ids: readonly string[]): string {
  const more = ids.length - NAMED_AT_MOST;
  return joinWords(more > 0 ? [...ids.slice(0, NAMED_AT_MOST), `${more} more`] : ids, 'and');
}
