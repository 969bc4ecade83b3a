import type { Query } from '../../sdk';
import type { Observation } from './watcher';

/**
 * The words of services about clusters, as metrics for health checks without any other program: `gitops.failed` is 1 while a cluster is degraded or could not be synced, and
 * `gitops.live` is 1 while it is live. Silence is no point.
 */
export class StateLog {
  private readonly clusters = new Map<string, SeenState[]>();

  note(task: string, { state }: Observation, at: number): void {
    const points = this.clusters.get(task) ?? [];
    if (state !== 'silent') points.push({ at, failed: state === 'failed' ? 1 : 0, live: state === 'live' ? 1 : 0 });
    const first = points.findIndex((one) => one.at > at - STATES_KEPT_MS);
    this.clusters.set(task, points.slice(Math.max(first, points.length - MOST_STATES, 0)));
  }

  query: Query = ({ metric, selector, start, end }) => {
    const read = STATE_READERS[metric];
    if (read === undefined)
      return Promise.reject(
        new Error(
          `this push type has no metric ${metric}, only ${Object.keys(STATE_READERS).join(', ')}: start it with --prometheus`,
        ),
      );
    const series = (selector.tasks ?? []).flatMap((task) => {
      const points = (this.clusters.get(task) ?? [])
        .filter(({ at }) => at >= start && at <= end)
        .map((one): [number, number] => [one.at, read(one)]);
      return points.length === 0 ? [] : [{ labels: { task }, points }];
    });
    return Promise.resolve({ series });
  };
}

interface SeenState {
  readonly at: number;
  readonly failed: number;
  readonly live: number;
}

const STATE_READERS: Readonly<Record<string, (one: SeenState) => number>> = {
  'gitops.failed': ({ failed }) => failed,
  'gitops.live': ({ live }) => live,
};

const STATES_KEPT_MS = 60 * 60 * 1000;
const MOST_STATES = 2_000;
