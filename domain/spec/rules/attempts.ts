import type { Rule } from '../rule';
import { errorAt } from '../problem';

/** Retries and deadlines without effect: these actions have their own, or are never retried automatically. */
const HINTS = {
  deploy: 'a deploy retries inside its phases: set updateTimeout there',
  'manual-pick': 'set with.timeout for how long a person may take',
} as const;

const hasHint = (type: string): type is keyof typeof HINTS => Object.hasOwn(HINTS, type);

const attempts: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, { type, timeout, retry }]) => {
    if (!hasHint(type)) return [];
    const unused = [...(timeout === undefined ? [] : ['timeout']), ...(retry.attempts > 1 ? ['retry'] : [])];
    return unused.map((field) =>
      errorAt(['actions', name, field], 'no-effect', `${field} has no effect on a ${type}`, HINTS[type]),
    );
  });

export const attemptRules: readonly Rule[] = [attempts];
