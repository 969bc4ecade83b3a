import { endStateChecker } from '../../simulator/checkers/endState';
import type { TwineFleet } from '../../simulator/twine/fleet';
import { expectNoViolations, givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const DEPLOY = 'deploy/kvstore/3/deploy/1';
const REMOVAL = `${DEPLOY}/remove/1`;
const NEXT = 'deploy/kvstore/4/deploy/1/0/1';
const remove = (fleet: TestFleet, units: readonly string[] = ['kv-x'], updateId = REMOVAL) =>
  fleet.twine('removeUnits', { updateId, units });
const progress = async (fleet: TestFleet, updateId = REMOVAL) =>
  (await fleet.twine('trackUpdates', { updateId })).body.units[0];
const back = (fleet: TestFleet, version = 'kv:2') =>
  fleet.twine('executeUpdates', { ...update(NEXT, 'kv-x', version), wholeUnit: true });
const listed = async (fleet: TestFleet, jobs: readonly string[] = ['kv-x']) => {
  const context = { pipeline: 'p', release: 1, deployId: 'd', actor: 'user:a', config: { jobs } };
  return (await fleet.twine('fetchDeployUnits', { context })).body.units;
};

async function given(change: Readonly<Record<string, unknown>> = {}): Promise<TestFleet> {
  const fleet = givenFleet();
  await fleet.job('kv-x', change);
  return fleet;
}

test('a removed job has no tasks, whatever its budget allows, and its push type still lists it', async () => {
  const fleet = await given({ nSmall: 1, budget: 1 });
  expect((await remove(fleet)).body).toEqual({ accepted: ['kv-x'] });
  expect(await progress(fleet)).toMatchObject({ state: 'done', targeted: 6, gone: 6, live: 0 });
  expect(await listed(fleet)).toMatchObject([{ id: 'kv-x', size: 0, version: null, mixed: false, available: true }]);
  expect(await fleet.look('kv-x')).toMatchObject({ size: 0, running: 0, removed: 6 });
});

test('an update of all tasks makes a removed job again, under identifiers that no task had', async () => {
  const fleet = await given();
  await remove(fleet);
  fleet.pass(60_000);
  const needs = { targets: [{ unit: 'kv-x', version: 'kv:2', artifacts: [], amount: { all: true } }] };
  expect((await fleet.twine('needsPush', needs)).body.units).toMatchObject([{ size: 0, outdated: 6 }]);
  await back(fleet);
  expect(await progress(fleet, NEXT)).toMatchObject({ state: 'updating', targeted: 6, updated: 0, live: 0 });
  fleet.pass(60_000);
  expect(await progress(fleet, NEXT)).toMatchObject({ state: 'done', targeted: 6, live: 6, gone: 0 });
  expect(await listed(fleet)).toMatchObject([{ size: 6, version: 'kv:2', mixed: false }]);
  expect(await progress(fleet)).toMatchObject({ state: 'done', targeted: 6, gone: 6 });
  const query = `/metrics?job=kv-x&metric=rpc.rate&from=${fleet.now() - 120_000}&to=${fleet.now()}`;
  const { series } = (await fleet.control('GET', query)) as { series: { labels: { task: string } }[] };
  const tasks = series.map(({ labels }) => labels.task);
  expect(tasks).toContain('kv-x/0/2');
  expect(new Set(tasks).size).toBe(tasks.length);
});

test('an update of some tasks of a removed job finds none', async () => {
  const fleet = await given();
  await remove(fleet);
  await fleet.twine('executeUpdates', update(NEXT, 'kv-x', 'kv:2', { amount: { count: 2 } }));
  expect(await progress(fleet, NEXT)).toMatchObject({ state: 'done', targeted: 0 });
  expect(await listed(fleet)).toMatchObject([{ size: 0, version: null }]);
});

test('a version that does not come up fails the update that makes the job again', async () => {
  const fleet = await given();
  await fleet.behaves('dead:1', { crashOnStart: true });
  await remove(fleet);
  await back(fleet, 'dead:1');
  fleet.pass(60_000);
  expect(await progress(fleet, NEXT)).toMatchObject({ state: 'failed', live: 0 });
});

test('a removed job that is resized comes back with that size, and one that is deleted does not come back', async () => {
  const fleet = await given();
  await remove(fleet);
  await fleet.control('PATCH', '/jobs/kv-x', { tasks: 3 });
  expect(await fleet.look('kv-x')).toMatchObject({ size: 0, removed: 3 });
  await back(fleet);
  fleet.pass(60_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3, versions: { 'kv:2': 3 } });
  await remove(fleet, ['kv-x'], 'deploy/kvstore/5/deploy/1/remove/1');
  await fleet.control('DELETE', '/jobs/kv-x');
  const again = update('deploy/kvstore/6/deploy/1/0/1', 'kv-x', 'kv:2');
  expect((await fleet.twine('executeUpdates', again)).status).toBe(404);
});

test('a job that is sized by its load stays removed', async () => {
  const fleet = await given({ autoscale: { min: 3, max: 9, everyMs: 60_000 } });
  await remove(fleet);
  fleet.pass(3_600_000);
  expect(await fleet.look('kv-x')).toMatchObject({ size: 0, removed: 6 });
});

test('while the scheduler of its region is down a job keeps its tasks, and a removal that is cancelled meanwhile takes none', async () => {
  const fleet = await given();
  await fleet.control('POST', '/faults', { kind: 'scheduler', id: 'x', downMs: 60_000 });
  await remove(fleet);
  expect(await progress(fleet)).toMatchObject({
    ...{ state: 'pending', targeted: 6, gone: 0 },
    reason: 'the scheduler of region x is down',
  });
  expect((await back(fleet)).body.error.code).toBe('unit-busy');
  await fleet.twine('cancelUpdates', { updateId: REMOVAL });
  fleet.pass(120_000);
  expect(await progress(fleet)).toMatchObject({ state: 'failed', gone: 0 });
  expect(await fleet.look('kv-x')).toMatchObject({ running: 6 });
});

test('a removal in several requests takes the jobs of each, and one that names an unknown job takes none', async () => {
  const fleet = await given();
  await fleet.job('kv-y');
  expect((await remove(fleet, ['kv-x', 'kv-z'])).status).toBe(404);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 6 });
  await fleet.twine('removeUnits', { updateId: REMOVAL, units: ['kv-x'] }, 'one');
  expect(await fleet.look('kv-y')).toMatchObject({ running: 6 });
  await fleet.twine('removeUnits', { updateId: REMOVAL, units: ['kv-y'] }, 'other');
  expect((await fleet.twine('trackUpdates', { updateId: REMOVAL })).body.units).toMatchObject([
    { id: 'kv-x', state: 'done' },
    { id: 'kv-y', state: 'done' },
  ]);
});

test('a removal survives that the world is saved and loaded in the middle of it', async () => {
  const fleet = await given({ controller: { kind: 'leader-last' } });
  await remove(fleet);
  const saved = (await fleet.control('GET', '/snapshot')) as object;
  await fleet.control('POST', '/snapshot', saved);
  fleet.pass(600_000);
  expect(await progress(fleet)).toMatchObject({ state: 'done', gone: 6 });
  await back(fleet);
  fleet.pass(600_000);
  expect(await progress(fleet, NEXT)).toMatchObject({ state: 'done', live: 6 });
});

test.each([
  [0, null],
  [2, `${REMOVAL} is done, but 2 tasks of kv-x are left`],
])('a removal that is done with %d tasks left is a violation, if any are', (size, violation) => {
  const update = { units: new Map([['kv-x', { removes: true, slots: [] }]]) };
  const jobs = new Map([['kv-x', { size, holes: 0 }]]);
  const world = { updates: new Map([[REMOVAL, update]]), jobs } as unknown as TwineFleet;
  const ended = { kind: 'update-ended', job: 'kv-x', update: REMOVAL, how: 'done' } as const;
  expect(endStateChecker.see(ended, new Map(), world)).toBe(violation);
});
