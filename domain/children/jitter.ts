import { hash } from '../hash';

/**
 * The random delay of a child, in ms: at least 0, less than the jitter. It depends only on names, so a replay, a retry
 * and a second look agree, and each release of the parent has a different order.
 */
export const computeJitter = (parent: string, child: string, jitterMs: number): number =>
  Math.floor((hash(`${parent} ${child}`) / 2 ** 32) * jitterMs);
