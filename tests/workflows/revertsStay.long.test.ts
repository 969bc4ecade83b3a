import { answering, away, refusal } from './answering';
import { deploying } from './deploys';
import { MINUTE, VirtualWorld } from './world';

/** A revert that had trouble continues whatever Temporal is asked, and only a person ends one that cannot finish. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6, { timings: { fetchMs: 10 * MINUTE, stopMs: 1_000, startMs: 2_000 } });
});
afterEach(() => world.close());

const ONE = { config: { jobs: ['kvstore-x'] }, phases: [], healthChecks: [] };
const back = async () => expect((await world.jobs())[0]?.versions).toEqual({ 'kv:1': 6 });
const revertsRefused = () => answering(world, ({ urgency }) => (urgency === 'revert' ? refusal() : undefined));

/** A deploy whose revert was refused once, and now runs again. */
async function again() {
  const deploy = await deploying(world, {}, { ...ONE, completion: { bake: '8h' } });
  await deploy.reaches(({ state }) => state === 'baking');
  const takes = revertsRefused();
  await deploy.command('revert');
  await deploy.reaches(({ state, paused }) => state === 'reverting' && paused !== null, { stepMs: 10_000 });
  takes();
  await deploy.reaches(({ paused }) => paused === null);
  await world.sleep(MINUTE);
  return deploy;
}

test('a cancel through Temporal ends no revert that was refused once and is under way again', async () => {
  const deploy = await again();
  await deploy.handle.cancel();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await deploy.status()).timeline.map(({ kind }) => kind)).toContain('ignored');
  await back();
});

test('a person may end such a revert', async () => {
  const deploy = await again();
  expect(await deploy.command('cancel')).toMatchObject({ accepted: true });
  expect(await deploy.ended()).toMatchObject({ outcome: 'revert-failed' });
});

test('a person may pause a revert that is to be tried again, and it stays paused until it is resumed', async () => {
  const deploy = await deploying(world, {}, { ...ONE, completion: { bake: '8h' } });
  await deploy.reaches(({ state }) => state === 'baking');
  const takes = revertsRefused();
  await deploy.command('revert');
  await deploy.reaches(({ state, paused }) => state === 'reverting' && paused !== null, { stepMs: 10_000 });
  await deploy.command('pause');
  takes();
  await world.sleep(60 * MINUTE);
  expect((await deploy.status()).paused).toMatchObject({ by: 'operator' });
  expect((await world.jobs())[0]?.versions).toEqual({ 'kv:2': 6 });
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  await back();
});

test('a canary that was cancelled before it could go back goes back though it is refused at first', async () => {
  const canary = { amount: { count: 2 }, bakeMs: 30 * MINUTE, keepUntil: false };
  const deploy = await deploying(world, { action: 'canary', canary }, ONE);
  await deploy.reaches(({ state }) => state === 'baking');
  const answers = answering(world, ({ method }) => (method === 'fetchDeployUnits' ? away() : undefined));
  await deploy.reaches(({ paused }) => paused?.by === 'dependency');
  await deploy.handle.cancel();
  answers();
  const takes = revertsRefused();
  await deploy.reaches(({ state, paused }) => state === 'ended' || (state === 'reverting' && paused !== null), {
    stepMs: 10_000,
  });
  takes();
  expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled' });
  await back();
});
