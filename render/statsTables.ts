import { quantile } from '../domain/health/series';
import { OBJECTIVES, type Breakdown, type BugImpact, type StatsReport } from '../domain/stats/report';
import { formatDuration, plural } from '../domain/text';
import { percent, shareWords } from './words';

export type StatsTableId = Exclude<keyof StatsReport, 'since' | 'until' | 'readUntil' | 'unread'>;

/** One table of the statistics. */
export interface StatsTable {
  readonly id: StatsTableId;
  readonly title: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Gaps in the tables; empty if they are complete. An older server does not report them. */
export const unreadWords = ({ unread }: Partial<Pick<StatsReport, 'unread'>>): string =>
  unread ? `without ${plural(unread, 'end')} of releases and deploys that could not be read` : '';

/** The service level, then the tables of Conveyor §6: categories are rows. */
export const statsTables = (report: StatsReport): readonly StatsTable[] => [
  {
    id: 'serviceLevel',
    title: `Service level: ${percent(OBJECTIVES.worked)} succeed or fail for a good reason, less than ${percent(OBJECTIVES.badFailures)} fail because of Conveyor`,
    headings: ['DEPLOYS', 'WORKED', 'GOOD FAILURES', 'BAD FAILURES', 'MET'],
    rows: report.serviceLevel.map(({ category, deploys, worked, goodFailures, badFailures, isMet }) => [
      ...[category, String(deploys), shareWords(worked), shareWords(goodFailures), shareWords(badFailures)],
      isMet === null ? '-' : isMet ? 'yes' : 'no',
    ]),
  },
  ofShares('badFailures', 'Bad failures by cause', 'DEPLOYS', report.badFailures),
  {
    id: 'dora',
    title: 'DORA',
    headings: ['DEPLOYS A DAY', 'LEAD TIME', 'CHANGE FAILURES', 'TIME TO RESTORE'],
    rows: report.dora.map(({ category, deploysPerDay, leadMs, changeFailures, restoreMs }) => [
      ...[category, deploysPerDay.toFixed(1), timeCell(leadMs), shareWords(changeFailures), timeCell(restoreMs)],
    ]),
  },
  ofShares('schedules', 'Schedules of pipelines', 'PIPELINES', report.schedules),
  ofShares('endStates', 'End states of releases', 'RELEASES', report.endStates),
  bugImpactTable(report.bugImpact),
  ofShares('failedActions', 'Failed releases, by the action that failed first', 'FAILED', report.failedActions),
  {
    id: 'checkErrors',
    title: 'Errors of health checks',
    headings: ['FALSE NEGATIVES', 'OF', 'FALSE POSITIVES', 'OF'],
    rows: report.checkErrors.map(({ category, falseNegatives: fn, falsePositives: fp }) => [
      ...[category, shareWords(fn), String(fn.of), shareWords(fp), String(fp.of)],
    ]),
  },
  ofShares('failedChecks', 'Unhealthy checks by metric', 'CHECKS', report.failedChecks),
  ofShares('progress', 'Where multi-phase deploys failed', 'DEPLOYS', report.progress),
  {
    id: 'spans',
    title: 'Where the time of deploys went',
    headings: ['TIME', ...listHeadings(report.spans)],
    rows: report.spans.map((one) => [one.category, formatDuration(one.whole), ...cells(one)]),
  },
  {
    id: 'deployTimes',
    title: 'Durations of successful deploys',
    headings: ['DEPLOYS', 'P50', 'P99'],
    rows: report.deployTimes.map(({ category, count, p50Ms, p99Ms }) => [
      ...[category, String(count), formatDuration(p50Ms), formatDuration(p99Ms)],
    ]),
  },
  {
    id: 'pipelineSizes',
    title: 'Actions of a pipeline',
    headings: ['PIPELINES', 'MEAN', ...listHeadings(report.pipelineSizes)],
    rows: report.pipelineSizes.map((one) => [one.category, String(one.whole), one.mean.toFixed(1), ...cells(one)]),
  },
  ofShares('actionTypes', 'Pipelines that have an action of a type', 'PIPELINES', report.actionTypes),
  ofShares('deployPatterns', 'Deploy actions by phase pattern', 'DEPLOY ACTIONS', report.deployPatterns),
];

const ofShares = (id: StatsTableId, title: string, whole: string, rows: readonly Breakdown[]): StatsTable => ({
  ...{ id, title },
  headings: [whole, ...listHeadings(rows)],
  rows: rows.map((one) => [one.category, String(one.whole), ...cells(one)]),
});

const bugImpactTable = ({ bugs, cancelled }: BugImpact): StatsTable => {
  const counts = bugs.map(({ count }) => count);
  const at = (percentile: number) => String(Math.round(quantile(counts, percentile)));
  return {
    ...{ id: 'bugImpact', title: 'Releases that a bug cancelled' },
    headings: ['BUGS', 'P50', 'P90', 'MOST', 'OF RELEASES'],
    rows: counts.length === 0 ? [] : [['all', String(bugs.length), at(50), at(90), at(100), shareWords(cancelled)]],
  };
};

/** All rows of a table have the same words. */
const listHeadings = ([first]: readonly Breakdown[]): string[] =>
  Object.keys(first?.counts ?? {}).map((word) => word.toUpperCase());

const cells = ({ counts, whole }: Breakdown): string[] =>
  Object.values(counts).map((count) => (whole === 0 ? '-' : percent(count / whole)));

const timeCell = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms));
