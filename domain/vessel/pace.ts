import type { Distance } from './choose';

/** How many pieces a host has under way at once. */
export const AT_ONCE = 8;
/** So often a host looks whether there is something to ask, also when nothing has come. */
export const TURN_MS = 100;
/** Who has nothing new is asked again what it has; the source less often while there are others. */
const [HEARD_MS, HEARD_OF_SOURCE_MS] = [500, 5000];
/** How often it looks who is there, while few are and later. */
const [FEW, FEW_MS, MANY_MS] = [8, 1000, 15_000];

/** Whether a host asks again what a peer has, of which it heard then and waits for nothing. Times in milliseconds since 1970. */
export function isHearingDue(peer: { distance: Distance; heardAt: number }, known: number, now: number): boolean {
  return now - peer.heardAt >= (peer.distance === 3 && known > FEW ? HEARD_OF_SOURCE_MS : HEARD_MS);
}

/** Whether a host that knows so many looks again who has the package. */
export const isLookDue = (known: number, lookedAt: number, now: number): boolean =>
  now - lookedAt >= (known < FEW ? FEW_MS : MANY_MS);
