import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterConnection } from '../../../push-types/kubernetes/client/api';
import { isKubernetesError } from '../../../push-types/kubernetes/client/errors';
import type { KubeObject } from '../../../push-types/kubernetes/client/objects';

/** How containers of some images behave; the first row whose pattern matches an image counts. */
export interface ImageRule {
  readonly image: RegExp;
  /** On this node alone. */
  readonly node?: string;
  /** ms from the start of a container until it is ready. */
  readonly startMs?: number;
  /** It runs and never gets ready, as with a readiness probe that fails. */
  readonly neverReady?: boolean;
  /** It is ready for so long, then it ends; it is restarted after ever longer waits. */
  readonly crashAfterMs?: number;
  /** The registry does not have it. */
  readonly pullError?: boolean;
  /** A ConfigMap or Secret that it needs is missing. */
  readonly configError?: boolean;
}

export interface KubeletOptions {
  readonly api: ClusterConnection;
  readonly nodes: readonly string[];
  readonly zones?: readonly string[];
  readonly rules?: readonly ImageRule[];
  readonly startMs?: number;
  /** ms that a pod takes to end. */
  readonly endMs?: number;
  readonly crashBackOffMs?: number;
}

interface RunningContainer {
  readonly name: string;
  image: string;
  imageId: string;
  restarts: number;
  /** Counts starts, so that a timer of an earlier start does nothing. */
  start: number;
  state: { running: { startedAt: string } } | { waiting: { reason: string; message?: string } };
  isReady: boolean;
  lastState?: object;
}

interface RunningPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly ip: string;
  readonly startTime: string;
  readonly containers: Map<string, RunningContainer>;
  object: KubeObject;
  /** One write of its status at a time. */
  writing: Promise<void>;
  isEnding: boolean;
  isGone: boolean;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
  readonly readinessGates?: readonly { readonly conditionType: string }[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/**
 * The kubelets of some nodes: they follow their pods over HTTP, on a fake or a real control plane, and report what a real kubelet reports. A changed
 * image restarts that container alone, in the same pod.
 */
export class FakeKubelet {
  readonly rules: ImageRule[];
  private readonly pods = new Map<string, RunningPod>();
  private readonly silent = new Set<string>();
  private readonly ending = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private addresses = 0;

  private constructor(private readonly options: KubeletOptions) {
    this.rules = [...(options.rules ?? [])];
  }

  /** Registers the nodes and follows their pods. */
  static async start(options: KubeletOptions): Promise<FakeKubelet> {
    const kubelet = new FakeKubelet(options);
    for (const [index, name] of options.nodes.entries()) await kubelet.register(name, index);
    kubelet.following = kubelet.follow();
    return kubelet;
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.following;
    await Promise.all([...this.pods.values()].map(({ writing }) => writing));
  }

  /** Cuts a node off: its pods are no longer seen to, and after a while the control plane reports it so. */
  async silence(node: string): Promise<void> {
    this.silent.add(node);
    await this.setNodeReady(node, 'Unknown');
    for (const pod of this.pods.values()) if (pod.node === node) await this.markUnknown(pod);
  }

  async revive(node: string): Promise<void> {
    this.silent.delete(node);
    await this.setNodeReady(node, 'True');
    for (const pod of this.pods.values()) if (pod.node === node) this.sync(pod.object, true);
  }

  private async register(name: string, index: number): Promise<void> {
    const { api, zones = ['a', 'b', 'c'] } = this.options;
    const labels = {
      'kubernetes.io/hostname': name,
      'topology.kubernetes.io/zone': zones[index % zones.length] ?? 'a',
      'topology.kubernetes.io/region': 'r1',
    };
    await api.create('Node', { metadata: { name, labels } }).catch((error: unknown) => {
      if (!isKubernetesError(error, 'AlreadyExists')) throw error;
    });
    const room = { cpu: '64', memory: '256Gi', pods: '1000' };
    await api.patch(...([{ kind: 'Node', name }, { status: { capacity: room, allocatable: room } }] as const), {
      type: 'merge',
      subresource: 'status',
    });
    await this.setNodeReady(name, 'True');
    // A new node is tainted as not ready until a controller, which tests leave out, removes that.
    await api.patch({ kind: 'Node', name }, { spec: { taints: null } }, { type: 'merge' });
  }

  private async setNodeReady(name: string, status: 'True' | 'Unknown'): Promise<void> {
    const now = formatSeconds();
    const reason = status === 'True' ? 'KubeletReady' : 'NodeStatusUnknown';
    const condition = { type: 'Ready', status, reason, lastHeartbeatTime: now, lastTransitionTime: now };
    const patch = { status: { conditions: [condition] } };
    await this.options.api.patch({ kind: 'Node', name }, patch, { type: 'strategic', subresource: 'status' });
  }

  private async markUnknown({ namespace, name }: RunningPod): Promise<void> {
    const ready = { type: 'Ready', status: 'False', reason: 'NodeStatusUnknown', lastTransitionTime: formatSeconds() };
    await this.options.api
      .patch(
        { kind: 'Pod', namespace, name },
        { status: { conditions: [ready] } },
        { type: 'strategic', subresource: 'status' },
      )
      .catch(ignoreGone);
  }

  private async follow(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted)
      try {
        const { items, resourceVersion } = await this.options.api.list('Pod', {});
        const present = new Set(items.map(({ metadata }) => metadata.uid));
        for (const [uid, pod] of this.pods) if (!present.has(uid)) this.drop(uid, pod);
        for (const item of items) this.sync(item);
        for await (const event of this.options.api.watch('Pod', { resourceVersion, signal })) {
          if (event.type === 'BOOKMARK') continue;
          const known = this.pods.get(event.object.metadata.uid);
          if (event.type !== 'DELETED') this.sync(event.object);
          else if (known) this.drop(known.uid, known);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!isKubernetesError(error)) throw error;
        await delay(50);
      }
  }

  private drop(uid: string, pod: RunningPod): void {
    pod.isGone = true;
    this.pods.delete(uid);
  }

  private sync(object: KubeObject, isForced = false): void {
    const { metadata } = object;
    const spec = object.spec as unknown as PodSpec;
    if (spec.nodeName === undefined || !this.options.nodes.includes(spec.nodeName)) return;
    const known = this.pods.get(metadata.uid);
    const pod = known ?? this.admit(object, spec.nodeName);
    const before = pod.object;
    pod.object = object;
    if (this.silent.has(pod.node)) return;
    if (metadata.deletionTimestamp) return this.end(pod);
    for (const { name, image } of spec.containers) {
      const running = pod.containers.get(name);
      if (running === undefined) this.startContainer(pod, { name, image, restarts: 0 });
      else if (running.image !== image) this.startContainer(pod, { name, image, restarts: running.restarts + 1 });
    }
    if (known === undefined || isForced || gateStates(before) !== gateStates(object)) this.report(pod);
  }

  private admit(object: KubeObject, node: string): RunningPod {
    const { uid, namespace = '', name } = object.metadata;
    this.addresses += 1;
    const ip = `10.1.${(this.addresses >> 8) & 255}.${this.addresses & 255}`;
    const pod: RunningPod = {
      ...{ uid, namespace, name, node, ip, object, startTime: formatSeconds(), containers: new Map() },
      ...{ writing: Promise.resolve(), isEnding: false, isGone: false },
    };
    this.pods.set(uid, pod);
    return pod;
  }

  private findRule(image: string, at: string): Partial<ImageRule> {
    return this.rules.find(({ image: pattern, node = at }) => pattern.test(image) && node === at) ?? {};
  }

  /** An image that cannot be had ends the running container first, and then its status keeps the old image. */
  private startContainer(pod: RunningPod, wanted: { name: string; image: string; restarts: number }): void {
    const { name, image, restarts } = wanted;
    const before = pod.containers.get(name);
    const { startMs = this.options.startMs ?? 0, neverReady, pullError, configError } = this.findRule(image, pod.node);
    const start = (before?.start ?? 0) + 1;
    const isStuck = pullError || configError;
    const imageId = isStuck ? (before?.imageId ?? '') : describeImage(image);
    const container: RunningContainer = {
      ...{ name, image, imageId, start, isReady: false },
      restarts: isStuck ? (before?.restarts ?? 0) : restarts,
      state: { waiting: { reason: 'ContainerCreating' } },
      ...(before && { lastState: { terminated: { exitCode: 0, reason: 'Completed', finishedAt: formatSeconds() } } }),
    };
    pod.containers.set(name, container);
    if (isStuck) {
      const reason = pullError ? 'ErrImagePull' : 'CreateContainerConfigError';
      container.state = {
        waiting: { reason, message: pullError ? `${image}: not found` : 'configmap "app" not found' },
      };
      this.report(pod);
      if (pullError)
        this.later(pod, container, 20, () => (container.state = { waiting: { reason: 'ImagePullBackOff' } }));
      return;
    }
    const run = (): void => {
      container.state = { running: { startedAt: formatSeconds() } };
      container.isReady = !neverReady;
      this.planCrash(pod, container);
    };
    if (startMs === 0) {
      run();
      return this.report(pod);
    }
    this.report(pod);
    this.later(pod, container, startMs, run);
  }

  private planCrash(pod: RunningPod, container: RunningContainer): void {
    const { crashAfterMs } = this.findRule(container.image, pod.node);
    if (crashAfterMs === undefined) return;
    this.later(pod, container, crashAfterMs, () => {
      container.isReady = false;
      container.state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' } };
      container.lastState = { terminated: { exitCode: 1, reason: 'Error', finishedAt: formatSeconds() } };
      const backOffMs = (this.options.crashBackOffMs ?? 300) * 2 ** Math.min(container.restarts, 5);
      this.later(pod, container, backOffMs, () => {
        container.restarts += 1;
        container.state = { running: { startedAt: formatSeconds() } };
        container.isReady = true;
        this.planCrash(pod, container);
      });
    });
  }

  /** Changes a container after a time, unless it was started again or its node is cut off. */
  private later(pod: RunningPod, container: RunningContainer, ms: number, change: () => void): void {
    const { start } = container;
    void delay(ms, undefined, { signal: this.ending.signal, ref: false })
      .then(() => {
        const isCurrent = pod.containers.get(container.name) === container && container.start === start;
        if (!isCurrent || pod.isGone || pod.isEnding || this.silent.has(pod.node)) return;
        change();
        this.report(pod);
      })
      .catch(() => undefined);
  }

  private end(pod: RunningPod): void {
    if (pod.isEnding) return;
    pod.isEnding = true;
    const { namespace, name, uid } = pod;
    void delay(this.options.endMs ?? 0, undefined, { signal: this.ending.signal, ref: false })
      .then(() => this.options.api.remove({ kind: 'Pod', namespace, name }, { uid, graceSeconds: 0 }))
      .catch(() => (pod.isEnding = false));
  }

  /** Writes the newest state once the write before has ended. */
  private report(pod: RunningPod): void {
    pod.writing = pod.writing.then(async () => {
      if (pod.isGone || pod.isEnding || this.silent.has(pod.node) || this.ending.signal.aborted) return;
      const { namespace, name } = pod;
      try {
        const written = await this.options.api.patch(
          ...([
            { kind: 'Pod', namespace, name },
            { metadata: { uid: pod.uid }, status: buildStatus(pod) },
          ] as const),
          { type: 'strategic', subresource: 'status' },
        );
        if (written.metadata.uid === pod.uid) pod.object = written;
      } catch (error) {
        ignoreGone(error);
      }
    });
  }
}

function ignoreGone(error: unknown): undefined {
  if (isKubernetesError(error, 'NotFound', 'Conflict', 'Unavailable', 'Invalid')) return undefined;
  throw error;
}

const readConditions = ({ status }: KubeObject): readonly Condition[] =>
  (status?.['conditions'] as Condition[] | undefined) ?? [];

const readGates = ({ spec }: KubeObject): readonly string[] =>
  ((spec as unknown as PodSpec).readinessGates ?? []).map(({ conditionType }) => conditionType);

const gateStates = (object: KubeObject): string =>
  readGates(object)
    .map((gate) => readConditions(object).find(({ type }) => type === gate)?.status)
    .join();

/** Ready is what the containers are and what every readiness gate says. */
function buildStatus(pod: RunningPod): object {
  const containers = [...pod.containers.values()];
  const areReady = containers.every(({ isReady }) => isReady);
  const conditions = readConditions(pod.object);
  const gatesOpen = readGates(pod.object).every((gate) =>
    conditions.some(({ type, status }) => type === gate && status === 'True'),
  );
  const condition = (type: string, isTrue: boolean, reason?: string): object => {
    const status = isTrue ? 'True' : 'False';
    const before = conditions.find((one) => one.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatSeconds();
    return { type, status, lastTransitionTime, reason: isTrue ? null : (reason ?? 'ContainersNotReady') };
  };
  return {
    phase: containers.some(({ start, state }) => start > 1 || 'running' in state) ? 'Running' : 'Pending',
    ...{ podIP: pod.ip, podIPs: [{ ip: pod.ip }], startTime: pod.startTime },
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', areReady),
      condition('Ready', areReady && gatesOpen, areReady ? 'ReadinessGatesNotReady' : undefined),
    ],
    containerStatuses: containers.map(({ name, image, imageId, restarts, isReady, state, lastState, start }) => ({
      ...{ name, image, imageID: imageId, ready: isReady, started: isReady, restartCount: restarts, state },
      ...{ containerID: `fake://${pod.uid}-${name}-${start}`, ...(lastState && { lastState }) },
    })),
  };
}

/** By digest, as runtimes report it; a tag alone gets one that depends on it. */
function describeImage(image: string): string {
  if (image.includes('@sha256:')) return image;
  const digest = createHash('sha256').update(image).digest('hex');
  return `${image.replace(/:[^/:]*$/, '')}@sha256:${digest}`;
}

/** Kubernetes stores these times in whole seconds. */
const formatSeconds = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
