import type { Series } from '../protocol/dataSource';
import type { Decide } from './conversation';

/** The load of a job, and its limit. */
export interface LoadLimit {
  /** Tasks of the job, whether or not they run. */
  readonly tasks: number;
  /** The total use of all tasks, in fully busy tasks: 10 tasks at 40% are 4. See `loadOf`. */
  readonly load: number;
  /** The utilisation that the others may reach while some are away: 0 to 1, such as 0.7. */
  readonly limit: number;
}

/**
 * Approves as many at once as keep the rest under the limit when the load of the absent tasks moves to them (FrontFaaS,
 * Conveyor §4 and §6.3): large batches at night, small ones at the peak, none without spare capacity. Failed tasks use
 * up the same capacity; an operation on a task that is already down costs nothing.
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
 * The load of a job: the sum of the latest CPU (0 to 1) of each of its tasks, of series that end with the same point.
 * It does not depend on the number of tasks that shared it, so a reading from before the last batch stays true.
 */
export function loadOf(series: readonly Pick<Series, 'points'>[]): number {
  const points = series.flatMap(({ points: all }) => all.slice(-1));
  const latest = points.reduce((time, [at]) => Math.max(time, at), -Infinity);
  return points.reduce((sum, [at, value]) => sum + (at === latest ? value : 0), 0);
}
