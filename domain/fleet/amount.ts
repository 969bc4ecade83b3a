/** A share of a unit: a number of its tasks, a percentage of its present size, or all of it. */
export type Amount = { readonly count: number } | { readonly percent: number } | { readonly all: true };

/** An amount of tasks of each unit, or of whole units if units have no tasks inside. */
export type PhaseAmount = Amount | { readonly units: Amount };

const COUNT = '[1-9]\\d*';
/** More than 0, at most 100. */
const PERCENT = '0+\\.0*[1-9]\\d*|0*[1-9]\\d?(?:\\.\\d+)?|0*100(?:\\.0+)?';

/** The inputs of `parseAmount`. */
export const AMOUNT_PATTERN = `^\\s*(?:(${COUNT})|(${PERCENT})%)\\s*$`;
const AMOUNT = new RegExp(AMOUNT_PATTERN);

/** Reads `3` or `5%`. Returns undefined for anything else, for 0 and for more than 100%. */
export function parseAmount(text: string | number): Amount | undefined {
  const [, count, percent] = AMOUNT.exec(String(text)) ?? [];
  if (count !== undefined) return { count: Number(count) };
  if (percent === undefined) return undefined;
  return Number(percent) === 100 ? { all: true } : { percent: Number(percent) };
}

/** `3`, `5%`, `100%`, `5% of units`. */
export function formatAmount(amount: PhaseAmount): string {
  if ('units' in amount) return `${formatAmount(amount.units)} of units`;
  if ('all' in amount) return '100%';
  return 'count' in amount ? String(amount.count) : `${amount.percent}%`;
}

/**
 * The number of tasks that an amount stands for, out of `size`: a percentage rounds up, to at least one and never more than there are
 * (docs/design/deploy.md#plan). `tasksOf({ percent: 1 }, 150)` is 2.
 */
export function tasksOf(amount: Amount, size: number): number {
  if (size <= 0) return 0;
  if ('all' in amount) return size;
  const wanted = 'count' in amount ? amount.count : Math.ceil((amount.percent * size) / 100 - 1e-9);
  return Math.min(size, Math.max(1, wanted));
}
