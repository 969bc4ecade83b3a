import { deployAction, flow, slowAction, untilAction } from './flows';
import { VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const input = (name: string, version: string) => ({ name, kind: name, version, metadata: {} });

/** Builds, tests and deploys; the configuration is an input only of the test. */
const shop = flow(
  {
    build: slowAction(1, { inputs: ['source'], outputs: ['executable'] }),
    test: slowAction(10, { inputs: ['executable', 'config'] }),
    deploy: deployAction('1m', { needs: ['test'] }),
  },
  { artifacts: { source: { finder: 'manual' }, config: { finder: 'manual' } } },
);

test('a version that failed is not taken by a release of something else, which takes the one that came through', async () => {
  await world.apply(shop);
  await world.start('kvstore', { artifacts: [input('source', 'kv:2'), input('config', '1')] });
  await world.ended('kvstore', 1);
  world.slow.broken.add('test');
  await world.start('kvstore', { artifacts: [input('source', 'kv:3')] });
  await world.ended('kvstore', 2);
  world.slow.broken.clear();
  const started = await world.start('kvstore', { artifacts: [input('config', '2')] });
  expect(started.passedOver).toEqual(['source@kv:3 failed in release 2, so it takes source@kv:2']);
  expect((await world.ended('kvstore', 3)).state).toBe('succeeded');
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:2': 6 });
});

test('a build that makes what is known to be bad says so at once, and what lets it be deployed', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.apply(shop);
  const artifacts = [input('source', 'kv:2'), input('config', '1')];
  await world.start('kvstore', { artifacts });
  await world.ended('kvstore', 1);
  await world.start('kvstore', { artifacts });
  await untilAction(world, 2, 'test', ({ state }) => state === 'running');
  const { actions, timeline } = await world.releaseStatus('kvstore', 2);
  expect(actions[0]).toMatchObject({ name: 'build', knownBad: ['executable@kv:2'] });
  expect(timeline.map(({ kind }) => kind)).toContain('known-bad');
  const ended = await world.ended('kvstore', 2);
  expect(ended).toMatchObject({ state: 'cancelled', cause: 'bad-package' });
  expect(ended.actions[2]).toMatchObject({ name: 'deploy', knownBad: ['executable@kv:2'] });
});
