import { answering, away, refusal } from './answering';
import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** A revert begins whatever else is broken, and health is watched whatever a deploy waits for. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job) => [job.name, job.versions]));
const SLOW = { timings: { fetchMs: 10 * MINUTE, stopMs: 1_000, startMs: 2_000 } };
const store = async (more: object = {}) => {
  await world.job('kvstore-x', 'x', 6, more);
  await world.job('kvstore-y', 'y', 6);
};

test.each([
  ['refuses', refusal],
  ['is away', away],
])('a revert does not wait until the updates before it are cancelled, where the push type %s', async (_, answer) => {
  await store(SLOW);
  const deploy = await deploying(world);
  await deploy.reaches(({ state }) => state === 'updating');
  await world.sleep(MINUTE);
  answering(world, ({ method }) => (method === 'cancelUpdates' ? answer() : undefined));
  await deploy.command('revert');
  const { revert } = await deploy.reaches((status) => status.revert !== null, { stepMs: 1_000, withinMs: MINUTE });
  expect(revert?.by).toBe('user:alice');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

/** The completion is refused once the first phase has passed; its tasks become bad later. */
async function refused(onUnhealthy: 'revert' | 'pause' = 'revert') {
  await store();
  await world.describeVersion('kv:2', { errorRatio: 0.5, afterMs: 20 * MINUTE });
  const takes = answering(world, ({ method, updateId }) =>
    method === 'executeUpdates' && updateId?.includes('/1/1') ? refusal() : undefined,
  );
  const deploy = await deploying(world, {}, { onUnhealthy });
  await deploy.reaches(({ paused }) => paused?.until === 'resumed');
  return { deploy, takes };
}

test('tasks that become unhealthy while an update is refused revert the deploy', async () => {
  const { deploy } = await refused();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

test('so they do when a person has paused it since', async () => {
  const { deploy } = await refused();
  await deploy.command('pause');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

test('a healthy verdict does not end the pause of a refusal, and a resume asks for one', async () => {
  const { deploy, takes } = await refused('pause');
  await world.sleep(10 * MINUTE);
  expect((await deploy.status()).paused).toMatchObject({ by: 'dependency', until: 'resumed' });
  await world.sleep(HOUR);
  takes();
  await deploy.command('resume');
  await world.sleep(30 * MINUTE);
  expect((await deploy.status()).paused).not.toBeNull();
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

test('a resume of a refused update continues on a healthy verdict', async () => {
  await store();
  const takes = answering(world, ({ method, updateId }) =>
    method === 'executeUpdates' && updateId?.includes('/1/1') ? refusal() : undefined,
  );
  const deploy = await deploying(world);
  await deploy.reaches(({ paused }) => paused?.until === 'resumed');
  takes();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});

test('a phase that is skipped is not waited for because its update was refused', async () => {
  await store();
  answering(world, ({ method, updateId }) =>
    method === 'executeUpdates' && updateId?.includes('/0/1') ? refusal() : undefined,
  );
  const deploy = await deploying(world);
  await deploy.reaches(({ paused }) => paused?.until === 'resumed');
  await deploy.command('skip-phase');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect((await deploy.status()).phases.map(({ state }) => state)).toEqual(['skipped', 'succeeded']);
});
