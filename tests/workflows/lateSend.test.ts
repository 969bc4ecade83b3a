import { answering } from './answering';
import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const region of ['x', 'y']) await world.job(`kvstore-${region}`, region, 6);
});
afterEach(() => world.close());

/** The number of tasks of each region on the new version. */
const updated = async () => (await world.jobs()).map(({ versions }) => versions['kv:2'] ?? 0);

test('an update that had not been sent when a group was paused is sent once no group is paused, since it begins in all of them', async () => {
  const few = { name: 'few', scope: '*', amount: 1, bake: '10m' } as const;
  const deploy = await deploying(
    world,
    {},
    {
      ...{ mode: 'parallel', pauseBy: 'region', maxPaused: 1 },
      phases: [few, { ...few, name: 'all', amount: '100%' }],
    },
  );
  await deploy.reaches(({ state }) => state === 'baking');
  const deaf = { kind: 'http', service: 'twine', method: 'executeUpdates', mode: 'error' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', deaf);
  await deploy.reaches(({ phases, paused }) => phases[1]?.state === 'running' && paused?.by === 'dependency');
  await deploy.command('pause');
  await world.describeVersion('kv:2', { errorRatio: 0.2, onlyRegion: 'y' });
  await world.sleep(10 * MINUTE);
  await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('resume');
  await deploy.reaches(({ paused }) => paused === null);
  await world.sleep(HOUR);
  expect(await deploy.status()).toMatchObject({ paused: null, pausedGroups: [{ group: 'region:y' }] });
  expect(await updated()).toEqual([1, 1]);
  await world.describeVersion('kv:2', {});
  expect((await deploy.ended()).outcome).toBe('succeeded');
  expect(await updated()).toEqual([6, 6]);
});

test('a pause that a person ends before an update is taken loses nothing: the update is sent again', async () => {
  let arrive = (): void => undefined;
  let answer = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const answered = new Promise<void>((resolve) => (answer = resolve));
  answering(world, async ({ method }, real) => {
    if (method !== 'executeUpdates') return undefined;
    arrive();
    await answered;
    return real();
  });
  const deploy = await deploying(world, {}, { phases: [], healthChecks: [] });
  await arrived;
  await deploy.command('pause');
  await deploy.command('resume');
  answer();
  expect((await deploy.ended()).outcome).toBe('succeeded');
  expect(await updated()).toEqual([6, 6]);
});
