import type { DeployInput } from '../../domain/deploy/state';
import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

const SHARDS = ['kvstore-a', 'kvstore-b', 'kvstore-c'];
/** One task after the other, five minutes each. */
const SLOW = { nSmall: 1, timings: { fetchMs: 4 * MINUTE, stopMs: 1_000, startMs: 59_000 } };

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const shards = async (last: object = {}): Promise<void> => {
  for (const name of SHARDS) await world.job(name, 'x', 10, name === 'kvstore-c' ? last : {});
};

const half = { name: 'half', scope: '*', amount: '50%', bake: '5m' } as const;
const inStep = (more: object = {}, input: Partial<DeployInput> = {}) =>
  deploying(world, input, {
    config: { jobs: SHARDS },
    lockstep: true,
    phases: [{ ...half, name: 'fifth', amount: '20%' }, half],
    ...more,
  });

/** What changed the world, in order: updates and shifts of traffic. */
async function effects(): Promise<string[]> {
  const ledger = await world.control<{ method: string; key: string; effect: boolean }[]>('GET', '/control/ledger');
  const counted = ledger.filter(({ method, effect }) => effect && /^(executeUpdates|shiftTraffic)$/.test(method));
  return counted.map(({ method, key }) => `${method} ${key.split('/').slice(5, -1).join('/')}`);
}

/** The requests that the tasks of a version get now, on average. */
async function rate(version: string): Promise<number> {
  const { series } = await world.control<{ series: { labels: { version: string }; points: [number, number][] }[] }>(
    'GET',
    '/control/metrics?job=kvstore-a&metric=rpc.rate',
  );
  const last = series.filter(({ labels }) => labels.version === version).map(({ points }) => points.at(-1)?.[1] ?? 0);
  return last.reduce((sum, value) => sum + value, 0) / last.length;
}

test('traffic follows the tasks, phase by phase, and never leads them', async () => {
  await shards();
  const deploy = await inStep();
  expect((await deploy.ended()).outcome).toBe('succeeded');
  expect(await effects()).toEqual([
    ...['executeUpdates 0/1', 'shiftTraffic 0', 'executeUpdates 1/1', 'shiftTraffic 1'],
    ...['executeUpdates 2/1', 'shiftTraffic 2'],
  ]);
  const { timeline } = await deploy.status();
  expect(timeline.filter(({ kind }) => kind === 'traffic-shifted').map(({ text }) => text)).toEqual([
    '20% of the traffic goes to kv:2',
    '50% of the traffic goes to kv:2',
    '100% of the traffic goes to kv:2',
  ]);
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

test('a revert shifts the traffic back first', async () => {
  await shards();
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  const deploy = await inStep();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await effects()).toEqual([
    ...['executeUpdates 0/1', 'shiftTraffic 0'],
    ...['shiftTraffic revert', 'executeUpdates revert/1'],
  ]);
  expect((await world.jobs()).every(({ versions }) => versions['kv:1'] === 10)).toBe(true);
});

test('a rollback goes a quarter at a time, and the traffic leaves the bad version in step with its tasks', async () => {
  await shards();
  const deploy = await inStep();
  await deploy.ended();
  const before = (await effects()).length;
  const back = await inStep({}, { release: 3, version: 'kv:1', rollback: true });
  expect((await back.ended()).outcome).toBe('succeeded');
  const { timeline, spans } = await back.status();
  expect((await effects()).slice(before)).toEqual(
    [0, 1, 2, 3].flatMap((phase) => [`executeUpdates ${phase}/1`, `shiftTraffic ${phase}`]),
  );
  expect(timeline.filter(({ kind }) => kind === 'traffic-shifted').map(({ text }) => text)).toEqual(
    [25, 50, 75, 100].map((percent) => `${percent}% of the traffic goes to kv:1`),
  );
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
