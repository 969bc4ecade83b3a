import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesApi } from './client/api';
import { ClusterView } from './client/clusterView';
import { CLIENT_LIMITS } from './client/limits';
import type { KubeObject } from './client/objects';
import type { ObjectRef, ResourceKind } from './client/resources';
import { parseLabelSelector } from './selectors';
import type { ClusterReader } from './unitReader';

const WATCHED: ReadonlySet<ResourceKind> = new Set([
  ...(['Pod', 'Node', 'Deployment', 'StatefulSet', 'DaemonSet', 'PodDisruptionBudget'] as const),
]);
const LOOK_AGAIN_MS = 50;

/**
 * Reads from memory that watches keep up to date, so that looks cost the API server nothing. A kind and a namespace are followed from the first look on;
 * everything else is read directly.
 */
export class ViewedReader implements ClusterReader {
  private readonly views = new Map<string, ClusterView>();

  constructor(
    private readonly api: KubernetesApi,
    private readonly signal: AbortSignal,
    private readonly patienceMs: number = CLIENT_LIMITS.requestMs,
  ) {}

  async get(ref: ObjectRef): Promise<KubeObject | undefined> {
    if (!WATCHED.has(ref.kind)) return this.api.get(ref);
    return (await this.findView(ref.kind, ref.namespace)).get(ref);
  }

  async list(kind: ResourceKind, options: Parameters<KubernetesApi['list']>[1]) {
    if (!WATCHED.has(kind)) return this.api.list(kind, options);
    const view = await this.findView(kind, options.namespace);
    const matches = parseLabelSelector(options.labelSelector ?? '') ?? (() => options.labelSelector === undefined);
    return { items: view.list(kind, ({ metadata }) => matches(metadata.labels ?? {})), resourceVersion: '' };
  }

  /** @throws Error if the cluster does not answer, KubernetesError if the account may not look */
  private async findView(kind: ResourceKind, namespace: string | undefined): Promise<ClusterView> {
    const key = `${kind} ${namespace ?? ''}`;
    const view = this.views.get(key) ?? this.openView(kind, namespace);
    this.views.set(key, view);
    const isAnswered = (): boolean => view.isComplete || view.missingRight !== undefined || this.signal.aborted;
    for (let waited = 0; !isAnswered() && waited < this.patienceMs; waited += LOOK_AGAIN_MS) await delay(LOOK_AGAIN_MS);
    if (view.missingRight !== undefined) throw view.missingRight;
    const stale = view.whyStale();
    if (stale !== undefined) throw new Error(stale);
    return view;
  }

  private openView(kind: ResourceKind, namespace: string | undefined): ClusterView {
    const view = new ClusterView(this.api, { kinds: [kind], ...(namespace !== undefined && { namespace }) });
    void view.run(this.signal);
    return view;
  }
}
