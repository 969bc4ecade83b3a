import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Hono } from 'hono';
import { judgeTargets, prometheusQuery, remoteJudge, tasksOf, type Query } from '../../sdk';
import { Memory } from '../../sdk/updates';
import { guardReads } from '../guardReads';
import type { Balancer } from './balancer';
import { HostFleet } from './fleet';
import { createHaproxy } from './haproxy';
import { createHook } from './hook';
import { rememberWorlds } from './hostWorlds';
import { createFiller, fillVariables, type Host, type Inventory } from './inventory';
import { loadInventory } from './loadInventory';
import { addMetrics } from './metrics';
import { Packages } from './packages';
import { hostsPushType, type HostsJudge } from './pushType';
import { SeenLog } from './seenLog';
import type { InventoryFile } from './settings';
import type { HostsState } from './slots';

export interface HostsServiceOptions {
  readonly inventory: string;
  /** The folder of the memory and the packages. */
  readonly home: string;
  readonly prometheus: string | undefined;
  readonly token: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

/** The push type with its hosts. `run` brings the hosts to their desired state until it is stopped. */
export interface HostsService {
  readonly app: Hono;
  /** The number of hosts, and their units. */
  readonly hosts: number;
  readonly units: readonly string[];
  run(signal: AbortSignal): Promise<void>;
}

const LOOK_PATIENCE_MS = 5_000;
const readElapsed = (): number => performance.now();

/** @throws Error if the inventory has a mistake */
export async function openHostsService(options: HostsServiceOptions): Promise<HostsService> {
  const { home, log, token } = options;
  mkdirSync(join(home, 'sockets'), { recursive: true, mode: 0o700 });
  let loaded = await loadInventory(options.inventory);
  let loadedAt = performance.now();
  const { file } = loaded;
  const memory = new Memory(join(home, 'state.json'));
  const state: HostsState = memory.state;
  const packages = openPackages(options, file, (state.digests ??= {}));
  const balancer = openBalancer(file, () => loaded.inventory);
  const seen = new SeenLog();
  const fleet = new HostFleet({
    ...{
      memory,
      balancer,
      atOnce: file.atOnce,
      patienceMs: LOOK_PATIENCE_MS,
      now: Date.now,
      elapsed: readElapsed,
      log,
    },
    countMostOut: (size) => countMostOut(file, size),
    onLook: (host, restarts) => seen.note(host, restarts, Date.now()),
    onBegin: (host) => seen.forget(host),
  });
  const makeWorld = rememberWorlds({ ...options, file, packages, balancer });
  const listHosts = (): readonly Host[] => [...loaded.inventory.units.values()].flat();
  const list = (): void => {
    fleet.setHosts(new Map([...loaded.inventory.units].map(([unit, hosts]) => [unit, hosts.map(makeWorld)])));
    seen.keepOnly(new Set(listHosts().map(({ name }) => name)));
  };
  list();
  const app = hostsPushType(fleet, {
    ...{
      service: file.service,
      packages,
      judge: createHostsJudge(options, seen),
      canShift: balancer?.setWeights !== undefined,
    },
    labels: (unit) => loaded.inventory.labels.get(unit) ?? {},
    ...(token !== undefined && { token }),
  });
  guardReads(app, token, ['/metrics', '/targets']);
  addMetrics(app, {
    ...{ fleet, hosts: listHosts, inventoryAge: () => (performance.now() - loadedAt) / 1000 },
    locate: (host) =>
      file.app.metrics && {
        target: `${host.address}:${fillVariables(file.app.metrics.port, host)}`,
        path: file.app.metrics.path,
      },
  });
  const refresh = async (): Promise<void> => {
    try {
      loaded = { ...(await loadInventory(options.inventory)), file };
      loadedAt = performance.now();
      list();
    } catch (error) {
      log(`the inventory of before stays: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    ...{ app, hosts: listHosts().length, units: [...loaded.inventory.units.keys()] },
    run: (signal) => runRounds(fleet, { file, refresh, log, signal }),
  };
}

interface RoundsOptions {
  readonly file: InventoryFile;
  readonly refresh: () => Promise<void>;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Each unit goes at its own pace; new units of the inventory join. */
async function runRounds(fleet: HostFleet, { file, refresh, log, signal }: RoundsOptions): Promise<void> {
  const running = new Map<string, Promise<void>>();
  const pause = (ms: number): Promise<unknown> => delay(ms, undefined, { signal }).catch(() => undefined);
  const keepStepping = async (unit: string): Promise<void> => {
    while (!signal.aborted) {
      const isOpen = await fleet.step(unit).catch((error: unknown) => log(`${unit}: ${String(error)}`));
      await pause(isOpen ? Math.min(500, file.interval) : file.interval);
    }
  };
  while (!signal.aborted) {
    for (const unit of fleet.unitNames) if (!running.has(unit)) running.set(unit, keepStepping(unit));
    await pause(file.refresh);
    if (!signal.aborted) await refresh();
  }
  await Promise.all(running.values());
}

function openPackages(
  { inventory, home }: HostsServiceOptions,
  { packages }: InventoryFile,
  digests: Record<string, string>,
): Packages {
  const { from, timeout } = packages;
  const place = /^https?:/.test(from) ? from : resolve(dirname(inventory), from);
  return new Packages({ from: place, folder: join(home, 'packages'), timeoutMs: timeout, digests });
}

function openBalancer({ balancer }: InventoryFile, readInventory: () => Inventory): Balancer | null {
  if (balancer === undefined) return null;
  if ('hook' in balancer) return createHook(balancer.hook, balancer.timeout);
  const { haproxy, backend, server } = balancer;
  return createHaproxy({ sockets: haproxy, backend, server: createFiller(server, readInventory) });
}

const countMostOut = ({ mostOut }: InventoryFile, size: number): number =>
  typeof mostOut === 'number' ? mostOut : tasksOf({ percent: Math.max(1, Number.parseInt(mostOut, 10)) }, size);

/** The Health Check Service judges if there is one, else this process does: by Prometheus, and without it by what it saw on the hosts. */
function createHostsJudge({ prometheus, env }: HostsServiceOptions, seen: SeenLog): HostsJudge {
  const { CONVEYOR_HCS_URL: hcs, CONVEYOR_HCS_TOKEN: token } = env;
  if (hcs) return remoteJudge({ url: hcs, source: 'prometheus', ...(token && { token }) });
  const ask = prometheus === undefined ? undefined : prometheusQuery({ url: prometheus });
  const query: Query = (request, asked) => {
    if (request.metric === 'system.crashes' || asked.source === 'hosts') return seen.query(request, asked);
    return (ask ?? seen.query)(request, asked);
  };
  return (request) => judgeTargets({ ...request, query });
}
