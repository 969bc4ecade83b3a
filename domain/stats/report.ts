import { CHECK_KINDS } from '../archive/checkKind';
import { CADENCES } from '../archive/row';
import { DAY_MS } from '../milliseconds';
import { share, type Share } from '../health/quality';
import { statisticsOf } from '../health/statistics';
import { formatTime } from '../text';
import type { Counted, Tallies } from './tallies';

/** Shares of a whole by what they are of; they add up to 1 unless `whole` counts something else. */
export interface Breakdown {
  readonly category: string;
  readonly whole: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** One of the SLO's two halves: of the deploys, so many failed for a reason. */
export interface ServiceLevel {
  readonly category: string;
  readonly deploys: number;
  /** The version was bad, and stopped. */
  readonly goodFailures: Share;
  /** Conveyor or what it depends on was to blame. */
  readonly badFailures: Share;
  /** Of deploys for which Conveyor was not to blame: those that succeeded or were rightly stopped. */
  readonly worked: Share;
}

/** The four measures of DORA; times in ms, null of nothing. */
export interface Dora {
  readonly category: string;
  readonly deploysPerDay: number;
  readonly leadMs: number | null;
  readonly changeFailures: Share;
  readonly restoreMs: number | null;
}

/** `stats -o json`. */
export interface StatsReport {
  readonly since: string;
  readonly until: string;
  /** Until when everything that ended is in the archive; null while nothing was read yet. */
  readonly readUntil: string | null;
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
  /** Figure 7. */
  readonly failedActions: readonly Breakdown[];
  /** Figure 8. */
  readonly failedChecks: readonly Breakdown[];
  /** Figure 9. */
  readonly progress: readonly Breakdown[];
  /** Figure 10: pipelines by their number of actions. */
  readonly pipelineSizes: readonly (Breakdown & { readonly mean: number })[];
  /** Figure 11: `whole` pipelines, of which so many have an action of the type. */
  readonly actionTypes: readonly Breakdown[];
  /** Of deploys that succeeded, ms. */
  readonly deployTimes: Tallies['times'];
  readonly serviceLevel: readonly ServiceLevel[];
  readonly dora: readonly Dora[];
}

/** What the service level promises (Conveyor §4): the share that works, and the share that may fail by Conveyor's own fault. */
export const OBJECTIVES = { worked: 0.999, badFailures: 0.005 } as const;

/** The tables and figures of Conveyor §6, of what ended between two times, ms since the epoch. */
export function statsReport(
  tallies: Tallies,
  { sinceMs, untilMs, readUntilMs }: { sinceMs: number; untilMs: number; readUntilMs: number | null },
): StatsReport {
  return {
    ...{ since: formatTime(sinceMs), until: formatTime(untilMs) },
    readUntil: readUntilMs === null ? null : formatTime(readUntilMs),
    schedules: breakdowns(tallies.cadences, ({ cadence }) => cadence, CADENCES),
    endStates: breakdowns(tallies.releases, ({ state, cause }) => (cause === null ? state : `${state} (${cause})`)),
    checkErrors: checkErrors(tallies),
    spans: tallies.spans.map(({ category, updateMs, bakeMs, preMs, postMs }) => ({
      ...{ category, whole: updateMs + bakeMs + preMs + postMs },
      counts: { 'task update': updateMs, bake: bakeMs, preprocessing: preMs, postprocessing: postMs },
    })),
    failedActions: breakdowns(tallies.failures, ({ type }) => type ?? 'none'),
    failedChecks: breakdowns(tallies.checks, ({ type }) => type, CHECK_KINDS),
    progress: breakdowns(tallies.progress, ({ tenth }) => TENTHS[tenth] ?? '', TENTHS),
    pipelineSizes: breakdowns(tallies.sizes, ({ actions }) => String(actions)).map(withMean),
    actionTypes: actionTypes(tallies),
    deployTimes: tallies.times,
    serviceLevel: categoriesOf(tallies.deploys).map((category) => serviceLevel(category, tallies)),
    dora: categoriesOf(tallies.deploys).map((category) => dora(category, tallies, (untilMs - sinceMs) / DAY_MS)),
  };
}

const TENTHS = Array.from({ length: 10 }, (_, tenth) => `${tenth * 10}-${(tenth + 1) * 10}%`);

const categoriesOf = (rows: readonly { readonly category: string }[]): readonly string[] =>
  [...new Set(rows.map(({ category }) => category))].sort();

const sumOf = (rows: readonly Counted[]): number => rows.reduce((sum, { count }) => sum + count, 0);

/** Of each category the counts by a word; the words that are known always come, and first. */
function breakdowns<T extends Counted>(
  rows: readonly T[],
  wordOf: (row: T) => string,
  known: readonly string[] = [],
): readonly Breakdown[] {
  const words = [...new Set([...known, ...rows.map(wordOf).sort()])];
  return categoriesOf(rows).map((category) => {
    const own = rows.filter((row) => row.category === category);
    const counts = words.map((word) => [word, sumOf(own.filter((row) => wordOf(row) === word))] as const);
    return { category, whole: sumOf(own), counts: Object.fromEntries(counts) };
  });
}

function withMean(sizes: Breakdown): Breakdown & { readonly mean: number } {
  const actions = Object.entries(sizes.counts).reduce((sum, [size, count]) => sum + Number(size) * count, 0);
  return { ...sizes, mean: sizes.whole === 0 ? 0 : actions / sizes.whole };
}

function actionTypes({ actionTypes: rows, cadences }: Tallies): readonly Breakdown[] {
  return breakdowns(rows, ({ type }) => type).map((one) => ({
    ...one,
    whole: sumOf(cadences.filter(({ category }) => category === one.category)),
  }));
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
  return statisticsOf([...pasts.values()]).categories.map(({ category, falseNegatives, falsePositives }) => ({
    ...{ category, falseNegatives, falsePositives },
  }));
}

function serviceLevel(category: string, { deploys }: Tallies): ServiceLevel {
  const own = deploys.filter((row) => row.category === category && row.state !== 'cancelled');
  const [good, bad] = (['good-failure', 'bad-failure'] as const).map((kind) =>
    sumOf(own.filter(({ classification }) => classification === kind)),
  );
  const all = sumOf(own);
  return {
    ...{ category, deploys: all, goodFailures: share(good ?? 0, all), badFailures: share(bad ?? 0, all) },
    worked: share(all - (bad ?? 0), all),
  };
}

function dora(category: string, tallies: Tallies, days: number): Dora {
  const of = <T extends { readonly category: string }>(rows: readonly T[]) =>
    rows.filter((row) => row.category === category);
  const ended = of(tallies.deploys).filter(({ state }) => state !== 'cancelled');
  const succeeded = sumOf(ended.filter(({ state }) => state === 'succeeded'));
  return {
    category,
    deploysPerDay: days <= 0 ? 0 : succeeded / days,
    leadMs: of(tallies.leads)[0]?.p50Ms ?? null,
    changeFailures: share(sumOf(ended) - succeeded, sumOf(ended)),
    restoreMs: of(tallies.restores)[0]?.p50Ms ?? null,
  };
}
