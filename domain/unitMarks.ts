import { FLEET_LIMITS } from './fleet/limits';
import { hash } from './hash';

/**
 * A compact set of many units: 40 bits of each id in 8 characters, sorted and joined. Ten thousand units, the maximum
 * of a deploy, take 80 kB. The chance of a collision with one of ten thousand others is below one in ten thousand.
 */
const WIDTH = 8;

export const markUnits = (ids: readonly string[]): string => joinMarks(ids.map(computeUnitMark));

export const uniteMarks = (one: string, other: string): string => joinMarks([...splitMarks(one), ...splitMarks(other)]);

export const joinMarks = (marks: readonly string[]): string => [...new Set(marks)].sort().join('');

/** Two hashes with different seeds: ids that share one need not share the other. */
export const computeUnitMark = (id: string): string =>
  (hash(id) * 256 + (hash(`${id.length}:${id}`) & 255)).toString(32).padStart(WIDTH, '0');

export const splitMarks = (marks: string): string[] =>
  Array.from({ length: marks.length / WIDTH }, (_, nth) => marks.slice(nth * WIDTH, (nth + 1) * WIDTH));

/** A binary search, because a fleet asks for each of its units. */
export function hasMark(marks: string, id: string): boolean {
  const wanted = computeUnitMark(id);
  let [from, to] = [0, marks.length / WIDTH];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const mark = marks.slice(middle * WIDTH, (middle + 1) * WIDTH);
    if (mark === wanted) return true;
    if (mark < wanted) from = middle + 1;
    else to = middle;
  }
  return false;
}

export const areMarks = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length % WIDTH === 0 &&
  value.length <= WIDTH * FLEET_LIMITS.units &&
  /^[0-9a-v]*$/.test(value);
