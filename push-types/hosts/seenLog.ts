import type { Query } from '../../sdk';

/**
 * The looks at the hosts as a data source, so that `standard/crashes` works without Prometheus: `system.crashes` has a point for each
 * look that found automatic restarts of the service, and `up` one for each look, 0 if the host did not answer.
 */
export class SeenLog {
  private readonly hosts = new Map<string, SeenHost>();

  /** Notes a look at a host: the number of automatic restarts so far, or undefined if it did not answer. */
  note(host: string, restarts: number | undefined, at: number): void {
    const seen = this.hosts.get(host) ?? { points: [] };
    const crashes = restarts === undefined || seen.restarts === undefined ? 0 : Math.max(0, restarts - seen.restarts);
    const points = [...seen.points, { at, up: Number(restarts !== undefined), crashes }];
    this.hosts.set(host, {
      restarts: restarts ?? seen.restarts,
      points: points.filter((one) => one.at > at - KEPT_MS).slice(-MOST_SEEN_POINTS),
    });
  }

  /** Another version starts on the host: the crashes so far are not its own. */
  forget(host: string): void {
    this.hosts.delete(host);
  }

  /** Forgets the hosts that are not listed. */
  keepOnly(hosts: ReadonlySet<string>): void {
    for (const host of this.hosts.keys()) if (!hosts.has(host)) this.hosts.delete(host);
  }

  query: Query = ({ metric, selector, start, end }) => {
    const read = READERS[metric];
    if (read === undefined)
      return Promise.reject(
        new Error(
          `this push type has no metric ${metric}, only ${Object.keys(READERS).join(', ')}: start it with --prometheus`,
        ),
      );
    const series = (selector.tasks ?? []).flatMap((task) => {
      const seen = this.hosts.get(task.slice(0, Math.max(0, task.lastIndexOf('@'))))?.points ?? [];
      const points = seen.filter(({ at }) => at >= start && at <= end).flatMap(read);
      return points.length === 0 ? [] : [{ labels: { task }, points }];
    });
    return Promise.resolve({ series });
  };
}

interface SeenHost {
  readonly restarts?: number | undefined;
  readonly points: readonly SeenPoint[];
}

interface SeenPoint {
  readonly at: number;
  readonly up: number;
  readonly crashes: number;
}

const READERS: Readonly<Record<string, (point: SeenPoint) => [number, number][]>> = {
  'system.crashes': ({ at, crashes }) => (crashes > 0 ? [[at, crashes]] : []),
  up: ({ at, up }) => [[at, up]],
};

const KEPT_MS = 60 * 60 * 1000;
const MOST_SEEN_POINTS = 2_000;
