/**
 * Places in the order of all events of a repository: the revision of the store, then the path, then which part of it changed.
 * Revisions have so many digits that places compare as texts do.
 */
export const positionOf = (revision: number, path: string, part: 'override' | 'value'): string =>
  `${String(revision).padStart(DIGITS, '0')}:${path}:${part}`;

/** Of a place; 0 for the beginning. */
export const revisionOf = (position: string | undefined): number =>
  position === undefined ? 0 : Number(position.slice(0, DIGITS)) || 0;

/** As many as a number holds exactly. */
const DIGITS = 16;
