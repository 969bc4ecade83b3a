/**
 * The wait before another try, in ms. @param tries the tries so far, at least 1: the wait doubles after each, from `firstMs` to at
 * most `mostMs`
 */
export const backOff = (firstMs: number, tries: number, mostMs = Infinity): number =>
  Math.min(mostMs, firstMs * 2 ** (tries - 1));
