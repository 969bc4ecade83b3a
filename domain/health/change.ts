import { formatValue, type ChangeAmount, type Bound, type Judgement, type MeasurementPair } from './bound';

type Direction = 'increase' | 'decrease';

/** The allowed distance of the updated tasks from the value that they are compared with. */
export const changeBound = (kind: Direction, allowed: ChangeAmount): Bound => {
  const size = 'percent' in allowed ? `${formatValue(allowed.percent)}%` : formatValue(allowed.absolute);
  return {
    kind,
    sign: directionSign(kind),
    written: 'percent' in allowed ? allowed.percent : allowed.absolute,
    scale: 1,
    lowest: 0,
    allowed,
    judge: (measured, whom) => judgeThreshold(kind, allowed, measured, whom),
    describe: (whom) => `more than ${size} ${kind === 'increase' ? 'above' : 'below'} ${whom}`,
    rewrite: (other) => `${kind}: ${other}${'percent' in allowed ? '%' : ''}`,
    distance: (measured) => distance(kind, allowed, measured),
  };
};

function judgeThreshold(
  direction: Direction,
  allowed: ChangeAmount,
  measured: MeasurementPair,
  whom: string,
): Judgement {
  const { observed, reference, zeroBaseline } = measured;
  if (reference === undefined) throw new Error('a comparison needs something to compare with');
  const change: ObservedChange = { observed, reference, whom, direction };
  if ('absolute' in allowed) return absolute(change, allowed.absolute);
  return reference === 0 && observed !== 0
    ? fromZero(change, allowed.percent, zeroBaseline)
    : relative(change, allowed.percent);
}

interface ObservedChange {
  readonly observed: number;
  readonly reference: number;
  readonly whom: string;
  readonly direction: Direction;
}

/** (new − old) / |old|, so that an increase of a negative value is an increase. */
function relative(change: ObservedChange, allowedPercent: number): Judgement {
  const { observed, reference, direction, whom } = change;
  const percent = reference === 0 ? 0 : ((observed - reference) / Math.abs(reference)) * 100;
  const beyond = grown(direction, percent) > allowedPercent;
  const limit = reference + (directionSign(direction) * Math.abs(reference) * allowedPercent) / 100;
  const size = `${formatValue(Math.abs(percent))}% ${percent < 0 ? 'below' : 'above'}`;
  const text = `is ${formatValue(observed)}, ${percent === 0 ? 'the same as' : size} ${formatValue(reference)} of ${whom}; ${allowance(direction, `${formatValue(allowedPercent)}%`)}`;
  return { verdict: beyond ? 'unhealthy' : 'healthy', limit, text };
}

function absolute(change: ObservedChange, allowed: number): Judgement {
  const { observed, reference, direction, whom } = change;
  const difference = observed - reference;
  const size = `${formatValue(Math.abs(difference))} ${difference < 0 ? 'below' : 'above'}`;
  const text = `is ${formatValue(observed)}, ${difference === 0 ? 'the same as' : size} ${formatValue(reference)} of ${whom}; ${allowance(direction, formatValue(allowed))}`;
  return {
    verdict: grown(direction, difference) > allowed ? 'unhealthy' : 'healthy',
    limit: reference + directionSign(direction) * allowed,
    text,
  };
}

/** A relative change from zero has no size, so there is a verdict only if the check defines its meaning. */
function fromZero(change: ObservedChange, allowedPercent: number, meaning: MeasurementPair['zeroBaseline']): Judgement {
  if (meaning === 'absolute') return absolute(change, allowedPercent / 100);
  const moved = `is ${formatValue(change.observed)}, ${change.observed > 0 ? 'up' : 'down'} from 0`;
  const text = `${moved} of ${change.whom}`;
  if (meaning === undefined)
    return {
      verdict: 'inconclusive',
      limit: null,
      text: `${text}; a change from zero has no percentage (see zeroBaseline)`,
    };
  const harmful = grown(change.direction, change.observed) > 0;
  return {
    verdict: meaning === 'unhealthy' && harmful ? 'unhealthy' : 'healthy',
    limit: 0,
    text: `${text}; zeroBaseline says ${meaning}`,
  };
}

/** A change from zero has no distance in percent, unless the check counts it in absolute units. */
function distance(direction: Direction, allowed: ChangeAmount, measured: MeasurementPair): number | undefined {
  const { observed, reference, zeroBaseline } = measured;
  if (reference === undefined) return undefined;
  const change = grown(direction, observed - reference);
  if ('absolute' in allowed) return change;
  if (reference === 0) return zeroBaseline === 'absolute' ? change * 100 : undefined;
  return (change / Math.abs(reference)) * 100;
}

const directionSign = (direction: Direction): 1 | -1 => (direction === 'increase' ? 1 : -1);
const grown = (direction: Direction, by: number): number => directionSign(direction) * by;
const allowance = (direction: Direction, amount: string): string =>
  `${direction === 'increase' ? 'an' : 'a'} ${direction} of ${amount} is allowed`;
