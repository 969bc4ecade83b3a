import { listNeededRights, CLUSTER_RIGHTS } from '../../push-types/kubernetes/refusals';
import { WORKLOAD_KINDS } from '../../push-types/kubernetes/settings';
import { KubeDeploys } from '../builders/kubeDeploys';
import { isPodReady, KubeWorld, NAMESPACE, type KubeWorldOptions } from '../builders/kubeWorld';

let world: KubeWorld;
let deploys: KubeDeploys;
afterEach(() => world.close());

async function begin(options: Partial<KubeWorldOptions> = {}): Promise<void> {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 4 }, ...options });
  deploys = new KubeDeploys(world);
}

const count = (images: readonly string[], image: string): number => images.filter((one) => one === image).length;

describe('in the middle of a phase', () => {
  test.each(WORKLOAD_KINDS)(
    'a pod of a %s that is replaced comes back old, and gets the version again',
    async (kind) => {
      await begin({ kind });
      await deploys.push('web', 'kv:2', { count: 2 });
      await world.settle();
      const updated = (await world.pods('web')).find((pod) => JSON.stringify(pod.spec).includes('kv:2'));
      await world.losePod(updated?.metadata.name ?? '', 'web');
      expect(count(await world.images('web'), 'kv:2')).toBe(1);
      await world.settle();
      expect(count(await world.images('web'), 'kv:2')).toBe(2);
    },
  );

  test('a pod that is added starts on the old version, and stays there', async () => {
    await begin();
    await deploys.push('web', 'kv:2', { count: 2 });
    await world.settle();
    await world.grow('web');
    await world.settle();
    expect(count(await world.images('web'), 'kv:2')).toBe(2);
    expect(await deploys.unit('web')).toMatchObject({ size: 5, version: 'kv:1', mixed: true });
  });

  test('pods on a silent node hold up no others, and get the version once it reports again', async () => {
    await begin({ kind: 'DaemonSet', config: { maxUnavailable: 2 } });
    await world.cluster.kubelet.silence('node-1');
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 3, unreachable: 1 });
    await world.cluster.kubelet.revive('node-1');
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4, unreachable: 0 });
  });

  test('a template that others change counts: the update fails with their image, and no pod is brought back', async () => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { count: 3 });
    await world.step();
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    await world.cluster.api.patch(
      ref,
      { spec: { template: { spec: { containers: [{ name: 'app', image: 'kv:9' }] } } } },
      { type: 'strategic' },
    );
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'failed', reason: expect.stringContaining('kv:9') });
    await world.until(
      'their rollout ends',
      async () => count(await world.images('web'), 'kv:9') === 4 && (await world.pods('web')).length === 4,
    );
    await world.settle();
    expect(await world.images('web')).toEqual(Array(4).fill('kv:9'));
    expect(await deploys.unit('web')).toMatchObject({ version: 'kv:9', mixed: false });
  });

  test('another that writes to the same pods makes a patch stale, and it is repeated', async () => {
    await begin();
    let writes = 0;
    world.wrap = (api) => ({
      ...api,
      patch: async (ref, patch, options) => {
        writes += 1;
        if (ref.kind === 'Pod' && writes % 2 === 1)
          await world.cluster.api.patch(ref, { metadata: { labels: { other: String(writes) } } }, { type: 'merge' });
        return api.patch(ref, patch, options);
      },
    });
    const id = await deploys.push('web', 'kv:2', { count: 2 });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
    expect(Object.values(await world.lives('web')).filter((restarts) => restarts === 1)).toHaveLength(2);
  });

  test('a pod that another brings to a third version is theirs afterwards', async () => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { count: 1 });
    await world.settle();
    const updated = (await world.pods('web')).find((pod) => JSON.stringify(pod.spec).includes('kv:2'));
    const ref = { kind: 'Pod', namespace: NAMESPACE, name: updated?.metadata.name ?? '' } as const;
    await world.cluster.api.patch(
      ref,
      { spec: { containers: [{ name: 'app', image: 'kv:7' }] } },
      { type: 'strategic' },
    );
    await world.settle();
    expect(count(await world.images('web'), 'kv:7')).toBe(1);
    expect(await deploys.track(id)).toMatchObject({ live: 0 });
    expect(await deploys.unit('web')).toMatchObject({ mixed: true });
  });
});

describe('faults of the API server', () => {
  test.each([
    ['is busy (429)', { method: 'PATCH', times: 3, then: { kind: 'tooMany', retryAfter: 0 } }],
    ['breaks (503)', { method: 'PATCH', times: 6, then: { kind: 'broken', status: 503 } }],
    ['loses answers', { method: 'PATCH', times: 2, then: { kind: 'drop', when: 'after' } }],
    ['is gone for a while', { times: 12, then: { kind: 'drop', when: 'before' } }],
  ] as const)('an update continues when it %s, and restarts no pod twice', async (_, fault) => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { whole: true });
    world.cluster.server.faults.add(fault);
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
    expect(await world.templateImage('web')).toBe('kv:2');
    expect(Object.values(await world.lives('web'))).toEqual([1, 1, 1, 1]);
  });

  test('a patch that the cluster refuses fails the update with the reason of the cluster', async () => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { count: 2 });
    world.cluster.server.faults.add({
      method: 'PATCH',
      path: /pods/,
      then: { kind: 'webhook', name: 'policy', message: 'images are frozen' },
    });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('images are frozen'),
    });
  });

  test('a cluster that is away is unavailable, holds up no deploy, and catches up', async () => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { whole: true });
    let isAway = true;
    world.wrap = (api) => (isAway ? { ...api, get: () => Promise.reject(new Error('no route to host')) } : api);
    await world.step();
    expect(await deploys.unit('web')).toMatchObject({ available: false, size: 4 });
    expect(await deploys.track(id)).toMatchObject({ reason: expect.stringContaining('no route to host') });
    const start = Date.now();
    world.now = () => Date.now() + 61_000;
    await world.step();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 0, unreachable: 4 });
    isAway = false;
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ live: 4, unreachable: 0 });
    expect([await world.images('web'), await world.templateImage('web')]).toEqual([Array(4).fill('kv:2'), 'kv:2']);
    expect(Date.now() - start).toBeLessThan(60_000);
  });
});

describe('the budget', () => {
  test('a disruption budget that allows nothing stops an update, which says so and continues later', async () => {
    await begin();
    const budget = {
      metadata: { name: 'web' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } },
    };
    await world.cluster.api.create('PodDisruptionBudget', budget, { namespace: NAMESPACE });
    const id = await deploys.push('web', 'kv:2', { count: 2 });
    for (let round = 0; round < 3; round += 1) await world.step();
    expect(await deploys.track(id)).toMatchObject({
      updated: 0,
      reason: expect.stringContaining('the disruption budget web'),
    });
    const ref = { kind: 'PodDisruptionBudget', namespace: NAMESPACE, name: 'web' } as const;
    await world.cluster.api.patch(ref, { spec: { maxUnavailable: 2 } }, { type: 'merge' });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
  });

  test('never are more pods out of service than the config permits', async () => {
    await begin({ workloads: { web: 6 }, rules: [{ image: /kv:2/, startMs: 60 }], config: { maxUnavailable: 2 } });
    let most = 0;
    const stop = world.cluster.store.listen(() => {
      const pods = world.cluster.store.list('Pod', NAMESPACE);
      most = Math.max(most, pods.filter((pod) => !isPodReady(pod as never)).length);
    });
    await deploys.push('web', 'kv:2', { whole: true });
    await world.settle();
    stop();
    expect(await world.images('web')).toEqual(Array(6).fill('kv:2'));
    expect(most).toBe(2);
  });
});

describe('a version that does not come up', () => {
  test.each([
    ['cannot be pulled', { pullError: true }, 'ImagePullBackOff'],
    ['lacks a ConfigMap', { configError: true }, 'CreateContainerConfigError'],
    ['is never ready', { neverReady: true }, 'not live within'],
  ] as const)('fails with the reason when it %s, and the revert restores the pods', async (_, rule, reason) => {
    await begin({ rules: [{ image: /kv:2/, ...rule }], startTimeoutMs: 400 });
    const id = await deploys.push('web', 'kv:2');
    await world.settle();
    const failed = await deploys.track(id);
    expect(failed).toMatchObject({ state: 'failed', live: 0, reason: expect.stringContaining('kv:2') });
    expect(failed?.reason).toMatch(reason === 'ImagePullBackOff' ? /ImagePullBackOff|ErrImagePull|not live/ : reason);
    const back = await deploys.push('web', 'kv:1', { updatedBy: [id] });
    await world.settle();
    expect(await deploys.track(back)).toMatchObject({ state: 'done', failed: 0 });
    expect(await world.images('web')).toEqual(Array(4).fill('kv:1'));
    expect((await world.pods('web')).every(isPodReady)).toBe(true);
  });
});

describe('pods with the readiness gate', () => {
  const podSpec = { readinessGates: [{ conditionType: 'conveyor.dev/serving' }] };
  test('are put into service, and are out of service before their image changes', async () => {
    world = await KubeWorld.make({
      kind: 'Deployment',
      workloads: {},
      podSpec,
      config: { workloads: [{ kind: 'Deployment', namespace: NAMESPACE, name: 'web' }], drain: '30ms' },
    }).catch((error: unknown) => {
      throw error;
    });
    deploys = new KubeDeploys(world);
    await world.deploy('web', 2);
    await world.until('the pods are there', async () => (await world.pods('web')).length === 2);
    await deploys.unit('web');
    await world.settle();
    expect((await world.pods('web')).every(isPodReady)).toBe(true);
    const served: boolean[] = [];
    const stop = world.cluster.store.listen(({ object, before }) => {
      const image = JSON.stringify(object.spec);
      if (object.kind === 'Pod' && before && image !== JSON.stringify(before.spec))
        served.push(isPodReady(before as never));
    });
    const id = await deploys.push('web', 'kv:2');
    await world.settle();
    stop();
    expect(served).toEqual([false, false]);
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
    expect((await world.pods('web')).every(isPodReady)).toBe(true);
  });
});

describe('before a deploy', () => {
  const problems = async (config?: Readonly<Record<string, unknown>>, version?: string) =>
    (
      await deploys.call('validateConfig', version === undefined ? {} : { version, artifacts: [] }, 'validate', config)
    ).problems.map(({ message }) => message);

  test('each verb that the account lacks is named', async () => {
    await begin({ mayDo: (verb, resource) => !(verb === 'patch' && resource.startsWith('replicasets')) });
    expect(await problems()).toEqual([
      expect.stringMatching(/lacks the verbs patch for replicasets of apps in namespace shop/),
    ]);
    expect(
      listNeededRights('Deployment', { hasGate: false, mode: 'in-place' }).length + CLUSTER_RIGHTS.length,
    ).toBeGreaterThan(3);
  });

  test('mistakes of the config are named: clusters, workloads, containers, drain without a gate, recreate', async () => {
    await begin();
    const [workload] = world.config['workloads'] as object[];
    const ask = (more: object) => problems({ ...world.config, ...more });
    expect(await ask({ clusters: ['us'] })).toContainEqual('there is no cluster us; there are eu-1');
    expect(await ask({ clusters: { label: 'tier=test' } })).toContainEqual(
      expect.stringContaining('no cluster has the labels'),
    );
    expect(await ask({ clusters: { label: 'tier in (prod)' } })).toEqual([]);
    expect(await ask({ workloads: [{ ...workload, name: 'wep' }] })).toEqual([
      'there is no Deployment wep in namespace shop of eu-1',
    ]);
    expect(await ask({ workloads: [{ ...workload, container: 'a' }] })).toEqual(['web has no container a; it has app']);
    expect(await ask({ drain: '1s' })).toEqual([expect.stringContaining('drain needs the readiness gate')]);
    expect(await ask({ mode: 'recreate', drain: '1s' })).toEqual([expect.stringContaining('leave drain out')]);
    expect(await ask({ workloads: [{ kind: 'Deployment', namespace: NAMESPACE, selector: 'app=nothing' }] })).toEqual([
      expect.stringContaining('with the labels app=nothing'),
    ]);
  });

  test('a Deployment that a person has paused is refused, with what to do', async () => {
    await begin();
    await deploys.unit('web');
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    await world.cluster.api.patch(ref, { spec: { paused: true } }, { type: 'merge' });
    await world.step();
    expect(await problems()).toEqual([expect.stringContaining('kubectl rollout resume')]);
    await expect(deploys.push('web', 'kv:2')).rejects.toThrow(/kubectl rollout resume/);
  });

  test('a completion waits for a person who has paused the Deployment in the middle, and says so', async () => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { whole: true });
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    await world.cluster.api.patch(ref, { spec: { paused: true } }, { type: 'merge' });
    for (let round = 0; round < 20; round += 1) await world.step();
    expect(await deploys.track(id)).toMatchObject({
      state: 'updating',
      live: 4,
      reason: expect.stringContaining('a person has paused web'),
    });
    await world.cluster.api.patch(ref, { spec: { paused: false } }, { type: 'merge' });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
    expect(Object.values(await world.lives('web'))).toEqual([1, 1, 1, 1]);
  });
});

describe('a version that was there before', () => {
  test('completes without a restart although an old ReplicaSet equals it', async () => {
    await begin();
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    const roll = async (image: string) => {
      await world.cluster.api.patch(
        ref,
        { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } },
        { type: 'strategic' },
      );
      await world.until(`all run ${image}`, async () => {
        const pods = await world.pods('web');
        return pods.length === 4 && pods.every(isPodReady) && count(await world.images('web'), image) === 4;
      });
    };
    await roll('kv:2');
    await roll('kv:1');
    await world.calm();
    const before = await world.lives('web');
    await deploys.push('web', 'kv:2', { whole: true });
    await world.settle();
    expect(await world.lives('web')).toEqual(Object.fromEntries(Object.keys(before).map((uid) => [uid, 1])));
    await world.grow('web');
    expect(await world.images('web')).toEqual(Array(5).fill('kv:2'));
  });
});
