import { noBits, setBit, type Bits } from './bits';

/** The number of times that a source has served a piece recently. */
export interface ServedPieces {
  readonly times: number;
  /** The last time, in milliseconds since 1970. */
  readonly at: number;
}

/** The number of times that a source serves a piece; then hosts have it from each other. */
const COPIES = 2;
/** After this time it serves a piece again to hosts that find it nowhere else: those that had it may be gone. */
const AGAIN_MS = 5000;

/** Whether a source gives a piece now. */
export const isOffered = (served: ServedPieces | undefined, now: number): boolean =>
  served === undefined || served.times < COPIES || now - served.at >= AGAIN_MS;

export function recordServedPiece(served: ServedPieces | undefined, now: number): ServedPieces {
  const isAgain = served === undefined || now - served.at >= AGAIN_MS;
  return { times: isAgain ? 1 : served.times + 1, at: now };
}

/** The pieces that a source announces. */
export function computeOfferedBits(served: ReadonlyMap<number, ServedPieces>, pieces: number, now: number): Bits {
  const bits = noBits(pieces);
  for (let piece = 0; piece < pieces; piece += 1) setBit(bits, piece, isOffered(served.get(piece), now));
  return bits;
}
