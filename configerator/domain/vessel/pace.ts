import type { Distance } from './choose';

/** The number of pieces that a host requests at once. */
export const AT_ONCE = 8;
/** The interval at which a host looks for pieces to request, even if nothing has arrived. */
export const TURN_MS = 100;
/**
 * The interval at which a peer without news is asked again for its pieces; the source less often while there are other
 * peers.
 */
const [HEARD_MS, HEARD_OF_SOURCE_MS] = [500, 5000];
/** The interval at which it looks for peers, while it knows few and later. */
const [FEW, FEW_MS, MANY_MS] = [8, 1000, 15_000];

/** Whether a host asks a peer again for its pieces; `heardAt` is the time of its last answer, in milliseconds since 1970. */
export function isHearingDue(peer: { distance: Distance; heardAt: number }, known: number, now: number): boolean {
  return now - peer.heardAt >= (peer.distance === 3 && known > FEW ? HEARD_OF_SOURCE_MS : HEARD_MS);
}

/** Whether a host that knows this many peers looks again for hosts with the package. */
export const isLookDue = (known: number, lookedAt: number, now: number): boolean =>
  now - lookedAt >= (known < FEW ? FEW_MS : MANY_MS);
