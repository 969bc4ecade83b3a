import { share, type Share } from '../health/quality';
import { plural, formatDuration } from '../text';
import type { Breakdown, StatsReport } from './report';

/** How the deploys of a category went, as far as the next one may learn from it (Conveyor §6.4). */
export interface Experience {
  readonly category: string;
  /** Since when. */
  readonly since: string;
  /** How long those took that succeeded, ms; null of none. */
  readonly times: { readonly count: number; readonly p50Ms: number; readonly p99Ms: number } | null;
  /** Deploys that people let continue in spite of a check. */
  readonly stoppedGood: Share;
  /** Successful releases that people took back later. */
  readonly missedBad: Share;
  /** Failed deploys that had updated half of their tasks by then. */
  readonly late: { readonly count: number; readonly of: number };
}

export function experienceOf(stats: StatsReport, category: string): Experience {
  const own = <T extends { readonly category: string }>(rows: readonly T[]): T | undefined =>
    rows.find((row) => row.category === category);
  const [times, errors] = [own(stats.deployTimes), own(stats.checkErrors)];
  return {
    ...{ category, since: stats.since },
    times: times === undefined ? null : { count: times.count, p50Ms: times.p50Ms, p99Ms: times.p99Ms },
    stoppedGood: errors?.falsePositives ?? NONE,
    missedBad: errors?.falseNegatives ?? NONE,
    late: lateOf(own(stats.progress)),
  };
}

const NONE = share(0, 0);

/** A fault that is found late has reached most of the fleet. */
function lateOf(progress: Breakdown | undefined): Experience['late'] {
  const tenths = Object.entries(progress?.counts ?? {});
  const late = tenths.filter(([tenth]) => Number.parseInt(tenth, 10) >= HALF_PERCENT);
  return { count: late.reduce((sum, [, count]) => sum + count, 0), of: progress?.whole ?? 0 };
}

const HALF_PERCENT = 50;

/** A sentence for each thing that there is something to say of. */
export function experienceWords({ times, stoppedGood, missedBad, late }: Experience): string[] {
  return [
    ...(times === null
      ? []
      : [
          `${plural(times.count, 'deploy')} succeeded, half of them within ${formatDuration(times.p50Ms)}, 99% within ${formatDuration(times.p99Ms)}`,
        ]),
    ...(stoppedGood.of === 0 ? [] : [stoppedGoodWords(stoppedGood)]),
    ...(missedBad.of === 0 ? [] : [missedBadWords(missedBad)]),
    ...(late.of === 0 ? [] : [lateWords(late)]),
  ];
}

export const stoppedGoodWords = ({ count, of }: Experience['stoppedGood']): string =>
  `people let ${count} of ${plural(of, 'deploy')} continue in spite of a check`;

export const missedBadWords = ({ count, of }: Experience['missedBad']): string =>
  `people took back ${count} of ${plural(of, 'release')} that had succeeded`;

export const lateWords = ({ count, of }: Experience['late']): string =>
  `${count} of ${plural(of, 'failed deploy')} had updated half of their tasks before`;
