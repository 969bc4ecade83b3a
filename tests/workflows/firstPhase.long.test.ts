import { deploying, type LoneDeploy } from './deploys';
import { MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const region of ['x', 'y']) await world.job(`kvstore-${region}`, region, 6);
});
afterEach(() => world.close());

const lose = (region: string) =>
  world.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: region });
const restore = ({ id }: { id: string }) => world.control('DELETE', `/control/faults/${id}`);
const versions = async () => (await world.jobs()).map((job) => job.versions);

const FIRST = { name: 'first', scope: 'region:x', amount: 3, bake: '10m', updateTimeout: '30m' } as const;
const push = (more: object = {}, input: object = {}): Promise<LoneDeploy> =>
  deploying(world, input, {
    onUnitUnavailable: 'skip',
    phases: [FIRST, { ...FIRST, name: 'half', scope: '*', amount: '50%' }],
    ...more,
  });
const isPaused = (deploy: LoneDeploy) => deploy.reaches(({ paused }) => paused !== null);
const WHY =
  'kvstore-x is unavailable, and with it all of phase first, the first that would meet kv:2; ' +
  'resume when it is back, or skip-phase to begin with the next';

test('where all of the first phase is unavailable, a later one is not the first without a person who says so', async () => {
  const fault = await lose('x');
  const deploy = await push();
  expect((await isPaused(deploy)).paused).toMatchObject({ by: 'unit', reason: WHY });
  await deploy.command('resume');
  await world.sleep(MINUTE);
  expect((await isPaused(deploy)).paused).toMatchObject({ by: 'unit', reason: WHY });
  expect(await versions()).toEqual([{ 'kv:1': 6 }, { 'kv:1': 6 }]);
  await deploy.command('skip-phase');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-x'] });
  expect((await deploy.status()).phases.map(({ state }) => state)).toEqual(['skipped', 'succeeded', 'succeeded']);
  await restore(fault);
});

test('once it is back the first phase is the first, and a revert knows what its units ran', async () => {
  const fault = await lose('x');
  const deploy = await push();
  await isPaused(deploy);
  await restore(fault);
  await world.sleep(10 * MINUTE);
  await deploy.command('resume');
  await deploy.reaches(({ state }) => state === 'baking');
  expect(await versions()).toEqual([{ 'kv:1': 3, 'kv:2': 3 }, { 'kv:1': 6 }]);
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual([{ 'kv:1': 6 }, { 'kv:1': 6 }]);
});

test('a first phase that loses all of its units is not passed over either', async () => {
  const deploy = await push({ phases: [{ ...FIRST, pre: [{ service: 'slow', with: { takesMs: 5 * MINUTE } }] }] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  const fault = await lose('x');
  const { paused } = await isPaused(deploy);
  expect(paused).toMatchObject({ by: 'unit', reason: WHY });
  expect(await versions()).toMatchObject([{}, { 'kv:1': 6 }]);
  await restore(fault);
  await world.sleep(10 * MINUTE);
  await deploy.command('resume');
  const { skipped } = await deploy.ended();
  expect(skipped).toBeUndefined();
  expect(await versions()).toEqual([{ 'kv:2': 6 }, { 'kv:2': 6 }]);
});

test('an emergency does not wait for it', async () => {
  await lose('x');
  const deploy = await push({}, { emergency: { skipBake: false } });
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-x'] });
});

test('a first phase of which no task could be updated in time continues when a person resumes, although there is nothing to judge', async () => {
  const pre = [{ service: 'slow', with: { takesMs: 5 * MINUTE } }];
  const deploy = await push({ onUnitUnavailable: 'pause', phases: [{ ...FIRST, pre }] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  const fault = await lose('x');
  expect((await isPaused(deploy)).paused).toMatchObject({ by: 'timeout' });
  await restore(fault);
  await world.sleep(10 * MINUTE);
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});

test('a phase that is skipped while the push type is asked which units are lost leaves no pause behind', async () => {
  const pre = [{ service: 'slow', with: { takesMs: 5 * MINUTE } }];
  const deploy = await push({
    phases: [
      { ...FIRST, pre },
      { ...FIRST, name: 'half', scope: '*', amount: '50%' },
    ],
  });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  const region = await lose('x');
  const http = { kind: 'http', service: 'twine', method: 'fetchDeployUnits', mode: 'down' };
  const silence = await world.control<{ id: string }>('POST', '/control/faults', http);
  expect((await isPaused(deploy)).paused).toMatchObject({ by: 'dependency' });
  await deploy.command('skip-phase');
  await restore(region);
  await restore(silence);
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});
