import { KubernetesError } from '../../push-types/kubernetes/client/errors';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld, NAMESPACE } from '../builders/kubeWorld';

/** Workloads beside that of a deploy. */

let world: KubeWorld;
afterEach(() => world.close());

test('pods of a Deployment with a longer name are left alone, although the selector fits them too', async () => {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 2 } });
  const labels = { app: 'web', part: 'api' };
  const template = {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'api:1' }] },
  };
  const spec = { replicas: 2, selector: { matchLabels: { part: 'api' } }, template };
  await world.cluster.api.create('Deployment', { metadata: { name: 'web-api' }, spec }, { namespace: NAMESPACE });
  await world.until('all four are there', async () => (await world.pods('web')).length === 4);
  await world.calm();
  const deploys = new KubeDeploys(world);
  expect(await deploys.unit('web')).toMatchObject({ size: 2, version: 'kv:1', mixed: false });
  const id = await deploys.push('web', 'kv:2', { whole: true });
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'done', targeted: 2, live: 2 });
  expect((await world.images('web')).sort()).toEqual(['api:1', 'api:1', 'kv:2', 'kv:2']);
});

test('a Deployment that was created again keeps the pods that it adopts', async () => {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 2 } });
  const deploys = new KubeDeploys(world);
  expect(await deploys.unit('web')).toMatchObject({ size: 2 });
  const { store } = world.cluster;
  const before = store.get('Deployment', NAMESPACE, 'web');
  if (before === undefined) throw new Error('there is no Deployment');
  for (const set of store.list('ReplicaSet', NAMESPACE))
    store.edit(set, ({ metadata }) => delete metadata.ownerReferences);
  store.remove(before);
  const again = store.create({ ...before, metadata: { name: 'web', namespace: NAMESPACE } });
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: again.metadata.uid, controller: true };
  for (const set of store.list('ReplicaSet', NAMESPACE))
    if (set.metadata.ownerReferences === undefined)
      store.edit(set, ({ metadata }) => (metadata.ownerReferences = [owner]));
  await world.calm();
  const id = await deploys.push('web', 'kv:2', { whole: true });
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
});

describe('the right to put pods into service', () => {
  const podSpec = { readinessGates: [{ conditionType: 'conveyor.dev/serving' }] };

  test('is checked for a pod template with the gate, although the config has no drain', async () => {
    const mayDo = (_: string, resource: string) => resource !== 'pods/status';
    world = await KubeWorld.make({ kind: 'Deployment', workloads: {}, podSpec, mayDo });
    await world.deploy('web', 1);
    const config = { workloads: [{ kind: 'Deployment', namespace: NAMESPACE, name: 'web' }] };
    const { problems } = await new KubeDeploys(world).call('validateConfig', {}, 'check', config);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('pods/status')]);
  });

  test('is the reason of an update whose new pods are not in service without it', async () => {
    world = await KubeWorld.make({ kind: 'Deployment', workloads: {}, podSpec });
    await world.deploy('web', 2);
    world.useConfig({ workloads: [{ kind: 'Deployment', namespace: NAMESPACE, name: 'web' }] });
    const deploys = new KubeDeploys(world);
    await world.until('they are in service', async () => {
      await deploys.unit('web');
      await world.step();
      return (await deploys.unit('web'))?.size === 2 && (await world.settle(), true);
    });
    const words = { verb: 'patch', target: 'status of a pod', cluster: 'eu-1' };
    const right = { resource: 'pods/status', namespace: NAMESPACE };
    const refusal = { kind: 'Forbidden', status: 403, message: 'User "conveyor" cannot patch resource' } as const;
    world.wrap = (api) => ({
      ...api,
      patch: (ref, patch, options) =>
        options.subresource === 'status'
          ? Promise.reject(new KubernetesError({ ...words, right }, refusal))
          : api.patch(ref, patch, options),
    });
    const [first] = await world.pods('web');
    await world.cluster.api.remove({ kind: 'Pod', namespace: NAMESPACE, name: first?.metadata.name ?? '' });
    await world.until('another pod is there', async () => (await world.pods('web')).length === 2);
    const id = await deploys.push('web', 'kv:2', { whole: true });
    for (let round = 0; round < 3; round += 1) await world.step();
    expect((await deploys.track(id))?.reason).toMatch(/the verb patch for pods\/status in namespace shop/);
    world.wrap = (api) => api;
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
  });
});
