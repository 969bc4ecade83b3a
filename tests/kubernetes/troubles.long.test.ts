import { KubeDeploys } from '../builders/kubeDeploys';
import { isPodReady, KubeWorld, NAMESPACE, type KubeWorldOptions } from '../builders/kubeWorld';

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

describe('rights that are taken away in the middle', () => {
  test.each([
    // The kubelet, which writes statuses, has an account of its own.
    ['of pods', 'PATCH', /\/pods\/[^/?]*\?/, 'the verb patch for pods in namespace shop'],
    ['of the workload', 'PATCH', /\/deployments\//, 'the verb patch for deployments of apps in namespace shop'],
    ['to list ReplicaSets', 'GET', /\/replicasets/, 'the verb list for replicasets of apps in namespace shop'],
  ])('%s are named, waited for, and the update continues when they are back', async (_, method, path, grant) => {
    await begin({ startTimeoutMs: 200 });
    // A unit that was never read is not deployed.
    await deploys.unit('web');
    const giveBack = world.cluster.server.faults.add({ method, path, then: { kind: 'forbidden' } });
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await rounds(12);
    await new Promise((resolve) => setTimeout(resolve, 250));
    await rounds(2);
    expect(await deploys.track(id)).toMatchObject({ state: 'updating', reason: expect.stringContaining(grant) });
    giveBack();
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
    expect(await world.templateImage('web')).toBe('kv:2');
  });

  test.each([
    ['list', /namespaces\/shop\/pods\?/],
    ['watch', /namespaces\/shop\/pods\?.*watch=1/],
  ])('to %s pods make the unit unavailable at once, and no pod counts as healthy', async (_, path) => {
    await begin({ isViewed: true, bookmarkMs: 50 });
    await deploys.unit('web');
    const giveBack = world.cluster.server.faults.add({ method: 'GET', path, then: { kind: 'forbidden' } });
    world.cluster.server.cutWatches();
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await world.until('the loss is seen', async () => {
      await world.step();
      return (await deploys.unit('web'))?.available === false;
    });
    expect(await deploys.track(id)).toMatchObject({
      state: expect.stringMatching(/pending|updating/),
      reason: expect.stringMatching(/the verb (list|watch) for pods in namespace shop/),
    });
    // Longer than a cluster may be away.
    world.now = () => Date.now() + 120_000;
    await rounds(3);
    expect((await deploys.track(id))?.state).not.toBe('done');
    world.now = Date.now;
    giveBack();
    await world.until(
      'the update is done',
      async () => {
        await world.step();
        return (await deploys.track(id))?.state === 'done';
      },
      60_000,
    );
    expect(await deploys.track(id)).toMatchObject({ live: 4, unreachable: 0 });
  });
});

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

  test('one that sets the image of pods back is not fought without end: the update fails and says how to find it', async () => {
    await begin();
    const stop = world.cluster.store.listen(({ type, object }) => {
      if (type !== 'MODIFIED' || object.kind !== 'Pod' || !JSON.stringify(object.spec).includes('kv:2')) return;
      setImmediate(() =>
        world.cluster.store.edit(object, (draft) => {
          const [container] = draft.spec['containers'] as { image: string }[];
          if (container) container.image = 'kv:1';
        }),
      );
    });
    const id = await deploys.push('web', 'kv:2', { count: 1 });
    await world.settle();
    stop();
    expect(await deploys.track(id)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/back to kv:1 3 times.*--show-managed-fields/),
    });
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

describe('a node that is drained', () => {
  test.each(['Deployment', 'StatefulSet'] as const)(
    'by cordon and eviction in the middle: pods of a %s come back old elsewhere, and get the version too',
    async (kind) => {
      await begin({ kind, workloads: { web: 6 }, rules: [{ image: /kv:2/, startMs: 50 }] });
      const { api } = world.cluster;
      const cordon = (unschedulable: boolean) =>
        api.patch({ kind: 'Node', name: 'node-0' }, { spec: { unschedulable } }, { type: 'merge' });
      const onNode = async () => (await world.pods('web')).filter(({ spec }) => spec?.['nodeName'] === 'node-0');
      const id = await deploys.push('web', 'kv:2', { whole: true });
      await world.until('the update is in the middle', async () => (await world.step(), (await count('kv:2')) >= 2));
      await cordon(true);
      const drained = await onNode();
      expect(drained.length).toBeGreaterThan(0);
      for (const { metadata } of drained) {
        const body = {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: metadata.name, namespace: NAMESPACE },
        };
        await api.create('Pod', body, { namespace: NAMESPACE, name: metadata.name, subresource: 'eviction' });
      }
      await world.settle();
      expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 6, failed: 0 });
      expect([await world.images('web'), await world.templateImage('web')]).toEqual([Array(6).fill('kv:2'), 'kv:2']);
      expect(await onNode()).toEqual([]);
      await cordon(false);
      await world.settle();
      expect(await deploys.unit('web')).toMatchObject({ size: 6, version: 'kv:2', mixed: false });
    },
  );
});

describe('clusters that refuse', () => {
  test('a quota that lets no pod come is the reason of an update that replaces pods, which then fails', async () => {
    await begin({ config: { mode: 'recreate' }, startTimeoutMs: 400 });
    world.cluster.store.podQuota.set(NAMESPACE, 3);
    const id = await deploys.push('web', 'kv:2', { count: 1 });
    await world.until('the update fails', async () => {
      await world.step();
      return (await deploys.track(id))?.state === 'failed';
    });
    expect((await deploys.track(id))?.reason).toContain('exceeded quota');
    world.cluster.store.podQuota.clear();
    // Controllers of the fake cluster look again once something changes.
    const ref = { kind: 'Deployment', namespace: NAMESPACE, name: 'web' } as const;
    await world.cluster.api.patch(ref, { metadata: { annotations: { quota: 'raised' } } }, { type: 'merge' });
    await world.until('the pod is back', async () => {
      await world.step();
      return (await world.pods('web')).length === 4;
    });
    expect((await world.workload('web')).spec).toMatchObject({ paused: false });
  });

  test('a quota on a patch fails the update with its words, and so does an admission webhook', async () => {
    await begin();
    for (const [then, words] of [
      [{ kind: 'quota', message: 'limits.cpu' }, 'exceeded quota: limits.cpu'],
      [{ kind: 'webhook', name: 'policy', message: 'images are frozen' }, 'images are frozen'],
    ] as const) {
      const end = world.cluster.server.faults.add({ method: 'PATCH', path: /\/pods\/[^/]*\?/, then });
      const id = await deploys.push('web', 'kv:2', { count: 2 });
      await world.settle();
      end();
      expect(await deploys.track(id)).toMatchObject({ state: 'failed', reason: expect.stringContaining(words) });
    }
  });

  test('a webhook that is down, or a server that is busy for long, is the reason of an update that waits for it', async () => {
    await begin();
    const body = JSON.stringify({
      ...{ kind: 'Status', status: 'Failure', reason: 'InternalError', code: 500 },
      message: 'Internal error occurred: failed calling webhook "policy": connection refused',
    });
    for (const [version, then, words] of [
      ['kv:2', { kind: 'broken', status: 500, body }, 'failed calling webhook "policy"'],
      ['kv:3', { kind: 'tooMany', retryAfter: 60 }, 'Too many requests'],
      ['kv:4', { kind: 'broken', status: 503, body: 'no upstream' }, 'no upstream'],
    ] as const) {
      const end = world.cluster.server.faults.add({ method: 'PATCH', path: /\/pods\/[^/]*\?/, then });
      const id = await deploys.push('web', version, { whole: true });
      await rounds(3);
      expect(await deploys.track(id)).toMatchObject({ live: 0, reason: expect.stringContaining(words) });
      end();
      await world.settle();
      expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
    }
  });

  test('an image that one node alone cannot pull fails with its pod, and the others stay live', async () => {
    await begin({ kind: 'DaemonSet', rules: [{ image: /kv:2/, node: 'node-2', pullError: true }] });
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await world.settle();
    const failed = await deploys.track(id);
    expect(failed?.state).toBe('failed');
    expect(failed?.reason).toMatch(/web-.*(ImagePullBackOff|ErrImagePull)/);
    expect(failed?.live).toBe(
      (await world.pods('web')).filter((pod) => isPodReady(pod)).length - (await count('kv:1')),
    );
    expect(await world.templateImage('web')).toBe('kv:1');
  });

  test('a namespace that is deleted in the middle makes its units unavailable, with the reason', async () => {
    await begin();
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await world.step();
    const { store } = world.cluster;
    for (const kind of ['Deployment', 'ReplicaSet', 'Pod'])
      for (const object of store.list(kind, NAMESPACE)) store.remove(object, { graceSeconds: 0 });
    for (const namespace of store.list('Namespace').filter(({ metadata }) => metadata.name === NAMESPACE))
      store.remove(namespace);
    await rounds(3);
    expect(await deploys.unit('web')).toBeUndefined();
    expect(await deploys.track(id)).toMatchObject({ reason: 'there is no Deployment shop/web in eu-1' });
  });
});
