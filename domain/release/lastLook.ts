/**
 * What the last look right before an action begins came to. `lapsed`: people have to approve it again, or it has a bug. `late`: it may, but
 * as things were before that look: it waits for its turn again.
 */
export type LastLook = 'go' | 'lapsed' | 'late';

/** Of a look that took no time, and during which nothing came in the way, everything before still counts. */
export function lastLookOf(seen: {
  readonly isLetGo: boolean;
  readonly hasWaited: boolean;
  readonly isHindered: boolean;
}): LastLook {
  if (!seen.isLetGo) return 'lapsed';
  return seen.hasWaited || seen.isHindered ? 'late' : 'go';
}
