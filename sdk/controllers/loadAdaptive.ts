import type { Series } from '../protocol/dataSource';
import type { Decide } from './conversation';

/** What a job has to carry. */
export interface LoadLimit {
  /** Tasks of the job, whether or not they run. */
  readonly tasks: number;
  /** What all of them use together, in tasks that are fully busy: 10 tasks at 40 % are 4. See `loadOf`. */
  readonly load: number;
  /** How busy the others may get while some are away: 0 to 1, such as 0.7. */
  readonly limit: number;
}

/**
 * As many at once as keep the rest under the limit when the load of those that are away moves to them (FrontFaaS, Conveyor
 * §4 and §6.3): large batches at night, small ones at the peak, none when there is nothing to spare. What fails takes from
 * the same room; a task that is down already costs nothing.
 */
export function loadAdaptive({ tasks, load, limit }: LoadLimit): Decide {
  return ({ pending, inFlight, unhealthy }) => {
    const away = new Set([...inFlight, ...unhealthy]).size;
    const room = Math.max(0, Math.floor(tasks - load / limit) - away);
    const down = pending.filter(({ task }) => unhealthy.has(task));
    return [...down, ...pending.filter(({ task }) => !unhealthy.has(task)).slice(0, room)];
  };
}

/**
 * The load of a job: the sum of the latest CPU (0 to 1) of each of its tasks, of series that end with the same point. It
 * does not depend on how many tasks shared it, so that a reading from before the last batch stays true.
 */
export function loadOf(series: readonly Pick<Series, 'points'>[]): number {
  const points = series.flatMap(({ points: all }) => all.slice(-1));
  const latest = points.reduce((time, [at]) => Math.max(time, at), -Infinity);
  return points.reduce((sum, [at, value]) => sum + (at === latest ? value : 0), 0);
}
