import type { HealthCheck } from '../spec/health';
import type { RankTest } from './mannWhitney';
import type { Verdict } from './verdict';

/** A threshold held against numbers. */
export interface Judgement {
  readonly verdict: Verdict;
  /** The limit in the unit of the observed value; null when there is none. */
  readonly limit: number | null;
  /** What follows the check's name: "is 0.21, above the limit of 0.05". */
  readonly text: string;
  /** Where ranks were compared. */
  readonly test?: RankTest;
}

/** A check with limits on both sides, as one for each; any other as it is. */
export const sidesOf = (check: HealthCheck): HealthCheck[] =>
  Object.entries(check.threshold).map(([side, limit]) => ({
    ...check,
    threshold: { [side]: limit } as HealthCheck['threshold'],
  }));

/** Compares a value with the threshold of a check (strictly). `reference` is set when the check compares; `whom` names it. */
export function judge(check: HealthCheck, observed: number, reference: number | undefined, whom: string): Judgement {
  const { threshold } = check;
  if ('above' in threshold) return bound(observed, threshold.above, 'above');
  if ('below' in threshold) return bound(observed, threshold.below, 'below');
  if (reference === undefined) throw new Error('a comparison needs something to compare with');
  const { direction, allowed } = changeIn(threshold);
  const change: Change = { observed, reference, whom, direction };
  if ('absolute' in allowed) return absolute(change, allowed.absolute);
  return reference === 0 && observed !== 0
    ? fromZero(change, allowed.percent, check.zeroBaseline)
    : relative(change, allowed.percent);
}

/** A threshold that compares: which way, and how far. */
type Comparing = Exclude<HealthCheck['threshold'], { above: number } | { below: number }>;

/** What a comparison allows. */
export const changeIn = (threshold: Comparing) =>
  'increase' in threshold
    ? ({ direction: 'increase', allowed: threshold.increase } as const)
    : ({ direction: 'decrease', allowed: threshold.decrease } as const);

/** Undefined for a limit, which compares with nothing. */
export const comparisonIn = (threshold: HealthCheck['threshold']) =>
  'above' in threshold || 'below' in threshold ? undefined : changeIn(threshold);

/** How ranks are compared; undefined for a check that compares none. */
export const ranksOf = ({ method }: Pick<HealthCheck, 'method'>) =>
  typeof method === 'object' ? method['mann-whitney'] : undefined;

interface Change {
  readonly observed: number;
  readonly reference: number;
  readonly whom: string;
  readonly direction: 'increase' | 'decrease';
}

function bound(observed: number, limit: number, side: 'above' | 'below'): Judgement {
  const beyond = side === 'above' ? observed > limit : observed < limit;
  const words = beyond ? `${side} the limit of` : 'within the limit of';
  return {
    verdict: beyond ? 'unhealthy' : 'healthy',
    limit,
    text: `is ${formatValue(observed)}, ${words} ${formatValue(limit)}`,
  };
}

/** (new − old) / old, with the size of old, so that an increase of a negative value is an increase. */
function relative(change: Change, allowedPercent: number): Judgement {
  const { observed, reference, direction, whom } = change;
  const percent = reference === 0 ? 0 : ((observed - reference) / Math.abs(reference)) * 100;
  const beyond = grown(direction, percent) > allowedPercent;
  const limit = reference + (sign(direction) * Math.abs(reference) * allowedPercent) / 100;
  const size = `${formatValue(Math.abs(percent))}% ${percent < 0 ? 'below' : 'above'}`;
  const text = `is ${formatValue(observed)}, ${percent === 0 ? 'the same as' : size} ${formatValue(reference)} of ${whom}; ${allowance(direction, `${formatValue(allowedPercent)}%`)}`;
  return { verdict: beyond ? 'unhealthy' : 'healthy', limit, text };
}

function absolute(change: Change, allowed: number): Judgement {
  const { observed, reference, direction, whom } = change;
  const difference = observed - reference;
  const size = `${formatValue(Math.abs(difference))} ${difference < 0 ? 'below' : 'above'}`;
  const text = `is ${formatValue(observed)}, ${difference === 0 ? 'the same as' : size} ${formatValue(reference)} of ${whom}; ${allowance(direction, formatValue(allowed))}`;
  return {
    verdict: grown(direction, difference) > allowed ? 'unhealthy' : 'healthy',
    limit: reference + sign(direction) * allowed,
    text,
  };
}

/** A relative change from zero has no size. Only a check that says what it means gets an answer. */
function fromZero(change: Change, allowedPercent: number, meaning: HealthCheck['zeroBaseline']): Judgement {
  if (meaning === 'absolute') return absolute(change, allowedPercent / 100);
  const moved = `is ${formatValue(change.observed)}, up from 0`.replace('up', change.observed > 0 ? 'up' : 'down');
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

const sign = (direction: Change['direction']): 1 | -1 => (direction === 'increase' ? 1 : -1);
const grown = (direction: Change['direction'], by: number): number => sign(direction) * by;
const allowance = (direction: Change['direction'], amount: string): string =>
  `an ${direction} of ${amount} is allowed`.replace('an d', 'a d');

/** Four significant digits, without the noise behind them: `0.2133`, `12`, `1250000`. */
export function formatValue(value: number): string {
  return String(Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4)));
}
