import type { KubeUnit } from '../../push-types/kubernetes/unitReader';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld, NAMESPACE, type KubeWorldOptions } from '../builders/kubeWorld';

/** The settings that an update follows, while people plan and check others. */

let world: KubeWorld;
let deploys: KubeDeploys;

async function begin(more: Partial<KubeWorldOptions> = {}): Promise<void> {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 4 }, ...more });
  deploys = new KubeDeploys(world);
}

afterEach(() => world.close());

const count = async (image: string): Promise<number> =>
  (await world.images('web')).filter((one) => one === image).length;

/** `conveyor plan` of a file that was never applied. */
const planDraft = (fields: Readonly<Record<string, unknown>>) =>
  deploys.call('fetchDeployUnits', {}, 'plan', { ...world.config, ...fields });
const checkDraft = (fields: Readonly<Record<string, unknown>>) =>
  deploys.call('validateConfig', { version: 'kv:7', artifacts: [] }, 'check', { ...world.config, ...fields });

const stored = (): KubeUnit | undefined => world.fleet.state.enrolled?.[world.unit('web')];

test('a plan or a check of a draft in the middle of an update changes none of its settings', async () => {
  await begin({ rules: [{ image: /kv:2/, neverReady: true }], startTimeoutMs: 60_000 });
  const id = await deploys.push('web', 'kv:2', { whole: true });
  await world.step();
  expect(await count('kv:2')).toBe(1);
  const before = stored();
  await checkDraft({ maxUnavailable: '100%', minReadySeconds: 9 });
  await planDraft({ maxUnavailable: '100%', mode: 'recreate', image: 'elsewhere/kv' });
  for (let round = 0; round < 3; round += 1) await world.step();
  expect([await count('kv:2'), stored()]).toEqual([1, before]);
  expect((await deploys.track(id))?.state).toBe('updating');
});

test('an update brings its own settings, and a revert of it keeps them', async () => {
  await begin({ rules: [{ image: /kv:2/, neverReady: true }], startTimeoutMs: 60_000 });
  await deploys.unit('web');
  world.useConfig({ ...world.config, maxUnavailable: '100%' });
  const id = await deploys.push('web', 'kv:2', { whole: true });
  await world.step();
  expect(await count('kv:2')).toBe(4);
  world.useConfig(undefined);
  const back = await deploys.push('web', 'kv:1', { updatedBy: [id] });
  expect(stored()?.maxUnavailable).toBe('100%');
  await world.settle();
  expect([await count('kv:1'), (await deploys.track(back))?.state]).toEqual([4, 'done']);
});

const TWO = {
  podSpec: {
    containers: [
      { name: 'app', image: 'kv:1' },
      { name: 'side', image: 'log:1' },
    ],
  },
};
const naming = (container: string) => ({
  workloads: [{ kind: 'Deployment', namespace: NAMESPACE, name: 'web', container }],
});

test('a plan for another container shows the versions of that one, and the update under way continues with its own', async () => {
  await begin({ ...TWO, config: naming('app') });
  const id = await deploys.push('web', 'kv:2', { whole: true });
  await world.step();
  const { units } = await planDraft(naming('side'));
  expect(units).toEqual([expect.objectContaining({ version: 'log:1', size: 4, mixed: false })]);
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'done', live: 4 });
  expect(await world.templateImage('web')).toBe('kv:2');
});

test('an update of another container waits for that of the first, and then changes its own', async () => {
  await begin({ ...TWO, config: naming('app') });
  const id = await deploys.push('web', 'kv:2', { whole: true });
  world.useConfig({ ...world.config, ...naming('side') });
  await expect(deploys.push('web', 'log:2', { whole: true })).rejects.toThrow(
    'an update of its container app is under way',
  );
  await world.settle();
  expect(await deploys.track(id)).toMatchObject({ state: 'done' });
  const other = await deploys.push('web', 'log:2', { whole: true });
  await world.settle();
  expect(await deploys.track(other)).toMatchObject({ state: 'done', live: 4 });
  const { spec } = await world.workload('web');
  expect(JSON.stringify(spec)).toMatch(/kv:2.*log:2/);
});

test('pods that were being replaced when a deploy in place began are finished first, and the workload is as it was', async () => {
  await begin({
    ...{ rules: [{ image: /kv:2/, neverReady: true }], startTimeoutMs: 60_000 },
    config: { mode: 'recreate' },
  });
  const first = await deploys.push('web', 'kv:2', { count: 1 });
  await world.until('pods are being replaced', async () => (await world.step(), (await count('kv:2')) === 1));
  expect((await world.workload('web')).spec).toMatchObject({ paused: true });
  await deploys.call('cancelUpdates', { updateId: first });
  world.useConfig({ ...world.config, mode: 'in-place' });
  const next = await deploys.push('web', 'kv:3', { whole: true });
  await world.settle();
  expect(await deploys.track(next)).toMatchObject({ state: 'done', live: 4 });
  const { metadata, spec } = await world.workload('web');
  expect(metadata.annotations).not.toHaveProperty(['conveyor.dev/replacement']);
  expect(spec).toMatchObject({ paused: false });
  expect([await count('kv:3'), await world.templateImage('web')]).toEqual([4, 'kv:3']);
});
