import { expectNoViolations, givenFleet, update } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const JOB = { name: 'kvstore-x', region: 'x', tasks: 6, version: 'kv:1', nSmall: 1, budget: 1 };

test.each([
  ['a job without a name', 'POST', '/jobs', { ...JOB, name: undefined }, 'name: '],
  ['a negative number of tasks', 'POST', '/jobs', { ...JOB, tasks: -1 }, 'tasks: '],
  ['an N_small of 0', 'POST', '/jobs', { ...JOB, nSmall: 'none' }, 'nSmall: '],
  ['what this world does not have', 'POST', '/jobs', { ...JOB, priority: 1 }, 'priority'],
  ['a controller that there is not', 'POST', '/jobs', { ...JOB, controller: { kind: 'none' } }, 'controller.kind: '],
  ['a controller nowhere', 'POST', '/jobs', { ...JOB, controller: { kind: 'external' } }, 'controller.url: '],
  [
    'more tasks than a controller can be sent',
    'POST',
    '/jobs',
    { ...JOB, tasks: 20_001, controller: { kind: 'external', url: 'http://c' } },
    'tasks: ',
  ],
  ['an autoscaler upside down', 'POST', '/jobs', { ...JOB, autoscale: { min: 5, max: 4 } }, 'autoscale: '],
  [
    'maintenance of no machine',
    'POST',
    '/faults',
    { kind: 'maintenance', machines: ['x-17'], startMs: 0, durationMs: 1, deadlineMs: 0 },
    'machines.0: ',
  ],
  ['a resize to half a task', 'PATCH', '/jobs/there', { tasks: 0.5 }, 'tasks: '],
  ['an unknown behaviour', 'POST', '/versions', { version: 'kv:2', behaviour: { explodes: true } }, 'explodes'],
  [
    'an error ratio of 200%',
    'POST',
    '/versions',
    { version: 'kv:2', behaviour: { errorRatio: 2 } },
    'behaviour.errorRatio: ',
  ],
  ['an unknown kind of fault', 'POST', '/faults', { kind: 'gremlin' }, 'kind: '],
  ['a machine with the name of no machine', 'POST', '/faults', { kind: 'machine', id: 'x-17' }, 'id: '],
  ['an HTTP fault without a mode', 'POST', '/faults', { kind: 'http', service: 'twine' }, 'mode: '],
  ['a metric that does not exist', 'GET', '/metrics?job=there&metric=nope', undefined, 'metric: '],
  ['a time that is none', 'GET', '/metrics?job=there&metric=system.cpu&from=noon', undefined, 'from: '],
  [
    'a report of a metric that does not exist',
    'POST',
    '/metrics',
    { points: [{ task: 'h', metric: 'x', value: 1 }] },
    'points.0.metric: ',
  ],
  ['metrics of no job', 'GET', '/metrics?metric=system.cpu', undefined, 'job: '],
  ['a ledger since noon', 'GET', '/ledger?since=noon', undefined, 'since: '],
  ['a speed of 0', 'POST', '/reset', { speed: 0 }, 'speed: '],
  ['a speed at which nothing lasts', 'POST', '/reset', { speed: 1e308 }, 'speed: '],
  [
    'more datacentres than switch boards',
    'POST',
    '/reset',
    { regions: { x: { msbs: 2, datacentres: 3 } } },
    'regions.x: ',
  ],
  ['a region on no switch board', 'POST', '/reset', { regions: { x: { msbs: 0 } } }, 'regions.x.msbs: '],
  ['half a snapshot', 'POST', '/snapshot', { snapshot: '{"kernel":{},"state":{"fleet":{}}}' }, 'snapshot: '],
  ['a snapshot that is none', 'POST', '/snapshot', { snapshot: '{}' }, 'snapshot: '],
])('%s is a 400 that names the field', async (_, method, path, body, field) => {
  const fleet = givenFleet();
  await fleet.job('there');
  const { status, body: answer } = await fleet.answer(method, path, body);
  expect(status).toBe(400);
  expect(answer.error.message).toContain(field);
});

test('an unknown job is a 404, a second one of a name a 409', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  expect((await fleet.answer('GET', '/jobs/nope')).status).toBe(404);
  expect((await fleet.answer('PATCH', '/jobs/nope', { tasks: 1 })).status).toBe(404);
  expect((await fleet.answer('POST', '/jobs', JOB)).status).toBe(409);
});

test('a job shows its tasks by state and version', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { labels: { tier: 'web' } });
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 2 } }));
  const views = {
    name: 'kvstore-x',
    service: 'kvstore',
    region: 'x',
    labels: { tier: 'web' },
    size: 6,
    jobVersion: 'kv:1',
  };
  expect(await fleet.control('GET', '/jobs')).toEqual([
    { ...views, versions: { 'kv:1': 5, 'kv:2': 1 }, running: 5, updating: 1, down: 0, moving: 0 },
  ]);
});

test('a job that grows starts its new tasks, and one that shrinks loses the last ones', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  expect(await fleet.control('PATCH', '/jobs/kvstore-x', { tasks: 9 })).toMatchObject({ size: 9, running: 6, down: 3 });
  fleet.pass(60_000);
  expect(await fleet.look('kvstore-x')).toMatchObject({ size: 9, running: 9 });
  await fleet.control('PATCH', '/jobs/kvstore-x', { tasks: 2 });
  expect(await fleet.look('kvstore-x')).toMatchObject({ size: 2, running: 2 });
});

test('tasks that vanish in the middle of an update are gone, and it ends without them', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2'));
  await fleet.control('PATCH', '/jobs/kvstore-x', { tasks: 4 });
  fleet.pass(600_000);
  const end = (await fleet.twine('trackUpdates', { updateId: 'deploy/p/1/d/1/0/1' })).body.units[0];
  expect(end).toMatchObject({ state: 'done', targeted: 6, live: 4, gone: 2 });
});

test('speed divides every duration', async () => {
  const [slow, fast] = [givenFleet(), givenFleet({ speed: 60 })];
  for (const fleet of [slow, fast]) {
    await fleet.job('kvstore-x');
    await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 1 } }));
    fleet.pass(300);
  }
  expect((await slow.look('kvstore-x')).updating).toBe(1);
  expect(await fast.look('kvstore-x')).toMatchObject({ updating: 0, running: 6 });
});

test('reset leaves nothing of the world before', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2'));
  expect(await fleet.control('POST', '/reset', { seed: 5, speed: 2 })).toEqual({ seed: 5, speed: 2 });
  expect([await fleet.control('GET', '/jobs'), await fleet.control('GET', '/ledger')]).toEqual([[], []]);
});

test('a region has twelve main switch boards in three datacentres, unless the world was begun with others', async () => {
  const fleet = givenFleet();
  expect(
    await fleet.control('POST', '/reset', { regions: { x: { msbs: 20 }, z: { msbs: 10, datacentres: 2 } } }),
  ).toEqual({ seed: 1, speed: 1, regions: { x: { msbs: 20, datacentres: 5 }, z: { msbs: 10, datacentres: 2 } } });
  for (const job of ['kv-x', 'kv-y', 'kv-z']) await fleet.job(job, { tasks: 600 });
  const downBy = async (kind: string, id: string): Promise<number[]> => {
    const fault = (await fleet.control('POST', '/faults', { kind, id })) as { id: string };
    const down = await Promise.all(['kv-x', 'kv-y', 'kv-z'].map(async (job) => (await fleet.look(job)).down));
    await fleet.control('DELETE', `/faults/${fault.id}`);
    fleet.pass(60_000);
    return down;
  };
  expect(await downBy('msb', 'x-msb19')).toEqual([30, 0, 0]);
  expect(await downBy('msb', 'y-msb11')).toEqual([0, 50, 0]);
  expect(await downBy('msb', 'z-msb10')).toEqual([0, 0, 0]);
  expect(await downBy('datacentre', 'x-dc4')).toEqual([120, 0, 0]);
  expect(await downBy('datacentre', 'y-dc2')).toEqual([0, 200, 0]);
  await fleet.control('POST', '/snapshot', await fleet.control('GET', '/snapshot'));
  expect(await downBy('datacentre', 'z-dc1')).toEqual([0, 0, 300]);
});

test('the process answers whether it lives, and 404 for what it does not have', async () => {
  const { app } = givenFleet();
  expect([(await app.request('/livez')).status, (await app.request('/readyz')).status]).toEqual([200, 200]);
  expect((await app.request('/push-types/hosts/trackUpdates', { method: 'POST', body: '{}' })).status).toBe(404);
  expect((await app.request('/nowhere')).status).toBe(404);
});
