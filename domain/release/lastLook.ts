/**
 * The result of the last look before an action begins. `lapsed`: people have to approve it again, or it has a bug. `late`: it may begin according
 * to that look, but the look took time or something came in the way, so it waits for its turn again.
 */
export type LastLook = 'go' | 'lapsed' | 'late';

/** If a look took no time and nothing came in the way, everything before it still counts. */
export function judgeLastLook(seen: {
  readonly isLetGo: boolean;
  readonly hasWaited: boolean;
  readonly isHindered: boolean;
}): LastLook {
  if (!seen.isLetGo) return 'lapsed';
  return seen.hasWaited || seen.isHindered ? 'late' : 'go';
}
