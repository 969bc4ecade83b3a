import { randomBytes } from 'node:crypto';
import type { ClusterConnection } from '../../push-types/kubernetes/client/api';
import { isKubernetesError } from '../../push-types/kubernetes/client/errors';
import type { KubeObject } from '../../push-types/kubernetes/client/objects';
import type { ObjectRef, ResourceKind } from '../../push-types/kubernetes/client/resources';
import { eventually } from '../system/waiting';
import type { FakeKubelet } from './fake/kubelet';

/** A control plane, fake or real, with kubelets of `FakeKubelet`. */
export interface RuleCluster {
  readonly api: ClusterConnection;
  readonly kubelet: FakeKubelet;
  readonly nodes: readonly string[];
  /** ms within which a controller reacts. */
  readonly reactionMs: number;
}

interface PodStatus {
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly image: string;
    readonly imageID: string;
    readonly restartCount: number;
    readonly ready: boolean;
    readonly state: { readonly waiting?: { readonly reason: string } };
  }[];
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
}

const NAMESPACE = 'shop';
const WITHIN_MS = 30_000;

/** The words of the rules: one workload `name` in the namespace `shop`, with labels and pods of its own. */
export class RuleWorld {
  readonly name = `r${randomBytes(3).toString('hex')}`;

  constructor(readonly cluster: RuleCluster) {}

  private get api(): ClusterConnection {
    return this.cluster.api;
  }

  template(image: string, more: object = {}): object {
    return {
      metadata: { labels: { app: this.name } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image }], ...more },
    };
  }

  async createWorkload(
    kind: 'Deployment' | 'StatefulSet' | 'DaemonSet',
    { image = 'app:v1', template = {}, ...spec }: { image?: string; template?: object; [field: string]: unknown } = {},
  ): Promise<void> {
    const object = {
      metadata: { name: this.name },
      spec: {
        selector: { matchLabels: { app: this.name } },
        ...(kind === 'StatefulSet' && { serviceName: this.name, podManagementPolicy: 'Parallel' }),
        ...{ ...spec, template: this.template(image, template) },
      },
    };
    await this.api.create(kind, object, { namespace: NAMESPACE });
  }

  ref(kind: ResourceKind, name: string = this.name): ObjectRef {
    return { kind, namespace: NAMESPACE, name };
  }

  async read(kind: ResourceKind, name: string = this.name): Promise<KubeObject> {
    const found = await this.api.get(this.ref(kind, name));
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  }

  async status(kind: ResourceKind): Promise<Readonly<Record<string, unknown>>> {
    return (await this.read(kind)).status ?? {};
  }

  patch(kind: ResourceKind, patch: object, name: string = this.name): Promise<KubeObject> {
    return this.api.patch(this.ref(kind, name), patch, { type: 'strategic' });
  }

  /** Sets the image of the template of a workload, with other fields of its spec. */
  setTemplate(kind: ResourceKind, image: string, spec: object = {}, name: string = this.name): Promise<KubeObject> {
    return this.patch(kind, { spec: { ...spec, template: { spec: { containers: [{ name: 'app', image }] } } } }, name);
  }

  /** Sets the image of one pod, as a push in place does. */
  setImage(pod: KubeObject, image: string): Promise<KubeObject> {
    return this.patch('Pod', { spec: { containers: [{ name: 'app', image }] } }, pod.metadata.name);
  }

  /** Pods that are not ending, by name; numbers in their natural order. */
  async pods(): Promise<KubeObject[]> {
    const { items } = await this.api.list('Pod', { namespace: NAMESPACE, labelSelector: `app=${this.name}` });
    return items
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true }));
  }

  /** Each with its image and its restarts, such as `app:v1/0`, sorted. */
  async images(): Promise<string[]> {
    return (await this.pods()).map((pod) => `${imageOf(pod)}/${restartsOf(pod)}`).sort();
  }

  /** The pods themselves: equal lists mean that nothing was restarted or replaced. */
  async identities(): Promise<string[]> {
    return (await this.pods()).map((pod) => `${pod.metadata.uid}/${restartsOf(pod)}`).sort();
  }

  async sets(): Promise<KubeObject[]> {
    const { items } = await this.api.list('ReplicaSet', { namespace: NAMESPACE, labelSelector: `app=${this.name}` });
    return [...items];
  }

  async liveSet(): Promise<KubeObject> {
    const live = (await this.sets()).filter(({ spec }) => Number(spec?.['replicas']) > 0);
    if (live.length !== 1) throw new Error(`${live.length} ReplicaSets are live`);
    return live[0]!;
  }

  /** Waits for so many ready pods, each with the image if one is given, and no others. */
  async settle(count: number, image?: string): Promise<KubeObject[]> {
    return eventually(
      `${count} pods of ${this.name} are ready${image === undefined ? '' : ` on ${image}`}`,
      async () => {
        const pods = await this.pods();
        const good = pods.filter((pod) => isLive(pod) && (image === undefined || imageOf(pod) === image));
        return pods.length === count && good.length === count && pods;
      },
      WITHIN_MS,
    );
  }

  /** Waits until the controller has seen the newest spec. */
  async observe(kind: ResourceKind): Promise<KubeObject> {
    return eventually(
      `${kind} ${this.name} is observed`,
      async () => {
        const object = await this.read(kind);
        return object.status?.['observedGeneration'] === object.metadata.generation && object;
      },
      WITHIN_MS,
    );
  }

  until(what: string, look: () => Promise<boolean>): Promise<unknown> {
    return eventually(what, look, WITHIN_MS);
  }

  /** A controller that wanted to change something would have done so by now: it reacts to a later event first. */
  async letControllersAct(kind: ResourceKind): Promise<void> {
    for (const mark of ['one', 'two', 'three']) {
      await this.patch(kind, { metadata: { annotations: { 'conveyor.dev/mark': mark } } });
      await this.observe(kind);
      await new Promise((resolve) => setTimeout(resolve, this.cluster.reactionMs));
    }
  }

  async remove(kind: ResourceKind, name: string = this.name): Promise<void> {
    await this.api.remove(this.ref(kind, name));
  }

  /** Kind of the error with which work fails. */
  async failure(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => 'none',
      (error: unknown) => (isKubernetesError(error) ? error.kind : String(error)),
    );
  }

  evict(pod: KubeObject, dryRun = false): Promise<unknown> {
    const { name } = pod.metadata;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: NAMESPACE } };
    return this.api.create('Pod', body, { namespace: NAMESPACE, name, subresource: 'eviction', dryRun });
  }

  async createBudget(spec: object, allowed: number): Promise<void> {
    const selector = { matchLabels: { app: this.name } };
    await this.api.create(
      'PodDisruptionBudget',
      { metadata: { name: this.name }, spec: { ...spec, selector } },
      { namespace: NAMESPACE },
    );
    await this.until(
      'the budget is counted',
      async () => (await this.status('PodDisruptionBudget'))['disruptionsAllowed'] === allowed,
    );
  }

  /** Removes the workload and its pods. */
  async clear(): Promise<void> {
    for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet', 'PodDisruptionBudget'] as const)
      await this.remove(kind);
    await this.until('its pods are gone', async () => (await this.pods()).length === 0);
  }
}

export const imageOf = ({ spec }: KubeObject): string =>
  (spec as unknown as { containers: { image: string }[] }).containers[0]!.image;

const statusOf = ({ status }: KubeObject): PodStatus => (status ?? {}) as PodStatus;
export const restartsOf = (pod: KubeObject): number => statusOf(pod).containerStatuses?.[0]?.restartCount ?? -1;
export const waitingOf = (pod: KubeObject): string | undefined =>
  statusOf(pod).containerStatuses?.[0]?.state.waiting?.reason;
export const containersOf = (pod: KubeObject) => statusOf(pod).containerStatuses ?? [];
export const conditionOf = (pod: KubeObject, type: string): string | undefined =>
  statusOf(pod).conditions?.find((one) => one.type === type)?.status;

/** Ready on the image of its spec, by its status. */
export const isLive = (pod: KubeObject): boolean =>
  conditionOf(pod, 'Ready') === 'True' && statusOf(pod).containerStatuses?.[0]?.image === imageOf(pod);
