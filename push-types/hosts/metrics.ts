import type { Hono } from 'hono';
import { unitOf } from '../../sdk/updates';
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
  app.get('/metrics', (c) => c.text(writeMetrics(options), 200, { 'content-type': 'text/plain; version=0.0.4' }));
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

const FAMILIES: readonly [name: string, help: string, type: string, value: (row: TaskRow) => number | undefined][] = [
  [
    'conveyor_host_task_live',
    '1 if the task serves the version that its host should have',
    'gauge',
    ({ isLive }) => Number(isLive),
  ],
  ['conveyor_host_reachable', '1 if the host answers by SSH', 'gauge', ({ isReachable }) => Number(isReachable)],
  ['conveyor_host_updating', '1 while the host is changed', 'gauge', ({ isUpdating }) => Number(isUpdating)],
  [
    'conveyor_host_task_restarts_total',
    'automatic restarts of the service by systemd',
    'counter',
    ({ restarts }) => restarts,
  ],
  [
    'conveyor_host_disk_free_bytes',
    'free space on the disk of the releases',
    'gauge',
    ({ freeKb }) => freeKb && freeKb * 1024,
  ],
];

function writeMetrics({ fleet, inventoryAge }: MetricsOptions): string {
  const rows = listTasks(fleet);
  const families = FAMILIES.flatMap(([name, help, type, value]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...rows.flatMap((row) => {
      const now = value(row);
      return now === undefined ? [] : [`${name}${writeLabels(row)} ${now}`];
    }),
  ]);
  const age = [
    '# TYPE conveyor_hosts_inventory_age_seconds gauge',
    `conveyor_hosts_inventory_age_seconds ${inventoryAge()}`,
  ];
  return `${[...families, ...age].join('\n')}\n`;
}

const writeLabels = ({ task, unit, host, version }: TaskRow): string =>
  `{${Object.entries({ task, unit, host, version })
    .map(([key, value]) => `${key}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', ' ')}"`)
    .join(',')}}`;

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
