import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** A silent lock keeps no revert from beginning. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());
afterEach(() => void jest.restoreAllMocks());

const LOCK = 'lock/twine/kvstore';

/** From now on the lock does not answer. */
function silence(): void {
  const { workflow } = world.client;
  const real = workflow.getHandle.bind(workflow);
  jest.spyOn(workflow, 'getHandle').mockImplementation((id, ...rest) => {
    const handle = real(id, ...rest);
    return id === LOCK ? { ...handle, describe: () => Promise.reject(new Error('unavailable')) } : handle;
  });
}

test('a revert does not wait for a lock that does not say which canaries there are before the completion', async () => {
  const deploy = await deploying(world, {}, { healthChecks: [] });
  await deploy.reaches(({ state }) => state === 'baking');
  silence();
  await deploy.reaches(({ phases }) => phases[0]?.state === 'succeeded');
  await world.sleep(10_000);
  await deploy.command('revert');
  const { revert } = await deploy.reaches((status) => status.revert !== null, { stepMs: 1_000, withinMs: MINUTE });
  expect(revert?.by).toBe('user:alice');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:1': 6 });
});

test('a canary goes back although its lock does not answer', async () => {
  const canary = { amount: { count: 2 }, bakeMs: 4 * HOUR, keepUntil: false };
  const deploy = await deploying(world, { action: 'canary', canary }, { healthChecks: [] });
  await deploy.reaches(({ state }) => state === 'baking');
  jest.spyOn(world.client.workflow, 'signalWithStart').mockRejectedValue(new Error('unavailable'));
  await deploy.command('revert');
  await world.sleep(5 * MINUTE);
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:1': 6 });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});
