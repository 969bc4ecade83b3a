import { WORKLOAD_KINDS, type WorkloadKind } from '../../push-types/kubernetes/settings';
import type { KubeObject } from '../../push-types/kubernetes/client/objects';
import { KubeDeploys } from '../builders/kubeDeploys';
import { isPodReady, KubeWorld, NAMESPACE, readPodImage, type KubeWorldOptions } from '../builders/kubeWorld';

/** `mode: recreate`: exactly the chosen pods are replaced, with fields besides the image. */

const FIELDS = { spec: { containers: [{ name: 'app', env: [{ name: 'TIER', value: 'new' }] }] } };

let world: KubeWorld;
let deploys: KubeDeploys;
afterEach(() => world.close());

async function begin(kind: WorkloadKind, options: Partial<KubeWorldOptions> = {}): Promise<void> {
  const { config, ...others } = options;
  world = await KubeWorld.make({
    ...{ kind, workloads: { web: 4 }, config: { mode: 'recreate', template: FIELDS, ...config } },
    ...others,
  });
  deploys = new KubeDeploys(world);
}

interface PodFields {
  readonly containers: readonly { readonly env?: readonly { readonly name: string; readonly value?: string }[] }[];
}

/** `kv:2 new`: the image of a pod and the field that came with it. */
const describePod = (pod: KubeObject): string => {
  const [container] = (pod.spec as unknown as PodFields).containers;
  return `${readPodImage(pod)} ${container?.env?.find(({ name }) => name === 'TIER')?.value ?? 'old'}`;
};
const describePods = async (): Promise<string[]> => (await world.pods('web')).map(describePod).sort();
const list = (old: number, fresh: number): string[] => [
  ...Array<string>(old).fill('kv:1 old'),
  ...Array<string>(fresh).fill('kv:2 new'),
];

/** The workload is as its owners left it: not paused, with its own strategy and template, and without notes of a change. */
async function demandUntouched(before: KubeObject): Promise<void> {
  const now = await world.workload('web');
  const { template, updateStrategy, paused = false } = now.spec as Record<string, unknown>;
  const old = before.spec as Record<string, unknown>;
  expect({ template, updateStrategy, paused }).toEqual({
    ...{ template: old['template'], updateStrategy: old['updateStrategy'], paused: false },
  });
  expect(now.metadata.annotations ?? {}).not.toHaveProperty(['conveyor.dev/replacement']);
}

describe.each(WORKLOAD_KINDS)('pods of a %s that are replaced', (kind) => {
  test('are exactly those that a phase means, and the workload is as before', async () => {
    await begin(kind);
    const before = await world.workload('web');
    const lives = Object.keys(await world.lives('web'));
    const id = await deploys.push('web', 'kv:2', { count: 2 });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
    expect(await describePods()).toEqual(list(2, 2));
    expect(Object.keys(await world.lives('web')).filter((uid) => lives.includes(uid))).toHaveLength(2);
    await demandUntouched(before);
    expect(await deploys.unit('web')).toMatchObject({ size: 4, version: 'kv:1', mixed: true });
  });

  test('return to their earlier fields with a revert, and the others stay', async () => {
    await begin(kind);
    const id = await deploys.push('web', 'kv:2', { count: 2 });
    await world.settle();
    const others = (await world.pods('web')).filter((pod) => readPodImage(pod) === 'kv:1');
    const back = await deploys.push('web', 'kv:1', { updatedBy: [id] });
    await world.settle();
    expect(await deploys.track(back)).toMatchObject({ state: 'done', live: 2 });
    expect(await describePods()).toEqual(list(4, 0));
    expect(Object.keys(await world.lives('web'))).toEqual(
      expect.arrayContaining(others.map(({ metadata }) => metadata.uid)),
    );
  });

  test('stay as they are when the deploy is completed, and new pods have the fields too', async () => {
    await begin(kind);
    const first = await deploys.push('web', 'kv:2');
    await world.settle();
    expect(await deploys.track(first)).toMatchObject({ state: 'done', live: 4 });
    const lives = await world.lives('web');
    const whole = await deploys.push('web', 'kv:2', { whole: true });
    await world.settle();
    expect(await deploys.track(whole)).toMatchObject({ state: 'done', targeted: 0 });
    expect(await world.lives('web')).toEqual(lives);
    expect(await world.templateImage('web')).toBe('kv:2');
    await world.grow('web');
    expect(await describePods()).toEqual(list(0, 5));
  });

  test('return to the template of before when a completed deploy is reverted', async () => {
    await begin(kind);
    const before = await world.workload('web');
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await world.settle();
    expect(await describePods()).toEqual(list(0, 4));
    const back = await deploys.push('web', 'kv:1', { updatedBy: [id] });
    await world.settle();
    expect(await deploys.track(back)).toMatchObject({ state: 'done', live: 4 });
    expect(await describePods()).toEqual(list(4, 0));
    await demandUntouched(before);
  });

  test('come back new if they are lost, and pods that no phase means come back old', async () => {
    await begin(kind);
    await deploys.push('web', 'kv:2', { count: 2 });
    await world.settle();
    const pods = await world.pods('web');
    for (const image of ['kv:1', 'kv:2'])
      await world.losePod(pods.find((pod) => readPodImage(pod) === image)?.metadata.name ?? '', 'web');
    await world.settle();
    expect(await describePods()).toEqual(list(2, 2));
  });

  test.each([0, 1, 2, 3])('are as many as a phase means although others are lost meanwhile: pod %d', async (nth) => {
    await begin(kind, { rules: [{ image: /kv:2/, startMs: 60 }], config: { maxUnavailable: 1 } });
    const before = await world.workload('web');
    const id = await deploys.push('web', 'kv:2', { count: 2 });
    const isHeld = async () => 'conveyor.dev/replacement' in ((await world.workload('web')).metadata.annotations ?? {});
    for (let round = 0; round < 20 && !(await isHeld()); round += 1) await world.step();
    expect(await isHeld()).toBe(true);
    const pods = (await world.pods('web')).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    await world.losePod(pods[nth % pods.length]?.metadata.name ?? '', 'web');
    await world.settle(400);
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 2 });
    expect(await describePods()).toEqual(list(2, 2));
    await demandUntouched(before);
  });

  test('are replaced by as many at once as the config permits', async () => {
    await begin(kind, { rules: [{ image: /kv:2/, startMs: 60 }], config: { maxUnavailable: 1 } });
    let most = 0;
    const stop = world.cluster.store.listen(() => {
      const ready = world.cluster.store
        .list('Pod', NAMESPACE)
        .filter((pod) => isPodReady(pod as never) && pod.metadata.deletionTimestamp === undefined);
      most = Math.max(most, 4 - ready.length);
    });
    await deploys.push('web', 'kv:2', { whole: true });
    await world.settle(400);
    stop();
    expect(await describePods()).toEqual(list(0, 4));
    expect(most).toBe(1);
  });

  test.each(['keeps its memory', 'loses its memory'])(
    'are in order in the end when the push type dies at any request and %s',
    async (memory) => {
      for (let nth = 1; nth < 40; nth += 1) {
        await begin(kind, { workloads: { web: 3 }, config: { maxUnavailable: 3 } });
        let [count, isDead] = [0, false];
        const guard = async <T>(send: () => Promise<T>): Promise<T> => {
          if (isDead) throw new Error('killed');
          count += 1;
          if (count !== nth) return send();
          isDead = true;
          if (nth % 2 === 0) await send();
          throw new Error('killed');
        };
        world.wrap = (api) => ({
          ...api,
          patch: (ref, patch, options) =>
            options.dryRun ? api.patch(ref, patch, options) : guard(() => api.patch(ref, patch, options)),
          create: (resource, object, options) =>
            options?.dryRun
              ? api.create(resource, object, options)
              : guard(() => api.create(resource, object, options)),
        });
        let id = await deploys.push('web', 'kv:2', { whole: true });
        for (let round = 0; round < 150; round += 1) {
          await world.step().catch(() => undefined);
          if (isDead) {
            world.wrap = (api) => api;
            isDead = false;
            if (memory === 'loses its memory') world.lose();
            else world.open();
          }
          const progress = await deploys.track(id).catch(() => undefined);
          if (progress?.state === 'done') break;
          if (progress === undefined || progress.state === 'failed')
            id = await deploys.push('web', 'kv:2', { whole: true });
        }
        await world.settle();
        expect([nth, await describePods()]).toEqual([nth, list(0, 3)]);
        const { metadata, spec } = await world.workload('web');
        expect([nth, Object.keys(metadata.annotations ?? {})]).toEqual([
          nth,
          expect.not.arrayContaining(['conveyor.dev/replacement', 'conveyor.dev/completion']),
        ]);
        expect((spec as { paused?: boolean }).paused ?? false).toBe(false);
        if (count < nth) return expect(nth).toBeGreaterThan(6);
        await world.close();
      }
      throw new Error('a deploy takes more requests than expected');
    },
    300_000,
  );
});

test('an eviction that a disruption budget refuses is waited for, with its reason', async () => {
  await begin('Deployment');
  const fault = world.cluster.server.faults.add({
    ...{ method: 'POST', path: /eviction/, then: { kind: 'tooMany', retryAfter: 1 } },
  });
  const id = await deploys.push('web', 'kv:2', { count: 1 });
  for (let round = 0; round < 4; round += 1) await world.step();
  expect(await deploys.track(id)).toMatchObject({ live: 0, reason: expect.stringContaining('evict') });
  expect((await world.workload('web')).spec).not.toMatchObject({ paused: true });
  fault();
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 1 });
});

test.each(WORKLOAD_KINDS)(
  'a revert replaces pods of a %s that never came up, although a disruption budget refuses every eviction',
  async (kind) => {
    await begin(kind, { rules: [{ image: /kv:2/, neverReady: true }], startTimeoutMs: 400 });
    const id = await deploys.push('web', 'kv:2', { count: 1 });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'failed', live: 0 });
    world.cluster.server.faults.add({ method: 'POST', path: /eviction/, then: { kind: 'tooMany', retryAfter: 1 } });
    const back = await deploys.push('web', 'kv:1', { updatedBy: [id] });
    await world.settle();
    expect(await deploys.track(back)).toMatchObject({ state: 'done', failed: 0 });
    expect(await describePods()).toEqual(list(4, 0));
    expect((await world.pods('web')).every(isPodReady)).toBe(true);
  },
);

test.each(['StatefulSet', 'DaemonSet'] as const)(
  'a canary of a %s and its revert leave no revision behind: an undo returns to the version of before',
  async (kind) => {
    await begin(kind);
    const ref = { kind, namespace: NAMESPACE, name: 'web' };
    const own = { spec: { template: { spec: { containers: [{ name: 'app', image: 'kv:own' }] } } } };
    await world.cluster.api.patch(ref, own, { type: 'strategic' });
    await world.until('their rollout ends', async () => {
      await world.calm();
      const pods = await world.pods('web');
      return pods.length === 4 && pods.every((pod) => isPodReady(pod) && readPodImage(pod) === 'kv:own');
    });
    const id = await deploys.push('web', 'kv:2', { count: 1 });
    await world.settle();
    expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 1 });
    await deploys.push('web', 'kv:own', { updatedBy: [id] });
    await world.settle();
    const revisions = world.cluster.store
      .list('ControllerRevision', NAMESPACE)
      .toSorted((one, other) => (one.revision ?? 0) - (other.revision ?? 0));
    expect(revisions.map(({ data }) => /kv:\w+/.exec(JSON.stringify(data))?.[0])).toEqual(['kv:1', 'kv:own']);
    expect(JSON.stringify(revisions)).not.toContain('conveyor.dev/task');
  },
);

test('pods of an ordered StatefulSet, which come one after another, have the time of a start each', async () => {
  await begin('StatefulSet', {
    ...{ spec: { podManagementPolicy: 'OrderedReady' }, config: { maxUnavailable: '100%' } },
    startTimeoutMs: 300_000,
  });
  let lateMs = 0;
  world.now = () => Date.now() + lateMs;
  const id = await deploys.push('web', 'kv:2', { whole: true });
  let ready = 0;
  await world.until(
    'the update ends',
    async () => {
      const fresh = (await world.pods('web')).filter((pod) => isPodReady(pod) && readPodImage(pod) === 'kv:2').length;
      // Each takes 200 s to become ready, the four of them 800 s.
      if (fresh > ready) [ready, lateMs] = [fresh, lateMs + 200_000];
      await world.step();
      return (await deploys.track(id))?.state !== 'updating' && ready > 0;
    },
    60_000,
  );
  expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
  expect(await describePods()).toEqual(list(0, 4));
});

test('fields that the cluster refuses fail the update with its reason, and nothing changes', async () => {
  await begin('Deployment', { config: { template: { metadata: { labels: { app: 'other' } } } } });
  const before = await world.workload('web');
  const id = await deploys.push('web', 'kv:2', { count: 1 });
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'failed', reason: expect.stringContaining('labels') });
  expect(await describePods()).toEqual(list(4, 0));
  await demandUntouched(before);
});

test('fields besides the image need mode: recreate, and drain does not go with it', async () => {
  await begin('Deployment');
  const ask = async (config: object) =>
    (await deploys.call('validateConfig', {}, 'validate', { ...world.config, ...config })).problems.map(
      ({ message }) => message,
    );
  expect(await ask({})).toEqual([]);
  expect(await ask({ mode: 'in-place' })).toEqual([expect.stringContaining('mode: recreate')]);
  expect(await ask({ drain: '1s' })).toEqual([expect.stringContaining('leave drain out')]);
});
