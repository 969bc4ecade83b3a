import { DAY_MS } from '../milliseconds';
import type { Cadence } from '../archive/row';
import type { Pattern } from '../deploy/pattern';
import type { HistoryRow } from '../views';

/** The default period of statistics. */
export const STATS_MS = 21 * DAY_MS;

/** The ways to group pipelines: by their label `category`, or all together. */
export const GROUPINGS = ['category', 'all'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The name under which the smallest categories are counted together, if there are more than `ARCHIVE_LIMITS.categories`. */
export const OTHER_CATEGORIES = 'others';

/** The fields that identify a group. */
export interface Of {
  readonly category: string;
}

export interface CategoryCount extends Of {
  readonly count: number;
}

/** The counts of an archive for rows that ended in a period; the tables are made from them. */
export interface Tallies {
  /** The time of the first end in the archive, ms since the epoch; null if it is empty. */
  readonly firstMs: number | null;
  /** Releases and deploys that ended and cannot be read. */
  readonly unread: readonly CategoryCount[];
  /** Pipelines that had a release, by the cadence of their releases. */
  readonly cadences: readonly (CategoryCount & { readonly cadence: Cadence })[];
  /** Pipelines by the number of actions in their last release. */
  readonly sizes: readonly (CategoryCount & { readonly actions: number })[];
  /** Pipelines that have an action of a type. */
  readonly actionTypes: readonly (CategoryCount & { readonly type: string })[];
  readonly releases: readonly (CategoryCount & { readonly state: string; readonly cause: string | null })[];
  /** Failed releases by the type of the action that failed first; null if none failed. */
  readonly failures: readonly (CategoryCount & { readonly type: string | null })[];
  /** Checks that were unhealthy at the end of a deploy, by the kind of their metric. */
  readonly checks: readonly (CategoryCount & { readonly type: string })[];
  /** Failed deploys with more than one phase: `tenth` 0 is less than a tenth, 9 is nine tenths and more. */
  readonly progress: readonly (CategoryCount & { readonly tenth: number })[];
  readonly deploys: readonly (CategoryCount & { readonly state: string; readonly classification: string | null })[];
  /** Bad failures by cause; null for older deploys, which do not record it. */
  readonly blames: readonly (CategoryCount & { readonly blame: string | null })[];
  /** Deploy actions by the growth of their phases, as of the last deploy of each. */
  readonly patterns: readonly (CategoryCount & { readonly pattern: Pattern })[];
  /** For each bug that cancelled any release: the number of releases. */
  readonly bugs: readonly { readonly bug: string; readonly count: number }[];
  /** Sums over deploys, ms. */
  readonly spans: readonly (Of & Record<'updateMs' | 'bakeMs' | 'preMs' | 'postMs', number>)[];
  /** The durations of successful deploys. */
  readonly times: readonly (CategoryCount & { readonly p50Ms: number; readonly p99Ms: number })[];
  /** The time from the start of a release until its last deploy succeeded. */
  readonly leads: readonly (CategoryCount & { readonly p50Ms: number })[];
  /** The duration of a revert or a rollback. */
  readonly restores: readonly (CategoryCount & { readonly p50Ms: number })[];
  /** Releases that deployed, or reverted, to judge the quality of their checks. */
  readonly histories: readonly (Of & { readonly row: HistoryRow })[];
}
