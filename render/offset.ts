import { getDateFormat } from './dateFormat';
import type { View } from './paint';

/** The amounts by which clocks are set back anywhere, in ms. */
const SHIFTS = [1_800_000, 3_600_000, 7_200_000];

/**
 * ` -07:00` for a time in the hour that clocks repeat in autumn; else nothing. It prevents misreading 01:30 followed by
 * 01:20.
 */
export function offsetIfTwice(atMs: number, { timeZone }: Pick<View, 'timeZone'>): string {
  const zone = timeZone ? { timeZone } : {};
  const shown = getDateFormat({ dateStyle: 'short', timeStyle: 'medium', ...zone });
  const here = shown.format(atMs);
  if (!SHIFTS.some((shift) => [atMs - shift, atMs + shift].some((other) => shown.format(other) === here))) return '';
  const parts = getDateFormat({ timeZoneName: 'longOffset', ...zone }).formatToParts(atMs);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') ?? '';
  return ` ${offset === '' ? '+00:00' : offset}`;
}
