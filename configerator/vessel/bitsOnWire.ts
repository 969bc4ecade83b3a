import type { Bits } from '../domain/vessel/bits';

export const writeBits = (bits: Bits): string => Buffer.from(bits).toString('base64');

/** Undefined if the text is not a list of this many bits. */
export function readBits(text: unknown, pieces: number): Bits | undefined {
  if (typeof text !== 'string') return undefined;
  const bits = Buffer.from(text, 'base64');
  return bits.length === Math.ceil(pieces / 8) ? new Uint8Array(bits) : undefined;
}
