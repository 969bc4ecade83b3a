import type { Cadence } from '../../domain/archive/row';

/** The figures of Conveyor §6 that its text gives; those that it only draws are left out. Shares in %, times in s. */

/** As the label `category` of a pipeline has them. */
export const CATEGORIES = ['regular', 'large', 'ml', 'other'] as const;
export type Category = (typeof CATEGORIES)[number];
export type PerCategory<T> = Readonly<Record<Category, T>>;

export const CATEGORY_TITLES: PerCategory<string> = {
  ...{ regular: 'Regular services', large: 'Large services', ml: 'ML models', other: 'Other pipelines' },
};

/** Table 1. */
export const SCHEDULES: PerCategory<Readonly<Record<Cadence, number>>> = {
  regular: { continuous: 54.6, daily: 24.8, weekly: 16.8, 'biweekly/monthly': 0.4, 'manual-pick': 3.5 },
  large: { continuous: 16, daily: 16.8, weekly: 37.4, 'biweekly/monthly': 1.5, 'manual-pick': 28.2 },
  ml: { continuous: 99.9, daily: 0, weekly: 0, 'biweekly/monthly': 0, 'manual-pick': 0 },
  other: { continuous: 48.5, daily: 26.3, weekly: 19, 'biweekly/monthly': 0.3, 'manual-pick': 5.9 },
};

/** Table 2. */
export const END_STATES: PerCategory<Readonly<Record<'succeeded' | 'failed' | 'cancelled', number>>> = {
  regular: { succeeded: 27.5, failed: 13.8, cancelled: 58.7 },
  large: { succeeded: 15.4, failed: 20.9, cancelled: 63.7 },
  ml: { succeeded: 33.7, failed: 5.2, cancelled: 61.1 },
  other: { succeeded: 38, failed: 4.2, cancelled: 57.8 },
};

/** Table 3. */
export const CHECK_ERRORS: PerCategory<Readonly<Record<'falseNegatives' | 'falsePositives', number>>> = {
  regular: { falseNegatives: 0.92, falsePositives: 11.5 },
  large: { falseNegatives: 3.14, falsePositives: 41.3 },
  ml: { falseNegatives: 0.012, falsePositives: 0.0025 },
  other: { falseNegatives: 0.12, falsePositives: 17.4 },
};

export const SPAN_NAMES = ['task update', 'bake', 'preprocessing', 'postprocessing'] as const;

/** Table 4. */
export const SPANS: PerCategory<Readonly<Record<(typeof SPAN_NAMES)[number], number>>> = {
  regular: { 'task update': 21.2, bake: 31.7, preprocessing: 18.7, postprocessing: 28.4 },
  large: { 'task update': 45.1, bake: 25.1, preprocessing: 2.9, postprocessing: 27 },
  ml: { 'task update': 39.2, bake: 58.1, preprocessing: 1.9, postprocessing: 0.9 },
  other: { 'task update': 31.4, bake: 29.6, preprocessing: 5.4, postprocessing: 33.6 },
};

/** Figure 10, as the text gives it: actions of a pipeline on average. */
export const MEAN_ACTIONS: PerCategory<number> = { regular: 3.5, large: 12.2, ml: 2, other: 4 };

/** For deploy actions. */
export const DEPLOY_FAILURES: PerCategory<number> = { regular: 5.4, large: 6.2, ml: 14.3, other: 1.1 };

/** For deploy actions, s. */
export const DEPLOY_TIMES: PerCategory<{ readonly p50: number; readonly p99: number }> = {
  regular: { p50: 2_300, p99: 86_000 },
  large: { p50: 2_000, p99: 186_000 },
  ml: { p50: 2_900, p99: 9_800 },
  other: { p50: 330, p99: 15_000 },
};
