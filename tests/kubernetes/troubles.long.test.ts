import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld, NAMESPACE, type KubeWorldOptions } from '../builders/kubeWorld';

/** Rights that are taken away, others who control the same workloads, and clusters that refuse pods. */

let world: KubeWorld;
let deploys: KubeDeploys;
afterEach(() => world.close());

async function begin(options: Partial<KubeWorldOptions> = {}): Promise<void> {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 4 }, ...options });
  deploys = new KubeDeploys(world);
}

const rounds = async (most: number): Promise<void> => {
  for (let round = 0; round < most; round += 1) await world.step();
};
const count = async (image: string): Promise<number> =>
  (await world.images('web')).filter((one) => one === image).length;

describe('workloads that others roll out', () => {
  test.each([
    ['an Argo Rollout', 'Rollout', { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }],
    ['a Flagger canary', 'Canary', { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }],
  ] as const)('are refused with what to do when %s names them', async (_, kind, spec) => {
    await begin();
    const problems = async () => (await deploys.call('validateConfig', {})).problems.map(({ message }) => message);
    const other = { spec: JSON.parse(JSON.stringify(spec).replace('"web"', '"api"')) as object };
    await world.cluster.api.create(kind, { metadata: { name: 'api' }, ...other }, { namespace: NAMESPACE });
    expect(await problems()).toEqual([]);
    await world.cluster.api.create(kind, { metadata: { name: 'shop' }, spec }, { namespace: NAMESPACE });
    expect(await problems()).toEqual([expect.stringMatching(/shop rolls out web .* deploy by that, or delete it/)]);
  });

  test('are refused when an operator owns them', async () => {
    await begin();
    const owner = { apiVersion: 'example.test/v1', kind: 'Shop', name: 'shop', uid: 'u', controller: true };
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    await world.cluster.api.patch(ref, { metadata: { ownerReferences: [owner] } }, { type: 'merge' });
    const { problems } = await deploys.call('validateConfig', {});
    expect(problems).toEqual([expect.objectContaining({ message: expect.stringContaining('belongs to Shop shop') })]);
  });

  test('an autoscaler that removes and adds pods in the middle changes the size alone', async () => {
    await begin({ workloads: { web: 6 } });
    const id = await deploys.push('web', 'kv:2', { count: 3 });
    await world.step();
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    const scale = async (replicas: number): Promise<void> => {
      await world.cluster.api.patch(ref, { spec: { replicas } }, { type: 'merge', subresource: 'scale' });
      await world.until('the size is reached', async () => (await world.pods('web')).length === replicas);
    };
    await scale(4);
    await rounds(3);
    await scale(8);
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', failed: 0 });
    expect(await count('kv:2')).toBeLessThanOrEqual(3);
    expect(await world.pods('web')).toHaveLength(8);
    expect(await deploys.unit('web')).toMatchObject({ size: 8, version: 'kv:1' });
  });
});
