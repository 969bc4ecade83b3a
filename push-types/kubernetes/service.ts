import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Hono } from 'hono';
import { judgeTargets, prometheusQuery, remoteJudge, type Query } from '../../sdk';
import { Memory } from '../../sdk/updates';
import { SeenLog } from '../hosts/seenLog';
import { KubeFleet } from './fleet';
import { loadClustersFile, openClusters } from './loadClusters';
import { addPodMetrics } from './podMetrics';
import { kubernetesPushType, type PodsJudge } from './pushType';

export interface KubernetesServiceOptions {
  /** The file of the clusters. */
  readonly clusters: string;
  /** The folder of the memory. */
  readonly home: string;
  readonly prometheus: string | undefined;
  readonly token: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Ends the watches and the connections. */
  readonly signal: AbortSignal;
}

/** The push type with its clusters. `run` brings pods to their desired state until it is stopped. */
export interface KubernetesService {
  readonly app: Hono;
  readonly clusters: readonly string[];
  run(): Promise<void>;
}

/** @throws Error if the file of the clusters has a mistake */
export function openKubernetesService(options: KubernetesServiceOptions): KubernetesService {
  const { home, env, log, signal, token } = options;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const file = loadClustersFile(options.clusters);
  const clusters = openClusters(options.clusters, file, { env, signal });
  const seen = new SeenLog();
  const fleet = new KubeFleet({
    ...{
      memory: new Memory(join(home, 'state.json')),
      clusters,
      startTimeoutMs: file.startTimeout,
      owner: file.owner,
      now: Date.now,
      log,
    },
    onLook: noteLooks(seen),
  });
  const judge = createPodsJudge(options, seen);
  const app = kubernetesPushType(fleet, { judge, allowTags: file.allowTags, ...(token !== undefined && { token }) });
  addPodMetrics(app, fleet);
  return {
    app,
    clusters: [...clusters.keys()],
    run: () => runFleet(fleet, { intervalMs: file.interval, log, signal }),
  };
}

/** A container that an update restarts has not crashed: the count of a pod begins anew with each task. */
function noteLooks(seen: SeenLog): (task: string, restarts: number | undefined) => void {
  const tasks = new Map<string, string>();
  return (task, restarts) => {
    const pod = task.slice(0, task.lastIndexOf('@'));
    if (restarts === undefined || tasks.get(pod) !== task) seen.forget(pod);
    tasks.set(pod, task);
    if (restarts !== undefined) seen.note(pod, restarts, Date.now());
  };
}

interface FleetRunOptions {
  readonly intervalMs: number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const SHORTEST_PAUSE_MS = 500;

/** Each unit goes at its own pace; new units of pipelines join. */
async function runFleet(fleet: KubeFleet, { intervalMs, log, signal }: FleetRunOptions): Promise<void> {
  const running = new Map<string, Promise<void>>();
  const pause = (ms: number): Promise<unknown> => delay(ms, undefined, { signal }).catch(() => undefined);
  const keepStepping = async (unit: string): Promise<void> => {
    while (!signal.aborted) {
      const isOpen = await fleet.step(unit).catch((error: unknown) => log(`${unit}: ${String(error)}`));
      await pause(isOpen ? Math.min(SHORTEST_PAUSE_MS, intervalMs) : intervalMs);
    }
  };
  while (!signal.aborted) {
    for (const unit of fleet.unitNames) if (!running.has(unit)) running.set(unit, keepStepping(unit));
    await pause(Math.min(SHORTEST_PAUSE_MS, intervalMs));
  }
  await Promise.all(running.values());
}

/** The Health Check Service judges if there is one, else this process does: by Prometheus, and without it by the restarts that it saw. */
function createPodsJudge({ prometheus, env }: KubernetesServiceOptions, seen: SeenLog): PodsJudge {
  const { CONVEYOR_HCS_URL: hcs, CONVEYOR_HCS_TOKEN: token } = env;
  if (hcs) return remoteJudge({ url: hcs, source: 'prometheus', ...(token && { token }) });
  const ask = prometheus === undefined ? undefined : prometheusQuery({ url: prometheus });
  const query: Query = (request, asked) => {
    if (request.metric === 'system.crashes' || asked.source === 'kubernetes') return seen.query(request, asked);
    return (ask ?? seen.query)(request, asked);
  };
  return (request) => judgeTargets({ ...request, query });
}
