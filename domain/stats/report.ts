import { CHECK_KINDS } from '../archive/checkKind';
import { CADENCES } from '../archive/row';
import { PATTERNS } from '../deploy/pattern';
import { DAY_MS } from '../milliseconds';
import { share, type Share } from '../health/quality';
import { computeStatistics } from '../health/statistics';
import { formatTime } from '../text';
import type { CategoryCount, Tallies } from './tallies';

/** The counts of a whole by kind; they add up to it unless `whole` counts something else. */
export interface Breakdown {
  readonly category: string;
  readonly whole: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** One of the two halves of the SLO: the number of deploys that failed for each kind of reason. */
export interface ServiceLevel {
  readonly category: string;
  readonly deploys: number;
  /** The version was bad, and the deploy was stopped. */
  readonly goodFailures: Share;
  /** Conveyor or one of its dependencies was to blame. */
  readonly badFailures: Share;
  /** Deploys without a fault of Conveyor: those that succeeded or were rightly stopped. */
  readonly worked: Share;
  /** Whether it meets `OBJECTIVES`; null if there were no deploys. */
  readonly isMet: boolean | null;
}

/** The number of releases that reported bugs cancelled. */
export interface BugImpact {
  /** Each bug that cancelled any release, the smallest count first. */
  readonly bugs: Tallies['bugs'];
  /** The share of all releases. */
  readonly cancelled: Share;
}

/** The four DORA measures; times in ms, null without data. */
export interface Dora {
  readonly category: string;
  readonly deploysPerDay: number;
  readonly leadMs: number | null;
  readonly changeFailures: Share;
  readonly restoreMs: number | null;
}

/** The output of `stats -o json`. */
export interface StatsReport {
  readonly since: string;
  readonly until: string;
  /** The time up to which the archive is complete; null before the first read. */
  readonly readUntil: string | null;
  /** The number of ended releases and deploys that could not be read; no table includes them. */
  readonly unread: number;
  /** Table 1. */
  readonly schedules: readonly Breakdown[];
  /** Table 2; a cancelled release counts as `cancelled (superseded)` and so on. */
  readonly endStates: readonly Breakdown[];
  /** Table 3. */
  readonly checkErrors: readonly {
    readonly category: string;
    readonly falseNegatives: Share;
    readonly falsePositives: Share;
  }[];
  /** Table 4, ms. */
  readonly spans: readonly Breakdown[];
  /** Figure 6. */
  readonly bugImpact: BugImpact;
  /** Figure 7. */
  readonly failedActions: readonly Breakdown[];
  /** Figure 8. */
  readonly failedChecks: readonly Breakdown[];
  /** Figure 9. */
  readonly progress: readonly Breakdown[];
  /** Figure 10: pipelines by their number of actions. */
  readonly pipelineSizes: readonly (Breakdown & { readonly mean: number })[];
  /** Figure 11: of `whole` pipelines, the number that have an action of each type. */
  readonly actionTypes: readonly Breakdown[];
  /** Figure 12: deploy actions. */
  readonly deployPatterns: readonly Breakdown[];
  /** For deploys that succeeded, ms. */
  readonly deployTimes: Tallies['times'];
  readonly serviceLevel: readonly ServiceLevel[];
  /** Failures that count against the service level, by cause. */
  readonly badFailures: readonly Breakdown[];
  readonly dora: readonly Dora[];
}

/**
 * The objectives of the service level (the Push article and Conveyor §5.3): the share that works, and the share that may fail through Conveyor's own
 * fault.
 */
export const OBJECTIVES = { worked: 0.999, badFailures: 0.005 } as const;

/** The tables and figures of Conveyor §6, for releases and deploys that ended between two times, ms since the epoch. */
export function statsReport(tallies: Tallies, { sinceMs, untilMs, readUntilMs }: Span): StatsReport {
  return {
    ...{ since: formatTime(sinceMs), until: formatTime(untilMs) },
    readUntil: readUntilMs === null ? null : formatTime(readUntilMs),
    unread: sumCounts(tallies.unread),
    schedules: breakdowns(tallies.cadences, ({ cadence }) => cadence, CADENCES),
    endStates: breakdowns(tallies.releases, ({ state, cause }) => (cause === null ? state : `${state} (${cause})`)),
    checkErrors: checkErrors(tallies),
    spans: byCategory(tallies.spans).map(({ category, updateMs, bakeMs, preMs, postMs }) => ({
      ...{ category, whole: updateMs + bakeMs + preMs + postMs },
      counts: { 'task update': updateMs, bake: bakeMs, preprocessing: preMs, postprocessing: postMs },
    })),
    bugImpact: bugImpact(tallies),
    failedActions: breakdowns(tallies.failures, ({ type }) => type ?? 'none'),
    failedChecks: breakdowns(tallies.checks, ({ type }) => type, CHECK_KINDS),
    progress: breakdowns(tallies.progress, ({ tenth }) => TENTHS[tenth] ?? '', TENTHS),
    pipelineSizes: breakdowns(tallies.sizes, ({ actions }) => String(actions)).map(withMean),
    actionTypes: actionTypes(tallies),
    deployPatterns: breakdowns(tallies.patterns, ({ pattern }) => pattern, PATTERNS),
    deployTimes: byCategory(tallies.times),
    serviceLevel: listCategories(tallies.deploys).map((category) => serviceLevel(category, tallies)),
    badFailures: breakdowns(tallies.blames, ({ blame }) => blame ?? 'unknown'),
    dora: listCategories(tallies.deploys).map((category) =>
      dora(category, tallies, daysCovered(tallies, { sinceMs, untilMs, readUntilMs })),
    ),
  };
}

interface Span {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly readUntilMs: number | null;
}

/**
 * The days of the period that an archive covers: from its first entry until the last read, at least one day, since one deploy is not a rate.
 */
function daysCovered({ firstMs }: Pick<Tallies, 'firstMs'>, { sinceMs, untilMs, readUntilMs }: Span): number {
  const coveredMs = Math.min(untilMs, readUntilMs ?? untilMs) - Math.max(sinceMs, firstMs ?? sinceMs);
  return Math.max(coveredMs, Math.min(DAY_MS, untilMs - sinceMs)) / DAY_MS;
}

const TENTHS = Array.from({ length: 10 }, (_, tenth) => `${tenth * 10}-${(tenth + 1) * 10}%`);

const listCategories = (rows: readonly { readonly category: string }[]): readonly string[] =>
  [...new Set(rows.map(({ category }) => category))].sort();

const byCategory = <T extends { readonly category: string }>(rows: readonly T[]): readonly T[] =>
  listCategories(rows).flatMap((category) => rows.filter((row) => row.category === category));

const sumCounts = (rows: readonly CategoryCount[]): number => rows.reduce((sum, { count }) => sum + count, 0);

/** The counts by word, for each category. Known words always appear, and come first. */
function breakdowns<T extends CategoryCount>(
  rows: readonly T[],
  wordOf: (row: T) => string,
  known: readonly string[] = [],
): readonly Breakdown[] {
  const words = [...new Set([...known, ...rows.map(wordOf).sort()])];
  return listCategories(rows).map((category) => {
    const own = rows.filter((row) => row.category === category);
    const counts = words.map((word) => [word, sumCounts(own.filter((row) => wordOf(row) === word))] as const);
    return { category, whole: sumCounts(own), counts: Object.fromEntries(counts) };
  });
}

function withMean(sizes: Breakdown): Breakdown & { readonly mean: number } {
  const actions = Object.entries(sizes.counts).reduce((sum, [size, count]) => sum + Number(size) * count, 0);
  return { ...sizes, mean: sizes.whole === 0 ? 0 : actions / sizes.whole };
}

function actionTypes({ actionTypes: rows, cadences }: Tallies): readonly Breakdown[] {
  return breakdowns(rows, ({ type }) => type).map((one) => ({
    ...one,
    whole: sumCounts(cadences.filter(({ category }) => category === one.category)),
  }));
}

function bugImpact({ bugs, releases }: Tallies): BugImpact {
  return {
    bugs: [...bugs].sort((a, b) => a.count - b.count || (a.bug < b.bug ? -1 : 1)),
    cancelled: share(sumCounts(releases.filter(({ cause }) => cause === 'bad-package')), sumCounts(releases)),
  };
}

function checkErrors({ histories }: Tallies): StatsReport['checkErrors'] {
  const pasts = new Map<
    string,
    { pipeline: string; labels: { category: string }; history: Tallies['histories'][number]['row'][] }
  >();
  for (const { category, row } of histories) {
    const past = pasts.get(row.pipeline) ?? { pipeline: row.pipeline, labels: { category }, history: [] };
    past.history.push(row);
    pasts.set(row.pipeline, past);
  }
  return computeStatistics([...pasts.values()]).categories.map(({ category, falseNegatives, falsePositives }) => ({
    ...{ category, falseNegatives, falsePositives },
  }));
}

/** A cancelled deploy counts if Conveyor or a dependency caused the cancel. */
function serviceLevel(category: string, { deploys }: Tallies): ServiceLevel {
  const own = deploys.filter(
    ({ category: of, state, classification }) =>
      of === category && (state !== 'cancelled' || classification === 'bad-failure'),
  );
  const failed = (kind: string) => sumCounts(own.filter(({ classification }) => classification === kind));
  const all = sumCounts(own);
  const [badFailures, worked] = [share(failed('bad-failure'), all), share(all - failed('bad-failure'), all)];
  const isMet =
    worked.share === null || badFailures.share === null
      ? null
      : worked.share >= OBJECTIVES.worked && badFailures.share < OBJECTIVES.badFailures;
  return { category, deploys: all, goodFailures: share(failed('good-failure'), all), badFailures, worked, isMet };
}

function dora(category: string, tallies: Tallies, days: number): Dora {
  const of = <T extends { readonly category: string }>(rows: readonly T[]) =>
    rows.filter((row) => row.category === category);
  const ended = of(tallies.deploys).filter(({ state }) => state !== 'cancelled');
  const succeeded = sumCounts(ended.filter(({ state }) => state === 'succeeded'));
  return {
    category,
    deploysPerDay: days <= 0 ? 0 : succeeded / days,
    leadMs: of(tallies.leads)[0]?.p50Ms ?? null,
    changeFailures: share(sumCounts(ended) - succeeded, sumCounts(ended)),
    restoreMs: of(tallies.restores)[0]?.p50Ms ?? null,
  };
}
