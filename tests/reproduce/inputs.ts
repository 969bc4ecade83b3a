import type { CheckKind } from '../../domain/archive/checkKind';
import type { Pattern } from '../../domain/deploy/pattern';
import type { PerCategory } from './paper';
import { CHECK_ERRORS } from './paper';

/** All that the population is drawn from and that the paper's text does not give, or gives in another form. Shares in %. */

/** How a version turns out that people commit. `harmless`: a check is unhealthy for a while, for no reason of the version's. */
export type Fate = 'fine' | 'breaks build' | 'breaks tests' | 'bad' | 'harmless' | 'unseen';

/**
 * Failures of builds and tests add up with those of deploys to the failed releases of Table 2, as far as Figure 7 is described. Anomalies
 * without a reason and bad versions that no check sees are those of Table 3. Bad versions are more than the failed deploys of
 * Conveyor §6.4.2, where canaries find some of them before.
 */
export const FATES: PerCategory<Readonly<Record<Exclude<Fate, 'fine'>, number>>> = {
  regular: { 'breaks build': 5.5, 'breaks tests': 6.5, bad: 5.4, ...ofChecks('regular') },
  large: { 'breaks build': 6, 'breaks tests': 12, bad: 8, ...ofChecks('large') },
  ml: { 'breaks build': 0.3, 'breaks tests': 0, bad: 14.3, ...ofChecks('ml') },
  other: { 'breaks build': 1.5, 'breaks tests': 1.5, bad: 1.1, ...ofChecks('other') },
};

/** The effect of a bad version, by the check that sees it. */
export const BAD_BY: Readonly<Record<Exclude<CheckKind, 'crashes'>, number>> = {
  ...{ cpu: 20, memory: 15, rpc: 25, 'app-specific': 40 },
};

/** Shares of bad versions: they show only when four fifths of a job run them. */
export const SHOWS_LATE = 40;

/** Figure 12 names the frequent ones; these shares are ours. */
export const PATTERNS: PerCategory<Readonly<Partial<Record<Pattern, number>>>> = {
  regular: { single: 40, 'super-linear': 30, 'single parallel': 10, 'region-by-region': 10, linear: 5, misc: 5 },
  large: { misc: 50, 'super-linear': 20, 'region-by-region': 20, linear: 10 },
  ml: { 'super-linear': 80, single: 20 },
  other: { single: 50, 'region-by-region': 35, 'super-linear': 15 },
};

/** Actions of a pipeline, from and to; their means are about those of Figure 10. */
export const ACTIONS: PerCategory<readonly [number, number]> = {
  ...{ regular: [2, 5], large: [10, 14], ml: [2, 2], other: [3, 5] },
};

/** Among pipelines that have room for one. */
export const HAS_CANARY: PerCategory<number> = { regular: 30, large: 90, ml: 0, other: 10 };

/** Commits come in bursts, on workdays from eight to eighteen. */
export const COMMITS = {
  /** The average number of hours between two bursts. */
  burstsEveryHours: 20,
  /** Commits of a burst, from and to, and minutes between two of them. */
  perBurst: [1, 7],
  minutesApart: [2, 20],
  /** Minutes. */
  build: [5, 20],
  test: [5, 40],
} as const;

/** People look once an hour whether a deploy needs them, and pick a release on workdays at ten. */
export const PEOPLE = { looksEveryHours: 1, picksAtHour: 10, rollsBackAfterHours: 6 } as const;

function ofChecks(category: keyof typeof CHECK_ERRORS): { readonly harmless: number; readonly unseen: number } {
  const { falsePositives, falseNegatives } = CHECK_ERRORS[category];
  return { harmless: falsePositives, unseen: falseNegatives };
}
