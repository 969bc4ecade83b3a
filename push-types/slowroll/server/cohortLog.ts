import type { Query } from '../../../sdk';
import { countCohorts } from './cohorts';
import type { SlowrollFleet } from './slowrollFleet';

/**
 * The reports of hosts, by cohort and minute, as a data source: so that health is judged without Prometheus. `slowroll.failures` is the share of the hosts of a cohort
 * whose version failed, and `slowroll.restarts` the starts for each host since the minute before.
 */
export class CohortLog {
  private samples: CohortSample[] = [];
  private readonly starts = new Map<string, number>();

  constructor(private readonly fleet: SlowrollFleet) {}

  /** Notes the counts of now. */
  take(): void {
    const at = this.fleet.options.now();
    const cohorts = [...this.fleet.units.values()].flatMap((place) => countCohorts(this.fleet, place));
    const points = cohorts.map(({ task, decision, hosts, unreachable, unknown, troubled, failed }) => {
      // A host in trouble runs another version.
      const reached = hosts - unreachable - unknown - troubled;
      const starts = decision === undefined ? 0 : this.fleet.countStarts(decision);
      const restarts = starts - (this.starts.get(task) ?? 0);
      this.starts.set(task, starts);
      return { task, reached, failures: failed / Math.max(1, reached), restarts: restarts / Math.max(1, reached) };
    });
    this.samples = [...this.samples.filter((one) => one.at > at - SAMPLES_KEPT_MS), { at, points }];
  }

  query: Query = ({ metric, selector, start, end }) => {
    const read = COHORT_METRICS[metric];
    if (read === undefined)
      return Promise.reject(
        new Error(
          `this push type has no metric ${metric}, only ${Object.keys(COHORT_METRICS).join(', ')}: start it with --prometheus`,
        ),
      );
    const window = this.samples.filter(({ at }) => at >= start && at <= end);
    const series = (selector.tasks ?? []).flatMap((task) => {
      const points = window.flatMap(({ at, points: all }): [number, number][] => {
        const found = all.find((one) => one.task === task);
        return found === undefined || found.reached === 0 ? [] : [[at, read(found)]];
      });
      return points.length === 0 ? [] : [{ labels: { task }, points }];
    });
    return Promise.resolve({ series });
  };
}

interface CohortPoint {
  readonly task: string;
  readonly reached: number;
  readonly failures: number;
  readonly restarts: number;
}

interface CohortSample {
  readonly at: number;
  readonly points: readonly CohortPoint[];
}

const COHORT_METRICS: Readonly<Record<string, (point: CohortPoint) => number>> = {
  'slowroll.failures': ({ failures }) => failures,
  'slowroll.restarts': ({ restarts }) => restarts,
};

const SAMPLES_KEPT_MS = 24 * 60 * 60 * 1000;
