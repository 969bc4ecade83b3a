import { answering, refusal } from './answering';
import { deploying, type LoneDeploy } from './deploys';
import { MINUTE, VirtualWorld } from './world';

/** Reverts of units that other deploys update meanwhile, or that are refused for another reason. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const SLOWLY = { nSmall: 1, timings: { fetchMs: 5 * MINUTE, stopMs: 1_000, startMs: 1_000 } };
const ONE = { config: { jobs: ['kvstore-x'] }, healthChecks: [] };
const versions = async () => Object.assign({}, ...(await world.jobs()).map((job) => job.versions)) as object;

const canary = (release: number): Promise<LoneDeploy> =>
  deploying(
    world,
    { release, action: 'canary', canary: { amount: { count: 2 }, bakeMs: 8 * 60 * MINUTE, keepUntil: false } },
    ONE,
  );

const textsOf = async (deploy: LoneDeploy) => (await deploy.status()).timeline.map(({ text }) => text).join('\n');

test('canaries of one unit go back at the same time: none waits for another', async () => {
  await world.job('kvstore-x', 'x', 8, SLOWLY);
  const canaries = [await canary(2), await canary(3)];
  for (const one of canaries) await one.reaches(({ state }) => state === 'baking');
  for (const one of canaries) await one.command('revert');
  await world.sleep(MINUTE);
  for (const one of canaries) expect(await one.status()).toMatchObject({ state: 'reverting', paused: null });
  for (const one of canaries) expect(await one.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kv:1': 8 });
});

test('a canary that stands still in the middle of its update keeps no deploy from going back', async () => {
  await world.job('kvstore-x', 'x', 8, SLOWLY);
  const deploy = await deploying(world, { release: 2 }, { ...ONE, phases: [{ scope: '*', amount: 3, bake: '8h' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  const guest = await canary(3);
  await guest.reaches(({ state }) => state === 'updating');
  await world.sleep(MINUTE);
  await guest.command('pause');
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await textsOf(deploy)).not.toContain('paused');
  await guest.command('resume');
  await guest.reaches(({ state }) => state === 'baking');
  expect(await versions()).toEqual({ 'kv:1': 6, 'kv:3': 2 });
  await guest.command('revert');
  await guest.ended();
});

describe.each([
  ['of all that it updated', ['kvstore-x']],
  ['of one of two units', ['kvstore-x', 'kvstore-y']],
])('a revert that is refused %s', (_, jobs) => {
  test('shows the refusal of the push type, and continues once it is taken', async () => {
    for (const job of jobs) await world.job(job, job.slice(-1), 4);
    const deploy = await deploying(world, {}, { ...ONE, config: { jobs }, phases: [], completion: { bake: '8h' } });
    await deploy.reaches(({ state }) => state === 'baking');
    const takes = answering(world, ({ urgency, targets = [] }) =>
      urgency === 'revert' && targets.some(({ unit }) => unit === 'kvstore-x') ? refusal() : undefined,
    );
    await deploy.command('revert');
    const { paused } = await deploy.reaches(({ paused: why }) => why !== null, { stepMs: 10_000 });
    expect(paused).toMatchObject({
      by: 'dependency',
      reason: 'twine does not take back kvstore-x: twine rejected executeUpdates (409): no: not today',
    });
    const jobsNow = await world.jobs();
    expect(jobsNow.map(({ name, jobVersion }) => [name, jobVersion])).toEqual(
      jobs.map((name) => [name, name === 'kvstore-x' ? 'kv:2' : 'kv:1']),
    );
    expect(await textsOf(deploy)).not.toContain('says nothing');
    takes();
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect(await versions()).toEqual({ 'kv:1': 4 });
  });
});

test('a unit that was refused once does not wait until all others are back', async () => {
  await world.job('kvstore-x', 'x', 2);
  await world.job('kvstore-y', 'y', 8, { nSmall: 1, timings: { ...SLOWLY.timings, stopMs: 10 * MINUTE } });
  const deploy = await deploying(
    world,
    {},
    { ...ONE, config: { jobs: ['kvstore-x', 'kvstore-y'] }, phases: [], completion: { bake: '8h' } },
  );
  await deploy.reaches(({ state }) => state === 'baking');
  const takes = answering(world, ({ urgency, targets = [] }) =>
    urgency === 'revert' && targets.some(({ unit }) => unit === 'kvstore-x') ? refusal() : undefined,
  );
  await deploy.command('revert');
  await world.sleep(MINUTE);
  takes();
  await world.sleep(14 * MINUTE);
  const [x, y] = await world.jobs();
  expect(x?.versions).toEqual({ 'kv:1': 2 });
  expect(y?.versions).toMatchObject({ 'kv:2': expect.any(Number) as number });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kv:1': 8 });
});
