import { noBits, setBit, type Bits } from './bits';

/** How often a source has served a piece of late. */
export interface ServedPieces {
  readonly times: number;
  /** The last time, in milliseconds since 1970. */
  readonly at: number;
}

/** A source serves a piece so often; hosts have it from each other then. */
const COPIES = 2;
/** After so long it serves a piece again to whoever finds it nowhere else: those who had it may be gone. */
const AGAIN_MS = 5000;

/** Whether a source gives a piece now. */
export const isOffered = (served: ServedPieces | undefined, now: number): boolean =>
  served === undefined || served.times < COPIES || now - served.at >= AGAIN_MS;

export function servedOnce(served: ServedPieces | undefined, now: number): ServedPieces {
  const isAgain = served === undefined || now - served.at >= AGAIN_MS;
  return { times: isAgain ? 1 : served.times + 1, at: now };
}

/** What a source says that it has. */
export function offeredBits(served: ReadonlyMap<number, ServedPieces>, pieces: number, now: number): Bits {
  const bits = noBits(pieces);
  for (let piece = 0; piece < pieces; piece += 1) setBit(bits, piece, isOffered(served.get(piece), now));
  return bits;
}
