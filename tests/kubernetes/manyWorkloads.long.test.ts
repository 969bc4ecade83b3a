import { CLIENT_LIMITS } from '../../push-types/kubernetes/client/limits';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld, NAMESPACE } from '../builders/kubeWorld';
import { connectTo } from './fake/connect';
import { FakeApiServer } from './fake/server';
import { FakeStore } from './fake/store';

/** A pipeline with as many workloads as it may have, at the pace of the product. */

const COUNT = 100;
/** Calls of extensions end after this time (settings/extensions.ts). */
const CALL_MS = 10_000;

test('a config with 100 workloads is checked within the time of a call, and a second time almost for nothing', async () => {
  const store = new FakeStore();
  const server = await FakeApiServer.open({ store });
  const { requestsPerSecond, inFlight } = CLIENT_LIMITS;
  const api = connectTo(server.url, { requestsPerSecond, inFlight });
  const workloads = Array.from({ length: COUNT }, (_, index) => ({
    ...{ kind: 'Deployment', namespace: NAMESPACE, name: `web-${index}` },
  }));
  for (const { kind, name } of workloads) {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image: 'kv:1' }] } };
    const metadata = { name, namespace: NAMESPACE };
    const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template };
    const own = (owner: string, uid: string) => [{ apiVersion: 'apps/v1', kind: owner, name, uid, controller: true }];
    const deployment = store.create({ apiVersion: 'apps/v1', kind, metadata, spec, status: { observedGeneration: 1 } });
    const ownerReferences = own(kind, deployment.metadata.uid);
    const labels = { app: name };
    const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { ...metadata, labels, ownerReferences }, spec };
    const { uid } = store.create(set).metadata;
    const pod = { ...metadata, labels, ownerReferences: own('ReplicaSet', uid) };
    store.create({ apiVersion: 'v1', kind: 'Pod', metadata: pod, spec: template.spec });
  }
  const world = await KubeWorld.make({
    ...{ kind: 'Deployment', workloads: {}, shared: { api }, isViewed: true },
    config: { workloads },
  });
  try {
    const deploys = new KubeDeploys(world);
    const check = async (): Promise<{ requests: number; ms: number }> => {
      const [before, beganMs] = [server.seen.length, Date.now()];
      expect((await deploys.call('validateConfig', {})).problems).toEqual([]);
      return { requests: server.seen.length - before, ms: Date.now() - beganMs };
    };
    const first = await check();
    expect(first.ms).toBeLessThan(CALL_MS);
    expect(first.requests).toBeLessThan(50);
    expect((await check()).requests).toBeLessThan(10);
  } finally {
    await world.close();
    api.close();
    await server.close();
  }
}, 120_000);
