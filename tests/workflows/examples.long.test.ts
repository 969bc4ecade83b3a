import { released as releasedIn } from './released';
import { HOUR, VirtualWorld } from './world';

/** The examples with production timings, in virtual time; the others run on a real server (tests/system). */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const released = (file: string, artifact: string, version: string) => releasedIn(world, file, artifact, version);

const versions = async () => new Set((await world.jobs()).flatMap((job) => Object.keys(job.versions)));

test('examples/minimal deploys to all tasks, with ten minutes between its phases', async () => {
  const pipeline = await released('minimal/pipeline.yaml', 'executable', 'hello:2');
  expect((await world.ended(pipeline, 1)).state).toBe('succeeded');
  expect(await versions()).toEqual(new Set(['hello:2']));
  const { phases } = await world.deployStatus(pipeline, 1);
  expect(phases.map(({ amount, state }) => [amount, state])).toEqual([
    ['1%', 'succeeded'],
    ['10%', 'succeeded'],
    ['100%', 'succeeded'],
  ]);
  expect(Date.parse(phases[1]!.startedAt!) - Date.parse(phases[0]!.updatedAt!)).toBeGreaterThanOrEqual(10 * 60_000);
});

test('examples/regions deploys each region by an action of its own, and tests each as soon as it is deployed', async () => {
  const pipeline = await released('regions/pipeline.yaml', 'source', '12');
  const { actions } = await world.ended(pipeline, 1, { stepMs: HOUR / 6, withinMs: 24 * HOUR });
  expect(Object.fromEntries(actions.map(({ name, state }) => [name, state]))).toEqual({
    ...{ build: 'succeeded', 'deploy-eu': 'succeeded', 'deploy-us': 'succeeded' },
    ...{ 'test-eu': 'succeeded', 'test-us': 'succeeded', report: 'skipped' },
  });
  expect(await versions()).toEqual(new Set(['search:12']));
});

test('examples/frontend tests, compares, and deploys one region after the other', async () => {
  const pipeline = await released('frontend/pipeline.yaml', 'source', '12');
  const release = await world.ended(pipeline, 1, { stepMs: HOUR / 6, withinMs: 24 * HOUR });
  expect(release.actions.map(({ name, state }) => [name, state])).toEqual([
    ['build', 'succeeded'],
    ['integration', 'succeeded'],
    ['performance', 'succeeded'],
    ['deploy', 'succeeded'],
    ['report', 'skipped'],
  ]);
  expect(await versions()).toEqual(new Set(['web:12']));
});

test('examples/frontend is not deployed when it is slower than what runs, and leaves no report of a deploy', async () => {
  await world.describeVersion('web:13', { latencyFactor: 1.2 });
  const pipeline = await released('frontend/pipeline.yaml', 'source', '13');
  const release = await world.ended(pipeline, 1);
  const performance = release.actions.find(({ name }) => name === 'performance');
  expect([release.state, performance?.message]).toEqual(['failed', expect.stringMatching(/more latency than allowed/)]);
  expect(await versions()).toEqual(new Set(['web:11']));
});
