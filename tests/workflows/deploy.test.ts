import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6);
  await world.job('kvstore-y', 'y', 6);
});
afterEach(() => world.close());

test('a good version goes through every phase onto every task', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  const release = await world.ended('kvstore', 1);
  expect(release).toMatchObject({ state: 'succeeded', cause: null });
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy).toMatchObject({ state: 'ended', outcome: 'succeeded', classification: 'success' });
  expect(deploy.phases.map(({ name, state }) => [name, state])).toEqual([
    ['first', 'succeeded'],
    ['completion', 'succeeded'],
  ]);
  for (const job of await world.jobs()) expect(job).toMatchObject({ versions: { 'kv:2': 6 }, jobVersion: 'kv:2' });
});
