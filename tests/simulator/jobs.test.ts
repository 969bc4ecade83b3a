import { START, expectNoViolations, givenFleet, update } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const UPDATE = 'deploy/p/1/d/1/0/1';
const ALL_AT_ONCE = { tasks: 6, nSmall: 6, budget: 1, hotswap: true };
const REVERT = update('deploy/p/1/d/1/revert/1', 'kv-x', 'kv:1', { updatedBy: [UPDATE] });

test.each([
  ['in the region of the job', { onlyRegion: 'x' }, 0],
  ['in another region', { onlyRegion: 'y' }, 6],
  ['once half of the tasks that run have the version', { atShare: 0.5 }, 3],
  ['from the first task on', {}, 0],
  // No start takes so long.
  ['some minutes after a start', { afterMs: 300_000 }, 6],
])('with a version that crashes on start %s so many tasks come up', async (_, when, live) => {
  const fleet = givenFleet();
  await fleet.job('kv-x', { tasks: 6, nSmall: 1, budget: 1 });
  await fleet.behaves('kv:2', { crashOnStart: true, ...when });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(20 * 60_000);
  const [unit] = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units;
  expect(unit).toMatchObject({ state: live === 6 ? 'done' : 'failed', live });
});

describe('hotswap', () => {
  test('starts the new tasks beside the old ones, so that none becomes unavailable and the budget does not matter', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', ALL_AT_ONCE);
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, swapping: 6, versions: { 'kv:1': 6 } });
    fleet.pass(60_000);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, swapping: 0, versions: { 'kv:2': 6 } });
    const [unit] = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units;
    expect(unit).toMatchObject({ state: 'done', targeted: 6, updated: 6, live: 6 });
    const query = `/metrics?job=kv-x&metric=rpc.rate&from=${START - 120_000}&to=${fleet.now()}`;
    const { series } = (await fleet.control('GET', query)) as { series: { labels: { version: string } }[] };
    expect(new Set(series.map(({ labels }) => labels.version))).toEqual(new Set(['kv:1', 'kv:2']));
  });

  test('leaves the old task running when the new one does not live, and counts it as failed', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { ...ALL_AT_ONCE, nSmall: 2 });
    await fleet.behaves('kv:2', { crashOnStart: true });
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    fleet.pass(60_000);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, swapping: 0, versions: { 'kv:1': 6 } });
    const [unit] = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units;
    expect(unit).toMatchObject({ state: 'failed', updated: 2, live: 0, failed: 2 });
  });

  test('is undone on the spot where the new task has not taken over yet', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { ...ALL_AT_ONCE, nSmall: 2 });
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    await fleet.twine('executeUpdates', REVERT);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, swapping: 0, versions: { 'kv:1': 6 } });
    fleet.pass(60_000);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:1': 6 } });
  });

  test('the update of a task whose machine fails meanwhile ends with the new version, when the machine is back', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', ALL_AT_ONCE);
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m2', downMs: 30_000 });
    expect(await fleet.look('kv-x')).toMatchObject({ running: 5, swapping: 5, down: 1 });
    fleet.pass(120_000);
    expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
  });

  test('is refused, already by plan, when a container has no room for two tasks', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { hotswap: { taskMb: 1500, containerMb: 2000 } });
    const { status, body } = await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    expect([status, body.error.code]).toEqual([409, 'container-too-small']);
    const context = { pipeline: 'p', release: 1, deployId: 'd', actor: 'user:a', config: { jobs: ['kv-x'] } };
    const { body: config } = await fleet.twine('validateConfig', { context });
    const message = 'hotswap needs room for two tasks of 1500 MB, but a container of kv-x has 2000 MB';
    expect(config['problems']).toEqual([{ path: 'config.jobs[0]', message }]);
    const { body: units } = await fleet.twine('fetchDeployUnits', { context });
    expect(units.error).toMatchObject({ code: 'container-too-small', message: `config.jobs[0]: ${message}` });
  });
});

test('a config may set variables of the tasks, and anything else that is no job is refused', async () => {
  const fleet = givenFleet();
  await fleet.job('kv-x');
  const refused = async (more: object): Promise<unknown> => {
    const config = { jobs: ['kv-x'], ...more };
    const context = { pipeline: 'p', release: 1, deployId: 'd', actor: 'user:a', config };
    return (await fleet.twine('validateConfig', { context })).body['problems'];
  };
  expect(await refused({ env: { PEER: 'kv.internal', PORT: 8080 } })).toEqual([]);
  expect(await refused({ env: { PEER: ['kv'] } })).toEqual([
    { path: 'config.env.PEER', message: 'expected a text or a number' },
  ]);
  expect(await refused({ env: 'PEER=kv' })).toEqual([
    { path: 'config.env', message: 'expected variables and their values' },
  ]);
  expect(await refused({ tasks: 3 })).toEqual([
    { path: 'config.tasks', message: 'twine knows jobs and env, not tasks' },
  ]);
});

test('a package that was fetched ahead starts sooner', async () => {
  const times: number[] = [];
  for (const ahead of [false, true]) {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks: 10, timings: { fetchMs: 60_000, stopMs: 1000, startMs: 1000 } });
    const { targets } = update(UPDATE, 'kv-x', 'kv:2', {});
    if (ahead) expect((await fleet.twine('prefetch', { targets }, 'prefetch/1')).status).toBe(200);
    fleet.pass(60_000);
    const begun = fleet.now();
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    while ((await fleet.look('kv-x')).versions['kv:2'] !== 10 || (await fleet.look('kv-x')).running < 10)
      fleet.pass(1000);
    times.push(fleet.now() - begun);
  }
  const [plain = 0, ahead = 0] = times;
  expect(ahead).toBeLessThan(plain / 10);
});

describe('autoscale', () => {
  const DAY = 86_400_000;

  test('gives a job more tasks by day than by night, within its bounds, and CPU stays near what is wanted', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks: 100, budget: 100, autoscale: { min: 80, max: 120 } });
    const sizes: number[] = [];
    for (let hour = 0; hour < 24; hour += 1) {
      fleet.pass(DAY / 24);
      sizes.push((await fleet.look('kv-x')).size);
    }
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([80, 120]);
    const query = `/metrics?job=kv-x&metric=system.cpu&from=${fleet.now() - 60_000}&to=${fleet.now()}`;
    const { series } = (await fleet.control('GET', query)) as { series: { points: [number, number][] }[] };
    const cpu = series.map(({ points }) => points[0]?.[1] ?? 0);
    expect(Math.abs(cpu.reduce((sum, value) => sum + value, 0) / cpu.length - 0.4)).toBeLessThan(0.04);
  });

  test('continues in the middle of an update, and added tasks start on the job’s version', async () => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks: 50, budget: 50, nSmall: 5, autoscale: { min: 60, max: 60 } });
    await fleet.twine('executeUpdates', { ...update(UPDATE, 'kv-x', 'kv:2'), wholeUnit: true });
    fleet.pass(600_000);
    expect(await fleet.look('kv-x')).toMatchObject({ size: 60, running: 60, versions: { 'kv:2': 60 } });
    const [unit] = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units;
    expect(unit).toMatchObject({ state: 'done', targeted: 50, live: 50 });
  });
});

test.each([
  [
    'jobs had controllers and hotswap',
    'control hotswap autoscale swaps prefetched waiting left rejected paces paceLimit asking',
    undefined,
  ],
  [
    'controllers got shrinking, restarts and failures',
    'unused told shrink restart errands holes layouts layout',
    { kind: 'load-adaptive' },
  ],
])('a world that was written out before %s can still be read', async (_, lacks, controller) => {
  const fleet = givenFleet();
  await fleet.job('kv-x', { controller });
  await fleet.control('POST', '/faults', { kind: 'msb', id: 'x-msb2', downMs: 30_000 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  const { snapshot } = (await fleet.control('GET', '/snapshot')) as { snapshot: string };
  const old = JSON.parse(snapshot, (key, value: unknown) =>
    lacks.split(' ').includes(key) ? undefined : value,
  ) as unknown;
  await fleet.control('POST', '/snapshot', { snapshot: JSON.stringify(old) });
  fleet.pass(600_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
});
