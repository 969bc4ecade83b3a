import { answering, away, refusal, type Asked } from './answering';
import { deploying } from './deploys';
import { flow, slowAction, untilAction, type Actions } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** A version that a rollback undoes is bad: the rollback waits for as little as a revert, and succeeds whatever is in its way. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());
afterEach(() => void jest.restoreAllMocks());

/** To kv:2, from kv:1, which is the bad one here. */
const rollback = (deploy: Parameters<typeof deploying>[2] = { healthChecks: [] }) =>
  deploying(world, { rollback: true }, deploy);
const versions = async () => (await world.jobs()).map((job) => job.versions);
const EVERYWHERE = [{ 'kv:2': 6 }, { 'kv:2': 6 }];

test('a rollback whose tasks do not come up brings nothing bad back: it says so, and continues once they do', async () => {
  await world.describeVersion('kv:2', { crashOnStart: true, onlyRegion: 'x' });
  const deploy = await rollback({ healthChecks: [], onUnhealthy: 'revert' });
  const { paused, state } = await deploy.reaches((status) => status.paused !== null);
  expect([state, paused?.by, paused?.reason]).toEqual([
    'updating',
    'timeout',
    expect.stringContaining('the old version does not come up'),
  ]);
  await world.sleep(10 * MINUTE);
  expect((await versions())[1]).toEqual({ 'kv:2': 6 });
  await world.describeVersion('kv:2', {});
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', reverted: null });
  expect(await versions()).toEqual(EVERYWHERE);
});

test('a person may continue without the tasks of one that do not come up', async () => {
  await world.describeVersion('kv:2', { crashOnStart: true, onlyRegion: 'x' });
  const deploy = await rollback();
  await deploy.reaches((status) => status.paused !== null);
  expect(await deploy.command('resume', { acceptMissing: true })).toMatchObject({ accepted: true });
  const { outcome, reason } = await deploy.ended();
  expect([outcome, reason]).toEqual(['succeeded', expect.stringMatching(/\d tasks?.* accepted by user:alice/)]);
});

test('a cancel between two tries gives up the updates of the last one', async () => {
  await world.describeVersion('kv:2', { crashOnStart: true, onlyRegion: 'x' });
  const given: (string | undefined)[] = [];
  answering(world, ({ method }) => void given.push(method));
  const deploy = await rollback();
  await deploy.reaches((status) => status.paused !== null);
  expect(given).not.toContain('cancelUpdates');
  expect(await deploy.command('cancel')).toMatchObject({ accepted: true });
  expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled' });
  expect(given).toContain('cancelUpdates');
});

test('a region that is away keeps no other from going back', async () => {
  await world.control('POST', '/control/faults', { kind: 'region', id: 'x' });
  const deploy = await rollback({ healthChecks: [], onUnitUnavailable: 'pause' });
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-x'] });
  expect((await versions())[1]).toEqual({ 'kv:2': 6 });
});

test('one that is refused asks again by itself', async () => {
  const takes = answering(world, ({ method }) => (method === 'executeUpdates' ? refusal() : undefined));
  const deploy = await rollback();
  expect((await deploy.reaches(({ paused }) => paused !== null)).paused?.by).toBe('dependency');
  takes();
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual(EVERYWHERE);
});

test('a unit that refuses it keeps no other from going back', async () => {
  const isAsked = ({ method, targets = [] }: Asked & { targets?: readonly { unit: string }[] }) =>
    method === 'executeUpdates' && targets.some(({ unit }) => unit === 'kvstore-x');
  const takes = answering(world, (asked) => (isAsked(asked) ? refusal() : undefined));
  const deploy = await rollback();
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'dependency', reason: expect.stringMatching(/kvstore-x.*not today/) as string });
  await world.sleep(5 * MINUTE);
  expect(await versions()).toEqual([{ 'kv:1': 6 }, { 'kv:2': 6 }]);
  takes();
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual(EVERYWHERE);
});

test('a unit that is deleted while it is tried delays nothing, and is named', async () => {
  const takes = answering(world, ({ method }) => (method === 'executeUpdates' ? refusal() : undefined));
  const deploy = await rollback();
  await deploy.reaches(({ paused }) => paused !== null);
  await world.control('DELETE', '/control/jobs/kvstore-x');
  takes();
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-x'] });
  expect(await versions()).toEqual([{ 'kv:2': 6 }]);
  const said = (await deploy.status()).timeline.map(({ text }) => text);
  expect(said).toContainEqual('rolled back without kvstore-x: gone');
});

test('in lockstep too', async () => {
  const isAsked = ({ method, targets = [] }: Asked & { targets?: readonly { unit: string }[] }) =>
    method === 'executeUpdates' && targets.some(({ unit }) => unit === 'kvstore-x');
  const takes = answering(world, (asked) => (isAsked(asked) ? refusal() : undefined));
  const deploy = await rollback({ healthChecks: [], lockstep: true });
  await deploy.reaches(({ paused }) => paused !== null);
  await world.control('DELETE', '/control/jobs/kvstore-x');
  takes();
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-x'] });
  expect(await versions()).toEqual([{ 'kv:2': 6 }]);
});

test('so it is where tasks of it do not come up before it is deleted', async () => {
  await world.describeVersion('kv:2', { crashOnStart: true, onlyRegion: 'x' });
  const deploy = await rollback();
  await deploy.reaches((status) => status.paused !== null);
  await world.control('DELETE', '/control/jobs/kvstore-x');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual([{ 'kv:2': 6 }]);
});

test('it waits for no canary, whose tasks it leaves alone', async () => {
  const canary = { amount: { count: 2 }, bakeMs: 8 * HOUR, keepUntil: false };
  const guest = await deploying(world, { release: 5, action: 'canary', canary }, { healthChecks: [] });
  await guest.reaches(({ state }) => state === 'baking');
  const deploy = await rollback();
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await guest.status()).toMatchObject({ state: 'baking' });
  const all = await versions();
  const of = (version: string) => all.reduce((sum, job) => sum + (job[version] ?? 0), 0);
  expect([of('kv:1'), of('kv:2') + of('kv:5')]).toEqual([0, 12]);
  await guest.ended();
  expect(await versions()).toEqual(EVERYWHERE);
});

test('it waits for no lock that does not say which canaries there are', async () => {
  const answers = answering(world, ({ method }) => (method === 'needsPush' ? away() : undefined));
  const deploy = await rollback();
  await deploy.reaches(({ paused }) => paused?.by === 'dependency');
  const { workflow } = world.client;
  const real = workflow.getHandle.bind(workflow);
  jest.spyOn(workflow, 'getHandle').mockImplementation((id, ...rest) => {
    const handle = real(id, ...rest);
    return id.startsWith('lock/') ? { ...handle, describe: () => Promise.reject(new Error('unavailable')) } : handle;
  });
  answers();
  expect(await deploy.ended({ withinMs: 10 * MINUTE, stepMs: MINUTE })).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual(EVERYWHERE);
});

describe('reverting a release of which one deploy has succeeded already', () => {
  const region = (job: string, bake: string) =>
    kvstore({ config: { jobs: [job] }, phases: [], completion: { bake }, healthChecks: [] }).actions['deploy']!;
  const regions = (between: Actions = {}, needs = 'us') =>
    flow({ us: region('kvstore-x', '1m'), ...between, eu: { ...region('kvstore-y', '4h'), needs: [needs] } });

  test('brings back that one, and the one that runs', async () => {
    await world.apply(regions());
    await world.release('kvstore', 'kv:2');
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
    await world.release('kvstore', 'kv:3');
    await untilAction(world, 2, 'eu', ({ state }) => state === 'running');
    await world.sleep(10 * MINUTE);
    await world.command('release/kvstore/2', 'revert');
    expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'succeeded', trigger: { kind: 'rollback', of: 2 } });
    await world.ended('kvstore', 2);
    expect(await world.deployStatus('kvstore', 2, 'eu')).toMatchObject({ outcome: 'reverted' });
    expect(await versions()).toEqual(EVERYWHERE);
    expect((await world.pipelineStatus('kvstore')).releases.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('does so at once, whatever of it does not end', async () => {
    await world.apply(regions({ soak: slowAction(600, { needs: ['us'] }) }, 'soak'));
    await world.release('kvstore', 'kv:2');
    expect(await world.ended('kvstore', 1, { withinMs: 24 * HOUR })).toMatchObject({ state: 'succeeded' });
    await world.release('kvstore', 'kv:3');
    await untilAction(world, 2, 'soak', ({ state }) => state === 'running');
    world.slow.down = true;
    await world.command('release/kvstore/2', 'revert');
    await world.until('the rollback has begun', async () => (await world.pipelineStatus('kvstore')).active.includes(3));
    expect(await world.ended('kvstore', 3, { withinMs: HOUR })).toMatchObject({ state: 'succeeded' });
    expect(await versions()).toEqual(EVERYWHERE);
    world.slow.down = false;
  });
});
