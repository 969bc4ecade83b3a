export const RESULTS = ['found', 'false-negative', 'false-positive', 'passed', 'cut-short', 'unknown'] as const;

/**
 * `found`, `false-negative`: of a bad version; `false-positive`, `passed`: of a good one; `cut-short`: of a bad one that another
 * check stopped before this one had said anything; `unknown`: nobody knows what it was, or no evaluation was conclusive, as where its
 * data is not kept any more. The last two count for nothing.
 */
export type Result = (typeof RESULTS)[number];

/** Whether a result says anything of the check. */
export const isCounted = (result: Result): boolean => result !== 'unknown' && result !== 'cut-short';
