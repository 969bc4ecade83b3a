import { share, type Share } from '../health/quality';
import { plural, formatDuration } from '../text';
import type { Breakdown, StatsReport } from './report';

/** The results of past deploys in a category that the next deploy can learn from (Conveyor §6.4). */
export interface Experience {
  readonly category: string;
  /** The beginning of the period. */
  readonly since: string;
  /** The durations of successful deploys, in ms; null if there were none. */
  readonly times: { readonly count: number; readonly p50Ms: number; readonly p99Ms: number } | null;
  /** Deploys that people let continue despite a check. */
  readonly stoppedGood: Share;
  /** Successful releases that people undid later. */
  readonly missedBad: Share;
  /** Failed deploys that had updated at least half of their tasks. */
  readonly late: { readonly count: number; readonly of: number };
}

export function summarizeExperience(stats: StatsReport, category: string): Experience {
  const own = <T extends { readonly category: string }>(rows: readonly T[]): T | undefined =>
    rows.find((row) => row.category === category);
  const [times, errors] = [own(stats.deployTimes), own(stats.checkErrors)];
  return {
    ...{ category, since: stats.since },
    times: times === undefined ? null : { count: times.count, p50Ms: times.p50Ms, p99Ms: times.p99Ms },
    stoppedGood: errors?.falsePositives ?? NONE,
    missedBad: errors?.falseNegatives ?? NONE,
    late: countLateFaults(own(stats.progress)),
  };
}

const NONE = share(0, 0);

/** A fault that is found late has reached most of the fleet. */
function countLateFaults(progress: Breakdown | undefined): Experience['late'] {
  const tenths = Object.entries(progress?.counts ?? {});
  const late = tenths.filter(([tenth]) => Number.parseInt(tenth, 10) >= HALF_PERCENT);
  return { count: late.reduce((sum, [, count]) => sum + count, 0), of: progress?.whole ?? 0 };
}

const HALF_PERCENT = 50;

/** One sentence for each fact with data. */
export function experienceWords({ times, stoppedGood, missedBad, late }: Experience): string[] {
  return [
    ...(times === null
      ? []
      : [
          `${plural(times.count, 'deploy')} succeeded, half of them within ${formatDuration(times.p50Ms)}, 99% within ${formatDuration(times.p99Ms)}`,
        ]),
    ...(stoppedGood.of === 0 ? [] : [describeStoppedGood(stoppedGood)]),
    ...(missedBad.of === 0 ? [] : [describeMissedBad(missedBad)]),
    ...(late.of === 0 ? [] : [lateWords(late)]),
  ];
}

export const describeStoppedGood = ({ count, of }: Experience['stoppedGood']): string =>
  `people let ${count} of ${plural(of, 'deploy')} continue in spite of a check`;

export const describeMissedBad = ({ count, of }: Experience['missedBad']): string =>
  `people took back ${count} of ${plural(of, 'release')} that had succeeded`;

export const lateWords = ({ count, of }: Experience['late']): string =>
  `${count} of ${plural(of, 'failed deploy')} had updated half of their tasks before`;
