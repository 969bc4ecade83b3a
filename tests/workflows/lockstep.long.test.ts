import type { DeployInput } from '../../domain/deploy/state';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { deploying } from './deploys';
import { CALM } from './flows';
import { pushingBeside } from './pushingBeside';
import { HOUR, MINUTE, VirtualWorld } from './world';

const SHARDS = ['kvstore-a', 'kvstore-b', 'kvstore-c'];
const BUDGET = { nSmall: 2, budget: 2 };
/** One task after the other, five minutes each. */
const SLOW = { nSmall: 1, timings: { fetchMs: 4 * MINUTE, stopMs: 1_000, startMs: 59_000 } };

let world: VirtualWorld;
let beganAt: number;
beforeEach(async () => {
  world = await VirtualWorld.open();
  beganAt = await world.now();
});
afterEach(() => world.close());

const shards = async (last: object = {}): Promise<void> => {
  for (const name of SHARDS) await world.job(name, 'x', 10, { ...BUDGET, ...(name === 'kvstore-c' ? last : {}) });
};

const half = { name: 'half', scope: '*', amount: '50%', bake: '5m' } as const;
const inStep = (more: object = {}, input: Partial<DeployInput> = {}) =>
  deploying(world, input, {
    config: { jobs: SHARDS },
    lockstep: true,
    phases: [{ ...half, name: 'fifth', amount: '20%' }, half],
    ...more,
  });

/** Changes of the world, in order: updates and shifts of traffic. */
async function effects(): Promise<string[]> {
  const ledger = await world.control<{ method: string; key: string; effect: boolean }[]>('GET', '/control/ledger');
  const shifts = [...(world.simulator.simulation.fleet.traffic?.get('kvstore-a') ?? [])];
  return ledger.flatMap(({ method, key, effect }) => {
    const shift = effect && method === 'shiftTraffic' ? shifts.shift() : undefined;
    if (shift) return [`${shift.percent}% to ${shift.version}`];
    return effect && method === 'executeUpdates' ? [`update ${key.split('/').slice(5, -1).join('/')}`] : [];
  });
}

/** The requests to all tasks of a shard in each minute so far, as a share of the usual. */
async function requests(shard: string): Promise<number[]> {
  const { series } = await world.control<{ series: { points: [number, number][] }[] }>(
    'GET',
    `/control/metrics?job=${shard}&metric=rpc.rate&from=${beganAt}`,
  );
  const sums = new Map<number, number>();
  for (const { points } of series) for (const [at, value] of points) sums.set(at, (sums.get(at) ?? 0) + value);
  const values = [...sums.values()].sort((a, b) => a - b);
  return values.map((value) => value / (values[values.length >> 1] ?? value));
}

/** The mean number of requests that a task of a version gets now. */
async function rate(version: string): Promise<number> {
  const { series } = await world.control<{ series: { labels: { version: string }; points: [number, number][] }[] }>(
    'GET',
    '/control/metrics?job=kvstore-a&metric=rpc.rate',
  );
  const points = series.flatMap(({ labels, points: all }) => all.map(([at, value]) => ({ ...labels, at, value })));
  const latest = Math.max(...points.map(({ at }) => at));
  const last = points.filter((point) => point.at === latest && point.version === version).map(({ value }) => value);
  return last.reduce((sum, value) => sum + value, 0) / last.length;
}

test('traffic follows the tasks, stride by stride, and is as large as their share while a phase bakes', async () => {
  await shards();
  const deploy = await inStep();
  expect((await deploy.ended()).outcome).toBe('succeeded');
  expect(await effects()).toEqual([
    ...['0% to kv:2', 'update 0/1', '20% to kv:2'],
    // Two of ten tasks may be down at a time, so eight carry the whole load.
    ...['25% to kv:2', 'update 1/1', '40% to kv:2', 'update 1/2', '50% to kv:2'],
    ...['62.5% to kv:2', 'update 2/1', '87.5% to kv:2', 'update 2/2', '100% to kv:2', 'update 2/3'],
  ]);
  const { timeline, phases } = await deploy.status();
  expect(timeline.filter(({ kind }) => kind === 'traffic-shifted').map(({ text }) => text)).toEqual([
    '20% of the traffic goes to kv:2',
    '50% of the traffic goes to kv:2',
    '100% of the traffic goes to kv:2',
  ]);
  expect(phases.map(({ units }) => units.map(({ live }) => live))).toEqual([
    [2, 2, 2],
    [3, 3, 3],
    [5, 5, 5],
  ]);
});

test('no request is lost, however much slower one shard is than the others', async () => {
  await shards(SLOW);
  const deploy = await inStep({
    phases: ['20%', '55%', '80%'].map((amount, nth) => ({ ...half, name: `${nth}`, amount })),
  });
  expect((await deploy.ended()).outcome).toBe('succeeded');
  for (const shard of SHARDS) expect(Math.min(...(await requests(shard)))).toBeGreaterThan(0.8);
});

test('the share of the tasks and that of the traffic are the same while it bakes', async () => {
  await shards();
  const deploy = await inStep({ phases: [{ ...half, bake: '1h' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  await world.sleep(5 * MINUTE);
  const [old, fresh] = [await rate('kv:1'), await rate('kv:2')];
  expect(fresh / old).toBeCloseTo(1, 1);
  await deploy.command('cancel');
  await deploy.ended();
  const before = await effects();
  await world.sleep(HOUR);
  expect(await effects()).toEqual(before);
});

test('no unit goes further before each has come as far, however many tasks the criterion lets lag', async () => {
  await shards(SLOW);
  const deploy = await inStep({ phases: [{ ...half, success: '60%' }] });
  const { phases } = await deploy.reaches((status) => Boolean(status.phases[0]?.updatedAt));
  const tookMs = Date.parse(phases[0]?.updatedAt ?? '') - Date.parse(phases[0]?.startedAt ?? '');
  expect(tookMs).toBeGreaterThan(10 * MINUTE);
  expect(phases[0]?.units.map(({ live }) => live >= 3)).toEqual([true, true, true]);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a revert goes back in strides too, each with as much of the traffic as the old version carries', async () => {
  await shards();
  await world.describeVersion('kv:2', { errorRatio: 0.2, atShare: 0.8 });
  const deploy = await inStep({ phases: [half] });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await effects()).slice(-9)).toEqual(
    [
      ...['100% to kv:2', 'update revert/1', '75% to kv:2', 'update revert/2', '50% to kv:2', 'update revert/3'],
      ...['25% to kv:2', 'update revert/4', '0% to kv:2', 'update revert/5'],
    ].slice(1),
  );
  const { revert, timeline } = await deploy.status();
  expect(revert?.units.map(({ live }) => live)).toEqual([10, 10, 10]);
  expect(timeline.filter(({ kind }) => kind === 'traffic-shifted').at(-1)?.text).toBe(
    'no traffic goes to kv:2 any more',
  );
  for (const shard of SHARDS) expect(Math.min(...(await requests(shard)))).toBeGreaterThan(0.8);
  expect((await world.jobs()).every(({ versions }) => versions['kv:1'] === 10)).toBe(true);
});

test('a revert in the first phase takes all requests from the bad version before its tasks', async () => {
  await shards();
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  const deploy = await inStep();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await effects()).slice(-3)).toEqual(['20% to kv:2', '0% to kv:2', 'update revert/1']);
});

describe('a push type whose counts are garbled in a revert', () => {
  const garbled = (more: object) =>
    world.control('POST', '/control/faults', {
      ...{ kind: 'http', service: 'twine', method: 'needsPush', mode: 'garbage' },
      ...more,
    });

  test('is asked again, so that no request goes to tasks that are not up', async () => {
    await shards();
    const deploy = await inStep({ phases: [{ ...half, bake: '30m' }] });
    await deploy.reaches(({ state }) => state === 'baking');
    await garbled({ count: 3 });
    await deploy.command('revert');
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect((await effects()).slice(-4)).toEqual(['12.5% to kv:2', 'update revert/2', '0% to kv:2', 'update revert/3']);
  });

  test('has the revert wait and say so while that continues, and a person may end it', async () => {
    await shards();
    const deploy = await inStep({ phases: [{ ...half, bake: '30m' }] });
    await deploy.reaches(({ state }) => state === 'baking');
    await garbled({ forMs: 24 * HOUR });
    await deploy.command('revert');
    const { paused } = await deploy.reaches((status) => status.paused?.by === 'dependency');
    expect(paused?.reason).toMatch(/^twine answered needsPush in violation of its protocol: /);
    await deploy.command('cancel');
    expect(await deploy.ended()).toMatchObject({ outcome: 'revert-failed' });
  });
});

test('a revert of the shards that are there does not wait for one whose region is down', async () => {
  await shards();
  await world.job('kvstore-d', 'y', 10, BUDGET);
  await world.describeVersion('kv:2', { errorRatio: 0.2, onlyRegion: 'x', atShare: 0.5 });
  const deploy = await inStep({ config: { jobs: [...SHARDS, 'kvstore-d'] }, phases: [half] });
  await deploy.reaches(({ state }) => state === 'baking');
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: 'y' });
  await deploy.reaches(({ state }) => state === 'reverting');
  const isBack = async () => (await world.jobs()).filter(({ versions }) => versions['kv:1'] === 10).length === 3;
  await world.until('the others are back', isBack, { stepMs: MINUTE, withinMs: HOUR });
  await world.control('DELETE', `/control/faults/${id}`);
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await world.jobs()).every(({ versions }) => versions['kv:1'] === 10)).toBe(true);
});

test('a revert of the shards that are taken back does not wait for one that is refused', async () => {
  await shards({ controller: { kind: 'leader-last' } });
  const deploy = await inStep({ phases: [{ ...half, bake: '30m' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  // The other deploy's update is accepted, but takes no task.
  const silent = { kind: 'http', service: 'leader-last', method: 'process', mode: 'error', forMs: 24 * HOUR };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', silent);
  const other = 'deploy/other/1/deploy/1';
  const updateId = `${other}/0/1`;
  const targets = [{ unit: 'kvstore-c', version: 'kv:9', artifacts: [], amount: { count: 1 } }];
  await pushingBeside(world, 'executeUpdates', other, { updateId, targets, wholeUnit: false, urgency: 'normal' });
  await deploy.command('revert');
  const isBack = async () => (await world.jobs()).filter(({ versions }) => versions['kv:1'] === 10).length === 2;
  await world.until('the others are back', isBack, { stepMs: MINUTE, withinMs: 2 * HOUR });
  expect((await deploy.status()).revert?.leftOut).toEqual([
    { id: 'kvstore-c', reason: expect.stringContaining('unit-busy') as string },
  ]);
  await pushingBeside(world, 'cancelUpdates', other, { updateId });
  await world.control('DELETE', `/control/faults/${id}`);
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await deploy.status()).revert?.leftOut).toBeUndefined();
  expect((await world.jobs()).every(({ versions }) => versions['kv:2'] === undefined)).toBe(true);
});

test('who accepts that a task of one stride is missing says nothing of the strides after it', async () => {
  await world.job('kvstore-a', 'x', 10, { ...BUDGET, ...SLOW, nSmall: 2 });
  const pace = { phases: [], completion: { bake: '5m', updateTimeout: '20m' } };
  const deploy = await inStep({ config: { jobs: ['kvstore-a'] }, ...pace });
  await deploy.reaches(({ state }) => state === 'updating');
  await world.sleep(MINUTE);
  await world.control('POST', '/control/faults', { kind: 'msb', id: 'x-msb0' });
  await deploy.reaches(({ paused }) => paused?.by === 'timeout', { stepMs: 5 * MINUTE });
  await deploy.command('resume', { acceptMissing: true });
  const isLast = async () => (await world.jobs())[0]?.versions['kv:2'] === 8;
  await world.until('the last stride is under way', isLast, { stepMs: MINUTE, withinMs: 4 * HOUR });
  await deploy.freeze();
  await deploy.reaches(({ summary }) => summary.includes('frozen'));
  await deploy.unfreeze();
  expect((await deploy.ended()).reason).toBe(
    'every unit runs kv:2 except for 1 task, accepted by user:alice: a test says so',
  );
});

test('more than a hundred units are refused before anything is touched', async () => {
  const jobs = Array.from({ length: 101 }, (_, nth) => `kvstore-${nth}`);
  for (const name of jobs) await world.job(name, 'x', 1);
  const deploy = await inStep({ config: { jobs } });
  expect(await deploy.ended()).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('101 units, and a deploy in lockstep updates at most 100') as string,
  });
  expect((await effects()).filter((effect) => effect.startsWith('update'))).toEqual([]);
});

test('a revert does not wait for a shard that ran the version before, and leaves it as it was', async () => {
  await shards({ version: 'kv:2' });
  await world.describeVersion('kv:2', { errorRatio: 0.2, atShare: 0.5 });
  const deploy = await inStep({ phases: [half] });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await world.jobs()).map(({ versions }) => versions)).toEqual([
    { 'kv:1': 10 },
    { 'kv:1': 10 },
    { 'kv:2': 10 },
  ]);
});

test('a stride whose tasks come up after they had failed continues where it was, and nothing is counted twice', async () => {
  await shards();
  await world.describeVersion('kv:2', { crashOnStart: true });
  const settings = { ...DEFAULT_SETTINGS, heartbeatTimeoutMs: HOUR, ...CALM, transientMs: 10 * MINUTE };
  const deploy = await inStep({}, { settings });
  await deploy.reaches(({ timeline }) => timeline.some(({ kind }) => kind === 'failing'));
  await world.describeVersion('kv:2', {});
  expect((await deploy.ended()).outcome).toBe('succeeded');
  const { phases } = await deploy.status();
  expect(phases.map(({ units }) => units.map(({ targeted, live }) => [targeted, live]))).toEqual(
    [2, 3, 5].map((tasks) => SHARDS.map(() => [tasks, tasks])),
  );
  expect((await effects())[0]).toBe('0% to kv:2');
});

test('a rollback brings the version back in strides', async () => {
  await shards();
  const deploy = await inStep();
  await deploy.ended();
  const before = (await effects()).length;
  const back = await inStep({}, { release: 3, version: 'kv:1', rollback: true });
  expect((await back.ended()).outcome).toBe('succeeded');
  expect((await effects()).slice(before)).toEqual([
    ...['0% to kv:1', 'update 0/1', '25% to kv:1', 'update 0/2', '50% to kv:1', 'update 0/3', '75% to kv:1'],
    ...['update 0/4', '100% to kv:1', 'update 0/5'],
  ]);
  const { spans } = await back.status();
  expect([spans.bakeMs, (await world.jobs()).every(({ versions }) => versions['kv:1'] === 10)]).toEqual([0, true]);
});

test('a push type that cannot shift traffic is refused before anything is touched', async () => {
  await shards();
  const { app } = world.simulator;
  const through = app.fetch;
  const lacking = { error: { code: 'unknown-method', message: 'no such method', retryable: false } };
  app.fetch = (request, ...rest) =>
    request.url.endsWith('/shiftTraffic') ? Response.json(lacking, { status: 404 }) : through(request, ...rest);
  const deploy = await inStep();
  const result = await deploy.ended();
  expect(result).toMatchObject({ outcome: 'failed', reason: 'twine has no shiftTraffic, which lockstep needs' });
  expect(await effects()).toEqual([]);
});
