import { hash } from '../hash';

/**
 * How long after the others may begin a child waits, in ms: at least 0, less than the jitter. It follows from the names
 * alone, so that a replay, a retry and a second look all agree, and another release of the parent gives another order.
 */
export const jitterOf = (parent: string, child: string, jitterMs: number): number =>
  Math.floor((hash(`${parent} ${child}`) / 2 ** 32) * jitterMs);
