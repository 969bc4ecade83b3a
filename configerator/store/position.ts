/**
 * Positions in the order of all events of a repository: the store's revision, the path, and the changed part. Revisions
 * are zero-padded, so that positions compare as texts.
 */
export const formatPosition = (revision: number, path: string, part: 'override' | 'value'): string =>
  `${String(revision).padStart(DIGITS, '0')}:${path}:${part}`;

/** The revision of a position; 0 for the beginning. */
export const parseRevision = (position: string | undefined): number =>
  position === undefined ? 0 : Number(position.slice(0, DIGITS)) || 0;

/** The digits of the largest exact number. */
const DIGITS = 16;
