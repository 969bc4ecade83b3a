import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConnection, KubernetesApi } from '../../push-types/kubernetes/client/api';
import type { KubeObject } from '../../push-types/kubernetes/client/objects';
import { KubeFleet } from '../../push-types/kubernetes/fleet';
import type { KubeCluster } from '../../push-types/kubernetes/kubeCluster';
import { kubernetesPushType } from '../../push-types/kubernetes/pushType';
import { ViewedReader } from '../../push-types/kubernetes/viewedReader';
import type { WorkloadKind } from '../../push-types/kubernetes/settings';
import { judgeTargets } from '../../sdk/health';
import { viaApp } from '../../sdk/client';
import { Memory } from '../../sdk/updates';
import { FakeCluster, type FakeClusterOptions } from '../kubernetes/fake/cluster';

export const NAMESPACE = 'shop';

export interface KubeWorldOptions extends FakeClusterOptions {
  readonly kind: WorkloadKind;
  /** The pods of each workload, by its name. Nodes of a DaemonSet have the label of its name. */
  readonly workloads: Readonly<Record<string, number>>;
  readonly image?: string;
  /** Merged into the spec of the pod template. */
  readonly podSpec?: object;
  /** Merged into the spec of the workload. */
  readonly spec?: object;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly startTimeoutMs?: number;
  readonly clusterName?: string;
  /** The name of the Conveyor. */
  readonly owner?: string;
  /** Whether looks come from watches, as in the product, or from lists of the moment. */
  readonly isViewed?: boolean;
  /** A cluster that is already there, in place of a fake one of its own; its nodes are node-0 to node-7. */
  readonly shared?: SharedCluster;
}

export interface SharedCluster {
  readonly api: ClusterConnection;
}

/** The name of nodes for a world of so many pods. */
const listNodes = (count: number): string[] => Array.from({ length: count }, (_, index) => `node-${index}`);

/** The real push type with a fake cluster, which tests stop, start again, and rob of its memory. */
export class KubeWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-kube-'));
  readonly file = join(this.folder, 'state.json');
  readonly logged: string[] = [];
  /** Between the push type and the cluster. */
  wrap: (api: KubernetesApi) => KubernetesApi = (api) => api;
  now: () => number = Date.now;
  fleet: KubeFleet;
  private ending = new AbortController();
  private own: Readonly<Record<string, unknown>> | undefined;

  private constructor(
    readonly options: KubeWorldOptions,
    private readonly fake: FakeCluster | undefined,
    private readonly api: ClusterConnection,
  ) {
    this.fleet = this.open();
  }

  /** The fake cluster, whose faults and history tests use. */
  get cluster(): FakeCluster {
    if (this.fake === undefined) throw new Error('this world has no fake cluster');
    return this.fake;
  }

  static async make(options: KubeWorldOptions): Promise<KubeWorld> {
    const most = Math.max(...Object.values(options.workloads));
    const nodes = options.nodes ?? listNodes(options.kind === 'DaemonSet' ? most + 2 : 3);
    const fake = options.shared ? undefined : await FakeCluster.open({ rules: DEAD, ...options, nodes });
    const world = new KubeWorld(options, fake, (options.shared ?? fake)?.api as ClusterConnection);
    for (const [name, size] of Object.entries(options.workloads)) await world.deploy(name, size);
    await world.until('all pods are ready', async () => {
      const pods = await Promise.all(
        Object.entries(options.workloads).map(async ([name, size]) => [await world.pods(name), size] as const),
      );
      return pods.every(([found, size]) => found.length === size && found.every(isPodReady));
    });
    await world.calm();
    return world;
  }

  /** Another config than that of the options from now on. */
  useConfig(config: Readonly<Record<string, unknown>> | undefined): void {
    this.own = config;
  }

  get config(): Readonly<Record<string, unknown>> {
    if (this.own !== undefined) return this.own;
    const workloads = Object.keys(this.options.workloads).map((name) => ({
      kind: this.options.kind,
      namespace: NAMESPACE,
      name,
    }));
    return { workloads, ...this.options.config };
  }

  unit(name: string): string {
    return `${this.options.clusterName ?? 'eu-1'}/${NAMESPACE}/${this.options.kind.toLowerCase()}/${name}`;
  }

  /** The push type begins, or begins anew after a crash. */
  open(): KubeFleet {
    const api: KubernetesApi = {
      get: (ref) => this.wrap(this.api).get(ref),
      list: (kind, options) => this.wrap(this.api).list(kind, options),
      patch: (ref, patch, options) => this.wrap(this.api).patch(ref, patch, options),
      create: (kind, object, options) => this.wrap(this.api).create(kind, object, options),
      remove: (ref, options) => this.wrap(this.api).remove(ref, options),
      watch: (kind, options) => this.wrap(this.api).watch(kind, options),
    };
    const name = this.options.clusterName ?? 'eu-1';
    this.ending.abort();
    this.ending = new AbortController();
    const cluster: KubeCluster = {
      name,
      labels: { tier: 'prod' },
      api,
      reader: this.options.isViewed ? new ViewedReader(api, this.ending.signal) : api,
      readVersion: () => Promise.resolve([1, 37]),
    };
    this.fleet = new KubeFleet({
      ...{ memory: new Memory(this.file), clusters: new Map([[name, cluster]]) },
      ...{ startTimeoutMs: this.options.startTimeoutMs ?? 5_000, now: () => this.now(), owner: this.options.owner },
      log: (line) => this.logged.push(line),
    });
    return this.fleet;
  }

  /** The memory is gone; the objects are not. */
  lose(): void {
    rmSync(this.file, { force: true });
    this.open();
  }

  serve = () =>
    viaApp(
      kubernetesPushType(this.fleet, {
        ...{ allowTags: true },
        judge: (request) => judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
      }),
    );

  async deploy(name: string, size: number): Promise<void> {
    const { kind, image = 'kv:1', podSpec, spec } = this.options;
    const template = {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image }], ...podSpec },
    };
    const common = { selector: { matchLabels: { app: name } }, template };
    if (kind === 'DaemonSet') {
      for (const node of listNodes(size)) await this.labelNode(node, name);
      Object.assign(template.spec, { nodeSelector: { [`runs-${name}`]: 'yes' } });
    }
    const byKind = {
      Deployment: { replicas: size },
      StatefulSet: { replicas: size, serviceName: name, podManagementPolicy: 'Parallel' },
      DaemonSet: {},
    }[kind];
    await this.api.create(
      kind,
      { metadata: { name }, spec: { ...common, ...byKind, ...spec } },
      { namespace: NAMESPACE },
    );
  }

  /** One pod more. */
  async grow(name: string): Promise<void> {
    const { kind } = this.options;
    const size = (await this.pods(name)).length + 1;
    if (kind === 'DaemonSet') await this.labelNode(`node-${size - 1}`, name);
    else await this.api.patch({ kind, namespace: NAMESPACE, name }, { spec: { replicas: size } }, { type: 'merge' });
    await this.until('the pod is there', async () => {
      const pods = await this.pods(name);
      return pods.length === size && pods.every(isPodReady);
    });
    await this.calm();
  }

  /** A pod is lost, as with its node; its controller makes another. */
  async losePod(pod: string, name: string): Promise<void> {
    const before = await this.pods(name);
    const uid = before.find(({ metadata }) => metadata.name === pod)?.metadata.uid;
    await this.api.remove({ kind: 'Pod', namespace: NAMESPACE, name: pod });
    await this.until('another pod is there', async () => {
      const pods = await this.pods(name);
      return (
        pods.length === before.length && pods.every(isPodReady) && pods.every(({ metadata }) => metadata.uid !== uid)
      );
    });
  }

  async pods(name: string): Promise<readonly KubeObject[]> {
    const { items } = await this.api.list('Pod', { namespace: NAMESPACE, labelSelector: `app=${name}` });
    return items
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name));
  }

  async images(name: string): Promise<string[]> {
    return (await this.pods(name)).map(readPodImage);
  }

  /** Which pods there are, and how often their containers were started. */
  async lives(name: string): Promise<Readonly<Record<string, number>>> {
    return Object.fromEntries((await this.pods(name)).map((pod) => [pod.metadata.uid, countPodRestarts(pod)]));
  }

  async workload(name: string): Promise<KubeObject> {
    const { kind } = this.options;
    const found = await this.api.get({ kind, namespace: NAMESPACE, name });
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  }

  async templateImage(name: string): Promise<string> {
    const spec = (await this.workload(name)).spec as { template: { spec: { containers: { image: string }[] } } };
    return spec.template.spec.containers[0]?.image ?? '';
  }

  step = async (): Promise<boolean> => {
    const open = await Promise.all(this.fleet.unitNames.map((unit) => this.fleet.step(unit)));
    await this.calm();
    return open.some(Boolean);
  };

  /** Lets every unit do all that it has to, and the cluster too. */
  async settle(most = 120): Promise<void> {
    let quiet = 0;
    for (let round = 0; round < most && quiet < 2; round += 1) quiet = (await this.step()) ? 0 : quiet + 1;
  }

  /** Waits until nothing has changed in the cluster for a moment. */
  async calm(): Promise<void> {
    let seen: unknown;
    for (let version = await this.readChange(); version !== seen; version = await this.readChange()) {
      seen = version;
      await delay(this.fake ? CALM_MS : REAL_CALM_MS);
    }
  }

  private async readChange(): Promise<unknown> {
    if (this.fake) return this.fake.store.currentVersion;
    const { kind } = this.options;
    const lists = await Promise.all([
      this.api.list('Pod', { namespace: NAMESPACE }),
      this.api.list(kind, { namespace: NAMESPACE }),
    ]);
    return JSON.stringify(lists.map(({ items }) => items.map(({ metadata }) => metadata.resourceVersion)));
  }

  async until(hope: string, holds: () => Promise<boolean>, withinMs = 10_000): Promise<void> {
    const end = Date.now() + withinMs;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${hope}\n${this.logged.join('\n')}`);
      await delay(CALM_MS);
    }
  }

  async close(): Promise<void> {
    this.ending.abort();
    await this.fake?.close();
    if (this.fake === undefined) await this.clear();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async clear(): Promise<void> {
    const { kind } = this.options;
    for (const name of Object.keys(this.options.workloads)) {
      await this.api.remove({ kind, namespace: NAMESPACE, name });
      await this.until('the pods are gone', async () => (await this.pods(name)).length === 0, 30_000);
    }
  }

  private async labelNode(node: string, name: string): Promise<void> {
    await this.api.patch(
      { kind: 'Node', name: node },
      { metadata: { labels: { [`runs-${name}`]: 'yes' } } },
      { type: 'merge' },
    );
  }
}

const CALM_MS = 15;
/** A real controller takes longer to react than a fake one. */
const REAL_CALM_MS = 250;
const DEAD = [{ image: /dead/, pullError: true }];

interface PodParts {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

const partsIn = (pod: KubeObject): PodParts => pod as unknown as PodParts;
export const readPodImage = (pod: KubeObject): string => partsIn(pod).spec.containers[0]?.image ?? '';
export const isPodReady = (pod: KubeObject): boolean =>
  partsIn(pod).status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
const countPodRestarts = (pod: KubeObject): number => partsIn(pod).status.containerStatuses?.[0]?.restartCount ?? 0;
