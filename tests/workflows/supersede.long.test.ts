import { actionOf, deployAction, endsOf, flow, slowAction, untilAction, CALM, type Actions } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const baking = (release: number) => world.reaches('kvstore', release, ({ state }) => state === 'baking');
const running = { releases: { supersede: 'running' } } as const;

test('supersede: running. An older deploy ends before its next phase, and the newer one takes over', async () => {
  const phases = [{ name: 'first', scope: 'region:x', amount: 3, bake: '2h' }];
  await world.apply(kvstore({ phases, healthInterval: '10m' }, running), CALM);
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.release('kvstore', 'kv:3');
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy === 'release 1 deploys and was asked to make way');
  await world.sleep(HOUR);
  expect((await world.deployStatus('kvstore', 1)).state).toBe('baking');
  await world.ended('kvstore', 2, { stepMs: 10 * MINUTE });
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (superseded)', 'succeeded']);
  const { phases: done } = await world.deployStatus('kvstore', 1);
  expect(done.map(({ state }) => state)).toEqual(['succeeded', 'waiting']);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:3': 6 });
});

test('supersede: running. A deploy in its last phase ends as it would have', async () => {
  await world.apply(flow({ deploy: deployAction('2h', {}, '10m') }, running), CALM);
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2, { stepMs: 10 * MINUTE });
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
});

test('supersede: running. The successor reverts to the version before the deploy that made way', async () => {
  await world.describeVersion('kv:3', { errorRatio: 0.2 });
  await world.apply(kvstore({}, running), CALM);
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  const { outcome, revert } = await world.deployStatus('kvstore', 2);
  expect(outcome).toBe('reverted');
  expect(new Set(revert?.units.map(({ toVersion }) => toVersion))).toEqual(new Set(['kv:1']));
  for (const { versions } of await world.jobs()) expect(Object.keys(versions)).not.toContain('kv:3');
});

test('supersede: waiting. The tests of an older release finish before it ends superseded', async () => {
  const actions = {
    test: slowAction(60),
    fast: slowAction(1),
    deploy: deployAction('5m', { needs: ['fast'] }),
  };
  await world.apply(flow(actions), CALM);
  await world.command('pipeline/kvstore', 'hold', { reason: 'look' });
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'blocked');
  await world.release('kvstore', 'kv:3');
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'cancelled');
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'test')?.state).toBe('running');
  await world.ended('kvstore', 1);
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'test')?.state).toBe('succeeded');
  expect(await endsOf(world, [1])).toEqual(['cancelled (superseded)']);
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [2])).toEqual(['succeeded']);
});

test('supersede: waiting. A release whose build took longer never deploys after a newer one', async () => {
  const build: Actions[string] = {
    type: 'custom',
    inputs: ['source'],
    outputs: ['executable'],
    with: { service: 'slow' },
  };
  const source = (n: number, minutes: number) => ({
    ...{ name: 'source', kind: 'source', version: `kv:${n}`, metadata: { build: String(minutes * MINUTE) } },
  });
  const more = { artifacts: { source: { finder: 'manual' } } };
  await world.apply(flow({ build, deploy: deployAction('5m') }, more), CALM);
  await world.start('kvstore', { artifacts: [source(2, 120)] });
  await world.start('kvstore', { artifacts: [source(3, 10)] });
  await world.ended('kvstore', 2);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (superseded)', 'succeeded']);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:3': 6 });
});
