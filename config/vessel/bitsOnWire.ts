import type { Bits } from '../../domain/vessel/bits';

export const writeBits = (bits: Bits): string => Buffer.from(bits).toString('base64');

/** Undefined for what are no bits of so many pieces. */
export function readBits(text: unknown, pieces: number): Bits | undefined {
  if (typeof text !== 'string') return undefined;
  const bits = Buffer.from(text, 'base64');
  return bits.length === Math.ceil(pieces / 8) ? new Uint8Array(bits) : undefined;
}
