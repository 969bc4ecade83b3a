/** The pieces that a host has: one bit for each, the lowest of each byte first. */
export type Bits = Uint8Array;

export const noBits = (pieces: number): Bits => new Uint8Array(Math.ceil(pieces / 8));

export const hasBit = (bits: Bits, piece: number): boolean => ((bits[piece >> 3] ?? 0) & (1 << (piece & 7))) !== 0;

/** Changes `bits` in place, because a host with many pieces should not copy them. */
export function setBit(bits: Bits, piece: number, isThere: boolean): void {
  const at = piece >> 3;
  const bit = 1 << (piece & 7);
  bits[at] = isThere ? (bits[at] ?? 0) | bit : (bits[at] ?? 0) & ~bit;
}

/** The number of the first `pieces` that are present. */
export function countBits(bits: Bits, pieces: number): number {
  let count = 0;
  for (let piece = 0; piece < pieces; piece += 1) if (hasBit(bits, piece)) count += 1;
  return count;
}
