import type { ClusterConnection } from '../../../push-types/kubernetes/client/api';
import { connectTo } from './connect';
import { runControllers } from './controllers';
import { FakeKubelet, type ImageRule } from './kubelet';
import { FakeApiServer, type FakeServerOptions } from './server';
import { FakeStore } from './store';

export interface FakeClusterOptions extends Omit<FakeServerOptions, 'store'> {
  readonly nodes?: readonly string[];
  readonly zones?: readonly string[];
  readonly rules?: readonly ImageRule[];
  readonly startMs?: number;
  readonly endMs?: number;
  readonly crashBackOffMs?: number;
  readonly namespaces?: readonly string[];
}

/** A whole cluster: a fake API server over HTTP, controllers that behave as real ones, nodes with fake kubelets. */
export class FakeCluster {
  private constructor(
    readonly store: FakeStore,
    readonly server: FakeApiServer,
    readonly api: ClusterConnection,
    readonly kubelet: FakeKubelet,
    private readonly stopControllers: () => void,
    private readonly own: ClusterConnection,
  ) {}

  static async open(options: FakeClusterOptions = {}): Promise<FakeCluster> {
    const store = new FakeStore();
    for (const name of options.namespaces ?? ['default', 'shop'])
      store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const server = await FakeApiServer.open({ ...options, store });
    const stopControllers = runControllers(store);
    const [api, own] = [connectTo(server.url), connectTo(server.url)];
    const { nodes = ['node-0', 'node-1', 'node-2'] } = options;
    const kubelet = await FakeKubelet.start({ ...options, nodes, api: own });
    return new FakeCluster(store, server, api, kubelet, stopControllers, own);
  }

  async close(): Promise<void> {
    this.stopControllers();
    await this.kubelet.stop();
    this.api.close();
    this.own.close();
    await this.server.close();
  }
}
