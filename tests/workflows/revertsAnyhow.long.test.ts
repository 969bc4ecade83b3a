import { answering, away, refusal } from './answering';
import { deploying, type LoneDeploy } from './deploys';
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

const goesBack = async (deploy: LoneDeploy, limits: object) => {
  await deploy.reaches(({ revert }) => revert !== null, { stepMs: 1_000, ...limits });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
};
const cancelsNothing = () => answering(world, ({ method }) => (method === 'cancelUpdates' ? away() : undefined));

test('a revert does not wait for the cancel that was given before it', async () => {
  await store(SLOW);
  const deploy = await deploying(world);
  await deploy.reaches(({ state }) => state === 'updating');
  await world.sleep(MINUTE);
  cancelsNothing();
  await deploy.command('cancel');
  await world.sleep(2 * MINUTE);
  await deploy.command('revert');
  await goesBack(deploy, { withinMs: MINUTE });
});

test('a revert does not wait for the rest of a completion that a pause is to stop', async () => {
  await store({ timings: { fetchMs: 20 * MINUTE, stopMs: 1_000, startMs: 2_000 } });
  const completion = { bake: '6h', success: '50%' };
  const deploy = await deploying(world, {}, { phases: [], completion, healthChecks: [] });
  await deploy.reaches(({ state }) => state === 'baking');
  cancelsNothing();
  await deploy.command('pause');
  await world.sleep(2 * MINUTE);
  await deploy.command('revert');
  await goesBack(deploy, { withinMs: MINUTE });
});

test('tasks that come up dead revert the deploy although their update is not cancelled', async () => {
  await store();
  await world.describeVersion('kv:2', { crashOnStart: true });
  cancelsNothing();
  const deploy = await deploying(world, {}, { onUnhealthy: 'revert' });
  await goesBack(deploy, { withinMs: HOUR });
});

test('nothing is tried again before the update that came up dead is cancelled', async () => {
  await store();
  await world.describeVersion('kv:2', { crashOnStart: true });
  const cancels = cancelsNothing();
  const deploy = await deploying(world, {}, { onUnhealthy: 'pause', healthChecks: [] });
  await deploy.reaches(({ paused }) => paused?.by === 'health');
  await deploy.command('resume');
  await world.sleep(HOUR);
  expect((await deploy.status()).updates).toHaveLength(1);
  cancels();
  await deploy.reaches(({ updates }) => updates?.length === 2);
  await deploy.command('revert');
  await goesBack(deploy, { withinMs: MINUTE });
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
