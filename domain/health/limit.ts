import { formatValue, type Bound } from './bound';

/** A limit that compares with nothing. A lower limit is an upper limit of the negated values. */
export const limitBound = (kind: 'above' | 'below', limit: number): Bound => {
  const sign = kind === 'above' ? 1 : -1;
  return {
    kind,
    sign,
    written: limit,
    scale: sign,
    lowest: -Infinity,
    allowed: undefined,
    judge: ({ observed }) => {
      const isBeyond = sign * observed > sign * limit;
      const words = isBeyond ? `${kind} the limit of` : 'within the limit of';
      return {
        verdict: isBeyond ? 'unhealthy' : 'healthy',
        limit,
        text: `is ${formatValue(observed)}, ${words} ${formatValue(limit)}`,
      };
    },
    describe: () => `${kind} ${formatValue(limit)}`,
    rewrite: (other) => `${kind}: ${other}`,
    distance: ({ observed }) => sign * observed,
  };
};
