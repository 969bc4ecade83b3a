import type { Hono } from 'hono';
import { unitOf } from '../../sdk/updates';
import { listMetricLines, METRIC_HEADERS, type MetricFamily } from '../metricText';
import type { HostFleet } from './fleet';
import type { Host } from './inventory';
import { listPlaces } from './slots';

/**
 * The state of the hosts as the push type saw it, for Prometheus: `/metrics`, with the label `task` that moving targets need, and `/targets`, the addresses of the
 * applications' own metrics under the same label (`http_sd_configs`).
 */

export interface MetricsOptions {
  readonly fleet: HostFleet;
  readonly hosts: () => readonly Host[];
  /** The address of the application's metrics on a host; undefined if it has none. */
  readonly locate: (host: Host) => { readonly target: string; readonly path: string } | undefined;
  /** Seconds since the inventory was last read. */
  readonly inventoryAge: () => number;
}

export function addMetrics(app: Hono, options: MetricsOptions): void {
  app.get('/metrics', (c) => c.text(writeMetrics(options), 200, METRIC_HEADERS));
  app.get('/targets', (c) => c.json(listTargets(options)));
}

interface TaskRow {
  readonly host: string;
  readonly unit: string;
  readonly task: string;
  readonly version: string;
  readonly isLive: boolean;
  readonly isReachable: boolean;
  readonly isUpdating: boolean;
  readonly restarts: number | undefined;
  readonly freeKb: number | undefined;
}

function listTasks(fleet: HostFleet): readonly TaskRow[] {
  return Object.keys(fleet.state.units).flatMap((unit) =>
    unitOf(fleet.state, unit).slots.flatMap((slot, index) => {
      const host = listPlaces(fleet.state, unit)[index];
      if (host === undefined || slot.gone) return [];
      const look = fleet.lastLook(host);
      const facts = look && 'facts' in look ? look.facts : undefined;
      const isUpdating = slot.state === 'updating';
      return {
        ...{ host, unit, task: slot.task ?? host, version: facts?.current ?? slot.version },
        ...{ isLive: slot.state === 'live', isReachable: !slot.isUnreachable, isUpdating },
        ...{ restarts: facts?.restarts, freeKb: facts?.freeKb ?? undefined },
      };
    }),
  );
}

const FAMILIES: readonly MetricFamily<TaskRow>[] = [
  {
    ...{ name: 'conveyor_host_task_live', type: 'gauge', read: ({ isLive }) => Number(isLive) },
    help: '1 if the task serves the version that its host should have',
  },
  {
    ...{ name: 'conveyor_host_reachable', type: 'gauge', read: ({ isReachable }) => Number(isReachable) },
    help: '1 if the host answers by SSH',
  },
  {
    ...{ name: 'conveyor_host_updating', type: 'gauge', read: ({ isUpdating }) => Number(isUpdating) },
    help: '1 while the host is changed',
  },
  {
    ...{ name: 'conveyor_host_task_restarts_total', type: 'counter', read: ({ restarts }) => restarts },
    help: 'automatic restarts of the service by systemd',
  },
  {
    ...{ name: 'conveyor_host_disk_free_bytes', type: 'gauge', read: ({ freeKb }) => freeKb && freeKb * 1024 },
    help: 'free space on the disk of the releases',
  },
];

function writeMetrics({ fleet, inventoryAge }: MetricsOptions): string {
  const rows = listTasks(fleet);
  const families = listMetricLines(FAMILIES, rows, ({ task, unit, host, version }) => ({ task, unit, host, version }));
  const age = [
    '# TYPE conveyor_hosts_inventory_age_seconds gauge',
    `conveyor_hosts_inventory_age_seconds ${inventoryAge()}`,
  ];
  return `${[...families, ...age].join('\n')}\n`;
}

function listTargets({ fleet, hosts, locate }: MetricsOptions): readonly object[] {
  const known = new Map(hosts().map((host) => [host.name, host]));
  return listTasks(fleet).flatMap(({ host: name, unit, task, version, isReachable, isUpdating }) => {
    const host = known.get(name);
    const place = host && locate(host);
    // Between two starts its metrics would count for the wrong task.
    if (!place || !isReachable || isUpdating) return [];
    return [{ targets: [place.target], labels: { task, unit, host: name, version, __metrics_path__: place.path } }];
  });
}
