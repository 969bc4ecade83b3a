import { viaApp } from '../../sdk/client';
import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';
import { serveTaskController } from '../../sdk/server';
import { expectNoViolations, givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const UPDATE = 'deploy/p/1/d/1/0/1';
const CONTROLLER = { kind: 'external', url: 'http://controller' };

/** A fleet with a job whose controller is the given function, and what the controller was asked. */
async function givenControlled(
  decide: (request: TaskControlRequest) => readonly TaskOp[],
  change: Readonly<Record<string, unknown>> = {},
): Promise<{ fleet: TestFleet; seen: TaskControlRequest[]; track: () => Promise<unknown> }> {
  const seen: TaskControlRequest[] = [];
  const app = serveTaskController('controller', {
    process: (request) => {
      seen.push(request);
      return { ack: decide(request).map(({ id }) => id) };
    },
  });
  const fleet = givenFleet({ fetch: viaApp(app) });
  await fleet.job('kv-x', { tasks: 3, nSmall: 3, budget: 3, controller: CONTROLLER, ...change });
  const track = async () => (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units[0];
  return { fleet, seen, track };
}

const tasksOf = (ops: readonly TaskOp[]): string[] => ops.map(({ task }) => task);
const ofKind = (request: readonly TaskOp[], kind: TaskOp['kind']) => request.filter((op) => op.kind === kind);

test('a controller approves any subset in any order, and learns what is over before it is asked for the rest', async () => {
  const { fleet, seen, track } = await givenControlled(({ request, allUnhealthyTasks }) =>
    allUnhealthyTasks.length > 0
      ? []
      : request.filter(({ task }) => request.length === 1 || task !== 'kv-x/1').reverse(),
  );
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(0);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 1, updating: 2, versions: { 'kv:1': 1, 'kv:2': 2 } });
  expect(await track()).toMatchObject({ reason: 'waiting for the task controller to approve: 1 task' });
  fleet.pass(60_000);
  expect(await track()).toMatchObject({ state: 'done', live: 3 });
  expect(seen[0]).toEqual({
    jobHandle: 'kv-x',
    request: [0, 1, 2].map((slot) => ({
      id: `${UPDATE}/${slot}`,
      ...{ task: `kv-x/${slot}`, kind: 'update', toVersion: 'kv:2' },
    })),
    completed: [],
    advanceNotices: [],
    allUnhealthyTasks: [],
    sequenceNumber: 1,
  });
  expect(seen.map(({ sequenceNumber }) => sequenceNumber)).toEqual(seen.map((_, index) => index + 1));
  expect(new Set(seen.flatMap(({ completed }) => tasksOf(completed)))).toEqual(new Set(['kv-x/0', 'kv-x/1', 'kv-x/2']));
  const last = seen.findIndex(
    ({ request, allUnhealthyTasks }) => request.length === 1 && allUnhealthyTasks.length === 0,
  );
  expect(
    seen
      .slice(0, last + 1)
      .flatMap(({ completed }) => tasksOf(completed))
      .sort(),
  ).toEqual(['kv-x/0', 'kv-x/2']);
});

test('approvals never go past the budget or N_small; an operation that did not begin is requested again', async () => {
  const { fleet, seen, track } = await givenControlled(({ request }) => request, { tasks: 8, nSmall: 2, budget: 3 });
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m7', downMs: 50_000 });
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m6', downMs: 50_000 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2', { amount: { count: 6 } }));
  fleet.pass(1000);
  expect(await fleet.look('kv-x')).toMatchObject({ updating: 1, down: 2 });
  expect(await track()).toMatchObject({ reason: 'waiting for the unavailability budget: 3 tasks down, 3 allowed' });
  fleet.pass(300_000);
  expect(await track()).toMatchObject({ state: 'done', live: 6 });
  expect(
    seen
      .map(({ request }) => request.length)
      .filter((count) => count > 0)
      .slice(0, 2),
  ).toEqual([6, 5]);
  expect(Math.max(...seen.map(({ allUnhealthyTasks }) => allUnhealthyTasks.length))).toBe(3);
});

test.each([
  ['answers errors', { mode: 'error' }, '503'],
  ['answers rubbish', { mode: 'garbage' }, 'JSON'],
  ['answers after its deadline', { mode: 'delay', delayMs: 60_000 }, '5000 ms'],
  ['loses its answers', { mode: 'lose-reply' }, 'lost'],
])('a controller that %s approves nothing, and is asked again with the same number', async (_, fault, reason) => {
  const { fleet, seen, track } = await givenControlled(({ request }) => request);
  const { id } = (await fleet.control('POST', '/faults', { kind: 'http', service: 'external', ...fault })) as {
    id: string;
  };
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(3_600_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3, versions: { 'kv:1': 3 } });
  expect(await track()).toMatchObject({ state: 'pending', reason: expect.stringContaining(reason) as string });
  await fleet.control('DELETE', `/faults/${id}`);
  fleet.pass(60_000);
  expect(await track()).toMatchObject({ state: 'done', live: 3 });
  expect(seen[0]?.sequenceNumber).toBe(1);
  expect(seen.filter(({ sequenceNumber }) => sequenceNumber === 1)).toHaveLength(1);
});

test('a slow answer within the deadline counts from the moment at which it arrives', async () => {
  const { fleet } = await givenControlled(({ request }) => request);
  await fleet.control('POST', '/faults', { kind: 'http', service: 'external', mode: 'delay', delayMs: 3000, count: 1 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(2999);
  expect(await fleet.look('kv-x')).toMatchObject({ updating: 0 });
  fleet.pass(2);
  expect(await fleet.look('kv-x')).toMatchObject({ updating: 3 });
});

test('tasks that are down already need no approval, so a revert begins although the controller is dead', async () => {
  const { fleet } = await givenControlled(({ request }) => request);
  await fleet.behaves('kv:2', { crashOnStart: true });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(20_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 0 });
  await fleet.control('POST', '/faults', { kind: 'http', service: 'external', mode: 'error' });
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/revert/1', 'kv-x', 'kv:1', { updatedBy: [UPDATE] }));
  fleet.pass(60_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3, versions: { 'kv:1': 3 } });
});

test('a paused update is not asked for, and what was approved for it does not begin', async () => {
  const { fleet, seen } = await givenControlled(({ request }) => request, { nSmall: 1 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(0);
  await fleet.twine('pauseUpdates', { updateId: UPDATE });
  fleet.pass(60_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3, versions: { 'kv:1': 2, 'kv:2': 1 } });
  expect(tasksOf(seen.at(-1)?.completed ?? [])).toEqual(expect.arrayContaining(['kv-x/0']));
  await fleet.twine('resumeUpdates', { updateId: UPDATE });
  fleet.pass(120_000);
  expect(await fleet.look('kv-x')).toMatchObject({ versions: { 'kv:2': 3 } });
});

test('the tasks of a machine that stays down move only when the controller approves', async () => {
  let approves = false;
  const { fleet, seen } = await givenControlled(({ request }) => (approves ? request : []));
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m1' });
  fleet.pass(600_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 2, down: 1 });
  expect(seen.slice(0, 2)).toMatchObject([
    { request: [], allUnhealthyTasks: ['kv-x/1'] },
    { request: [{ task: 'kv-x/1', kind: 'move' }], allUnhealthyTasks: ['kv-x/1'] },
  ]);
  approves = true;
  fleet.pass(60_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3 });
});

const MAINTENANCE = { kind: 'maintenance', startMs: 60_000, durationMs: 300_000, deadlineMs: 120_000 } as const;

test.each([
  ['moves them', 'move', 3, 3],
  ['stops them', 'stop', 2, 2],
  ['lets them ride it out', 'restart', 3, 2],
] as const)('a controller gets maintenance ahead of time, and %s', async (_, kind, before, meanwhile) => {
  const { fleet, seen } = await givenControlled(({ request }) => ofKind(request, kind));
  await fleet.control('POST', '/faults', { ...MAINTENANCE, machines: ['x-m1', 'x-m9'] });
  fleet.pass(50_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: before });
  const start = fleet.now() - 50_000 + 60_000;
  expect(seen[0]).toMatchObject({
    request: [
      { task: 'kv-x/1', kind: 'move' },
      { task: 'kv-x/1', kind: 'stop' },
    ],
    advanceNotices: [
      { machineIds: ['x-m1'], kind: 'maintenance', start, end: start + 300_000, deadline: start + 60_000 },
    ],
  });
  fleet.pass(50_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: before });
  fleet.pass(60_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: meanwhile });
  fleet.pass(600_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3, versions: { 'kv:1': 3 } });
});

test('without a controller tasks move away within the budget, and at the deadline the rest is stopped', async () => {
  const fleet = givenFleet();
  await fleet.job('kv-x', { tasks: 6, budget: 1, timings: { fetchMs: 0, stopMs: 0, startMs: 40_000 } });
  await fleet.control('POST', '/faults', { ...MAINTENANCE, machines: ['x-m0', 'x-m1', 'x-m2', 'x-m3', 'x-m4'] });
  expect(await fleet.look('kv-x')).toMatchObject({ moving: 1, running: 5 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(100_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 5 });
  fleet.pass(21_000);
  const late = await fleet.look('kv-x');
  expect(late.running).toBeLessThan(5);
  expect(late.down).toBeGreaterThan(0);
  fleet.pass(1_200_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
});

test('while a region’s scheduler is down its tasks run on and nothing new begins; then it continues where it was', async () => {
  const fleet = givenFleet();
  for (const job of ['kv-x', 'kv-y']) await fleet.job(job);
  await fleet.control('POST', '/faults', { kind: 'scheduler', id: 'x', downMs: 600_000 });
  const both = {
    ...update(UPDATE, 'kv-x', 'kv:2'),
    targets: ['kv-x', 'kv-y'].map((unit) => ({ unit, version: 'kv:2', artifacts: [], amount: { all: true } })),
  };
  await fleet.twine('executeUpdates', both);
  fleet.pass(300_000);
  const { units } = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body;
  expect(units).toMatchObject([
    { id: 'kv-x', state: 'pending', reason: 'the scheduler of region x is down' },
    { id: 'kv-y', state: 'done' },
  ]);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:1': 6 } });
  fleet.pass(600_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
});

test('a region stops only so many tasks a minute, whatever the cause', async () => {
  const fleet = givenFleet();
  await fleet.control('POST', '/reset', { pace: { perMinute: 60, burst: 10 } });
  await fleet.job('kv-x', { tasks: 200, nSmall: 200, budget: 200 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  expect(await fleet.look('kv-x')).toMatchObject({ updating: 10 });
  const [unit] = (await fleet.twine('trackUpdates', { updateId: UPDATE })).body.units;
  expect(unit?.reason).toBe('waiting for the rate limit of region x: 60 destructive operations a minute');
  fleet.pass(60_000);
  expect((await fleet.look('kv-x')).versions['kv:2']).toBe(70);
  fleet.pass(200_000);
  expect(await fleet.look('kv-x')).toMatchObject({ versions: { 'kv:2': 200 } });
});

test('the same seed and the same answers give the same world, however often it is looked at', async () => {
  const run = async (steps: number): Promise<unknown> => {
    const { fleet, track } = await givenControlled(({ request }) => request.slice(1, 4), { tasks: 40 });
    await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
    for (let step = 0; step < steps; step += 1) {
      fleet.pass(120_000 / steps);
      await track();
    }
    return fleet.control('GET', '/snapshot');
  };
  expect(await run(60)).toEqual(await run(1));
});

test('a world that is written out while a controller thinks continues when it is read again', async () => {
  const { fleet } = await givenControlled(({ request }) => request);
  await fleet.control('POST', '/faults', { kind: 'http', service: 'external', mode: 'delay', delayMs: 3000 });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(1000);
  await fleet.control('POST', '/snapshot', await fleet.control('GET', '/snapshot'));
  fleet.pass(60_000);
  expect(await fleet.look('kv-x')).toMatchObject({ running: 3, versions: { 'kv:2': 3 } });
});

test('a controller may look at the world that asks it', async () => {
  const looks: unknown[] = [];
  const app = { fetch: async () => Response.json((looks.push(await fleet.look('kv-x')), { ack: [] })) };
  const fleet: TestFleet = givenFleet({ fetch: viaApp(app) });
  await fleet.job('kv-x', { controller: CONTROLLER });
  await fleet.twine('executeUpdates', update(UPDATE, 'kv-x', 'kv:2'));
  fleet.pass(1000);
  await fleet.look('kv-x');
  expect(looks[0]).toMatchObject({ name: 'kv-x', running: 6 });
});

test('the leader of a job is another as soon as it stops', async () => {
  const { createJob } = await import('../../simulator/twine/job');
  const control = { kind: 'external', url: null, deadlineMs: 1, everyMs: 1, leader: 2, options: {} };
  const spec = {
    name: 'j',
    service: 's',
    region: 'x',
    labels: {},
    nSmall: { count: 1 },
    budget: { count: 1 },
    size: 3,
  };
  const timings = { fetchMs: 0, stopMs: 0, startMs: 0 };
  expect(createJob({ ...spec, timings, version: 1, control }, 0).leader).toBe(2);
  expect(createJob({ ...spec, timings, version: 1 }, 0).leader).toBe(-1);
});

test('an operation without leave is what the checker is for', async () => {
  const { taskControlChecker } = await import('../../simulator/checkers/taskControl');
  const memories = new Map<string, unknown>();
  const fleet = { jobs: new Map([['j', { control: {} }]]) } as never;
  const stop = () =>
    taskControlChecker.see(
      { kind: 'task', job: 'j', slot: 1, from: 'running', to: 'updating', why: 'update', update: 'u', previous: null },
      memories,
      fleet,
    );
  taskControlChecker.see({ kind: 'op-approved', job: 'j', slot: 1, op: 'update' }, memories, fleet);
  expect([stop(), stop()]).toEqual([null, 'j/1 was stopped (update) without leave of its controller']);
});
