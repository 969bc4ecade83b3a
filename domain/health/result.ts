export const RESULTS = ['found', 'false-negative', 'false-positive', 'passed', 'cut-short', 'unknown'] as const;

/**
 * For a bad version: `found`, `false-negative`, or `cut-short` if another check stopped it before this one had a verdict. For a good one:
 * `false-positive` or `passed`. `unknown`: it is not known whether it was bad, or no evaluation was conclusive, for example because its data
 * is gone. `cut-short` and `unknown` do not count.
 */
export type Result = (typeof RESULTS)[number];

/** Whether a result says anything about the check. */
export const isCounted = (result: Result): boolean => result !== 'unknown' && result !== 'cut-short';
