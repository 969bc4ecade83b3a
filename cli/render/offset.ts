import type { View } from './paint';

/** By how much clocks are put back anywhere, ms. */
const SHIFTS = [1_800_000, 3_600_000, 7_200_000];

/**
 * ` -07:00` for a time that clocks show twice, in the hour that is repeated in autumn; else nothing. With it, 01:30 and then 01:20
 * are not misread.
 */
export function offsetIfTwice(atMs: number, { timeZone }: Pick<View, 'timeZone'>): string {
  const zone = timeZone ? { timeZone } : {};
  const shown = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'medium', ...zone });
  const here = shown.format(atMs);
  if (!SHIFTS.some((shift) => [atMs - shift, atMs + shift].some((other) => shown.format(other) === here))) return '';
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'longOffset', ...zone }).formatToParts(atMs);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') ?? '';
  return ` ${offset === '' ? '+00:00' : offset}`;
}
