import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld, NAMESPACE } from '../builders/kubeWorld';

/** Two Conveyors, each with its own memory, and one workload. */

const worlds: KubeWorld[] = [];
afterEach(async () => {
  // The cluster is that of the first.
  for (const each of worlds.splice(0).reverse()) await each.close();
});

const ROWS = [{ kind: 'Deployment', namespace: NAMESPACE, name: 'web' }];

async function openWorld(owner: string | undefined): Promise<{ world: KubeWorld; deploys: KubeDeploys }> {
  const [first] = worlds;
  const named = { kind: 'Deployment' as const, ...(owner !== undefined && { owner }), config: { workloads: ROWS } };
  const world = await KubeWorld.make(
    first ? { ...named, workloads: {}, shared: { api: first.cluster.api } } : { ...named, workloads: { web: 4 } },
  );
  worlds.push(world);
  return { world, deploys: new KubeDeploys(world, worlds.length) };
}

test.each(['us', undefined])(
  'a workload that one Conveyor deploys is refused by another (%s), with the name of the first and what to do',
  async (other) => {
    const one = await openWorld('eu');
    const id = await one.deploys.push('web', 'kv:2', { whole: true });
    await one.world.settle();
    expect(await one.deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
    const two = await openWorld(other);
    const words = 'the Conveyor eu deploys web: deploy by that one, or take its name off the workload';
    const { problems } = await two.deploys.call('validateConfig', {});
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
    await expect(two.deploys.push('web', 'kv:3', { whole: true })).rejects.toThrow(words);
    expect(await one.world.images('web')).toEqual(Array(4).fill('kv:2'));
  },
);

test('one of two Conveyors that begin at the same moment changes the pods, and the other waits and names it', async () => {
  const [one, two] = [await openWorld('eu'), await openWorld('us')];
  const ids = [await one.deploys.push('web', 'kv:2'), await two.deploys.push('web', 'kv:3')];
  for (let round = 0; round < 30; round += 1) await Promise.all([one.world.step(), two.world.step()]);
  const both = [await one.deploys.track(ids[0] ?? ''), await two.deploys.track(ids[1] ?? '')];
  expect(both.filter((progress) => progress?.state === 'done')).toHaveLength(1);
  const winner = both[0]?.state === 'done' ? ['kv:2', 'eu'] : ['kv:3', 'us'];
  expect(both.find((progress) => progress?.state !== 'done')?.reason).toContain(
    `the Conveyor ${winner[1]} deploys web`,
  );
  expect(await one.world.images('web')).toEqual(Array(4).fill(winner[0]));
});

test('a Conveyor that has lost its folder continues under its name', async () => {
  const { world, deploys } = await openWorld('eu');
  await deploys.push('web', 'kv:2', { whole: true });
  await world.settle();
  world.lose();
  const id = await deploys.push('web', 'kv:3', { whole: true });
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
});
