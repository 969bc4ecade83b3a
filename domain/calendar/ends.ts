/** The notation for the ends of a blackout, separate from their computation, which needs a calendar. */

const TIME_OF_DAY = /^\d\d:\d\d$/;
const DAY_OF_YEAR = /^\d\d-\d\d$/;
export const DATE_ONLY = /^\d{4}-\d\d-\d\d$/;
const WITH_OFFSET = /T.*(Z|[+-]\d\d:\d\d)$/;

export type EndKind = 'weekly' | 'yearly' | 'dated';

/** The recurrence to which an end belongs. */
export const endKind = (end: string): EndKind =>
  TIME_OF_DAY.test(end) ? 'weekly' : DAY_OF_YEAR.test(end) ? 'yearly' : 'dated';

/** An instant needs no zone; a wall time does. */
export const needsZone = (end: string): boolean => !WITH_OFFSET.test(end);

/** `2026-02-30` is not a date, and 29 February is not a date of every year. */
export function isRealDate(end: string): boolean {
  const kind = endKind(end);
  if (kind === 'weekly') return true;
  const date = kind === 'yearly' ? `${COMMON_YEAR}-${end}` : end;
  const [year = 0, month = 0, day = 0] = date.slice(0, DATE_LENGTH).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

const COMMON_YEAR = 2023;
const DATE_LENGTH = '2026-12-24'.length;
