import { DAY_MS } from '../milliseconds';
import type { Cadence } from '../archive/row';
import type { Pattern } from '../deploy/pattern';
import type { HistoryRow } from '../views';

/** How far back statistics go where nobody says. */
export const STATS_MS = 21 * DAY_MS;

/** What pipelines are put together by: their label `category`, or all of them. */
export const GROUPINGS = ['category', 'all'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What categories are counted as that have the fewest pipelines, where there are more than `ARCHIVE_LIMITS.categories`. */
export const OTHER_CATEGORIES = 'others';

/** Of one group. */
export interface Of {
  readonly category: string;
}

export interface Counted extends Of {
  readonly count: number;
}

/** What an archive counts of the rows that ended in a time; the tables are made of it. */
export interface Tallies {
  /** When the first of all that the archive has ended, ms since the epoch; null of nothing. */
  readonly firstMs: number | null;
  /** Releases and deploys that ended and cannot be read. */
  readonly unread: readonly Counted[];
  /** Pipelines that had a release, by when they release. */
  readonly cadences: readonly (Counted & { readonly cadence: Cadence })[];
  /** Pipelines by their number of actions, as of their last release. */
  readonly sizes: readonly (Counted & { readonly actions: number })[];
  /** Pipelines that have an action of a type. */
  readonly actionTypes: readonly (Counted & { readonly type: string })[];
  readonly releases: readonly (Counted & { readonly state: string; readonly cause: string | null })[];
  /** Failed releases by the type of the action that failed first; null: none did. */
  readonly failures: readonly (Counted & { readonly type: string | null })[];
  /** Checks that were unhealthy at the end of a deploy, by what they look at. */
  readonly checks: readonly (Counted & { readonly type: string })[];
  /** Failed deploys of more than one phase: `tenth` 0 is less than a tenth, 9 nine tenths and more. */
  readonly progress: readonly (Counted & { readonly tenth: number })[];
  readonly deploys: readonly (Counted & { readonly state: string; readonly classification: string | null })[];
  /** Bad failures by what they failed by; null: an older deploy, which does not say. */
  readonly blames: readonly (Counted & { readonly blame: string | null })[];
  /** Deploy actions by how their phases grow, as of the last deploy of each. */
  readonly patterns: readonly (Counted & { readonly pattern: Pattern })[];
  /** How many releases each bug cancelled, of those that cancelled any. */
  readonly bugs: readonly { readonly bug: string; readonly count: number }[];
  /** Sums over deploys, ms. */
  readonly spans: readonly (Of & Record<'updateMs' | 'bakeMs' | 'preMs' | 'postMs', number>)[];
  /** How long deploys took that succeeded. */
  readonly times: readonly (Counted & { readonly p50Ms: number; readonly p99Ms: number })[];
  /** From the start of a release until its last deploy had succeeded. */
  readonly leads: readonly (Counted & { readonly p50Ms: number })[];
  /** How long a revert or a rollback took. */
  readonly restores: readonly (Counted & { readonly p50Ms: number })[];
  /** Releases that deployed, or took back, for how good their checks were. */
  readonly histories: readonly (Of & { readonly row: HistoryRow })[];
}
