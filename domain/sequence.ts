import type { Artifact } from './artifact';

/** At most as many digits as a 64-bit number has. */
export const SEQUENCE = /^\d{1,19}$/;

/** The number in an artifact's metadata that orders its versions; undefined if missing or unreadable. */
export const parseSequence = ({ metadata: { sequence = '' } }: Pick<Artifact, 'metadata'>): bigint | undefined =>
  SEQUENCE.test(sequence) ? BigInt(sequence) : undefined;
