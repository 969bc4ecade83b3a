import { healthCheckSchema, type HealthCheck } from '../../../domain/spec/health';
import { judgeTargets, type JudgeRequest, type Query } from '../../../sdk/health';

const NOW = 1_000_000;
const check = (fields: object): HealthCheck =>
  healthCheckSchema.parse({ name: 'errors', metric: 'errors', lookback: 3000, threshold: { above: 0.05 }, ...fields });
const comparing = { compare: 'control', threshold: { increase: '10%' } };
const unit = (id: string, fresh: string[], control: string[] = [], before: string[] = []) => ({
  id,
  fresh,
  control,
  before,
});

/** A store in which every task reports its value each second, and that keeps what it was asked. */
function store(values: Record<string, number>) {
  const asked: Parameters<Query>[0][] = [];
  const query: Query = (request) => {
    asked.push(request);
    const tasks = request.selector.tasks ?? Object.keys(values);
    const series = tasks.flatMap((task) => {
      const value = values[task];
      if (value === undefined) return [];
      const times = [request.end - 2000, request.end - 1000, request.end];
      return [{ labels: { task }, points: times.map((at): [number, number] => [at, value]) }];
    });
    return Promise.resolve({ series });
  };
  return { query, asked };
}
const judge = (request: Partial<JudgeRequest> & Pick<JudgeRequest, 'query'>) =>
  judgeTargets({
    checks: [check({})],
    targets: [],
    baseline: { start: NOW - 90_000, end: NOW - 60_000 },
    now: NOW,
    ...request,
  });

test('judges exactly the updated tasks of each unit', async () => {
  const { query, asked } = store({ a: 0.9, b: 0, old: 0 });
  const answer = await judge({ query, targets: [unit('x', ['a'], ['old']), unit('y', ['b'])] });
  expect(answer.units.map(({ id, checks }) => [id, checks[0]?.verdict])).toEqual([
    ['x', 'unhealthy'],
    ['y', 'healthy'],
  ]);
  expect(asked.map(({ selector, start, end, step }) => ({ ...selector, start, end, step }))).toEqual([
    { unit: 'x', tasks: ['a'], start: NOW - 3000, end: NOW, step: 1000 },
    { unit: 'y', tasks: ['b'], start: NOW - 3000, end: NOW, step: 1000 },
  ]);
});

test('names the first tasks that it asked for where there is no data of any', async () => {
  const { query } = store({});
  const reasons = async (...tasks: string[]): Promise<string | undefined> =>
    (await judge({ query, targets: [unit('x', tasks)] })).units[0]?.checks[0]?.reason;
  expect(await reasons('x-0')).toMatch(/has no data of the updated task \(errors, 3s\): asked for x-0$/);
  expect(await reasons('x-0', 'x-1', 'x-2', 'x-3', 'x-4')).toMatch(/: asked for x-0, x-1, x-2 and 2 more$/);
  const { query: half } = store({ new1: 2 });
  const answer = await judge({ query: half, checks: [check(comparing)], targets: [unit('x', ['new1'], ['old1'])] });
  expect(answer.units[0]?.checks[0]?.reason).toMatch(/the 1 task not yet updated .*: asked for old1$/);
});

test('compares with the tasks that are not updated, at the same time', async () => {
  const { query, asked } = store({ new1: 2, old1: 1 });
  const answer = await judge({ query, checks: [check(comparing)], targets: [unit('x', ['new1'], ['old1'], ['was1'])] });
  expect(answer.units[0]?.checks[0]).toMatchObject({ verdict: 'unhealthy', observed: 2, reference: 1 });
  expect(asked.map(({ selector }) => selector.tasks)).toEqual([['new1'], ['old1']]);
});

test('compares with the same tasks before the deploy when none is left, over the same length of time', async () => {
  const { query, asked } = store({ new1: 1, was1: 1 });
  const answer = await judge({ query, checks: [check(comparing)], targets: [unit('x', ['new1'], [], ['was1'])] });
  expect(answer.units[0]?.checks[0]?.reason).toContain('because no task is left that was not updated');
  expect(asked[1]).toMatchObject({ selector: { tasks: ['was1'] }, start: NOW - 63_000, end: NOW - 60_000 });
});

test('compares with the tasks of a version', async () => {
  const { query, asked } = store({ new1: 2 });
  await judge({
    query,
    checks: [check({ ...comparing, compare: { version: 'kv:9' } })],
    targets: [unit('x', ['new1'], ['old1'])],
  });
  expect(asked[1]?.selector).toEqual({ unit: 'x', labels: { version: 'kv:9' } });
});

test('a check of the whole deploy judges the tasks of all units as one group', async () => {
  const { query } = store({ a: 0.08, b: 0 });
  const answer = await judge({
    query,
    checks: [check({ scope: 'deploy' })],
    targets: [unit('x', ['a']), unit('y', ['b']), unit('z', [])],
  });
  expect(answer.deploy.checks[0]).toMatchObject({ verdict: 'healthy', observed: 0.04, tasks: 2 });
  expect(answer.units).toEqual([
    { id: 'x', checks: [] },
    { id: 'y', checks: [] },
    { id: 'z', checks: [] },
  ]);
});

test('a unit without an updated task has no evidence', async () => {
  const { query, asked } = store({});
  expect(await judge({ query, targets: [unit('x', [], ['old'])] })).toEqual({
    units: [{ id: 'x', checks: [] }],
    deploy: { checks: [] },
  });
  expect(asked).toEqual([]);
});

test('a unit whose updated tasks are all out of reach does not pass beside one that has evidence', async () => {
  const { query } = store({ a: 0, b: 0 });
  const lost = { ...unit('y', []), updated: 3 };
  const answer = await judge({
    query,
    checks: [check({}), check({ name: 'all', scope: 'deploy' })],
    targets: [unit('x', ['a', 'b']), lost],
  });
  expect(answer.units.map(({ checks }) => checks.map(({ verdict }) => verdict))).toEqual([
    ['healthy'],
    ['inconclusive'],
  ]);
  expect(answer.units[1]?.checks[0]?.reason).toBe(
    'errors has nothing to judge: of 3 updated tasks none can be reached',
  );
});

test('one task may be asked for without being named', async () => {
  const query: Query = ({ end }) => Promise.resolve({ series: [{ labels: {}, points: [[end, 0]] }] });
  const answer = await judge({ query, targets: [unit('x', ['a'])] });
  expect(answer.units[0]?.checks[0]?.verdict).toBe('healthy');
});

test.each<[string, Query, string]>([
  [
    'answers two series for one task and none for another',
    ({ end }) =>
      Promise.resolve({ series: [0, 0].map((value) => ({ labels: { task: 'a' }, points: [[end, value]] })) } as never),
    'errors could not be evaluated: the data source answered two series for a; one for each task is needed',
  ],
  [
    'does not say whose a series is',
    ({ end }) => Promise.resolve({ series: [0, 0].map((value) => ({ labels: {}, points: [[end, value]] })) } as never),
    'errors could not be evaluated: the data source answered a series without the label task, so nobody knows whose it is',
  ],
  ['fails', () => Promise.reject(new Error('no route')), 'errors could not be evaluated: no route'],
  [
    'does not answer in time',
    () => new Promise(() => undefined),
    'errors could not be evaluated: the data source did not answer within 20 ms',
  ],
  [
    'answers nonsense',
    () => Promise.resolve({ series: 'soon' } as never),
    'errors could not be evaluated: the data source answered with something that is not series of points',
  ],
  [
    'answers for other tasks',
    () => Promise.resolve({ series: [{ labels: { task: 'old' }, points: [] }] }),
    'errors could not be evaluated: the data source answered for old, which it was not asked about',
  ],
])('a data source that %s makes the check errored', async (_title, query, reason) => {
  const answer = await judge({ query, deadlineMs: 20, targets: [unit('x', ['a'])] });
  expect(answer.units[0]?.checks[0]).toMatchObject({ verdict: 'errored', reason });
});

test('a thousand units are not asked about all at once', async () => {
  let running = 0;
  let most = 0;
  const query: Query = async () => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return { series: [] };
  };
  const answer = await judge({ query, targets: Array.from({ length: 1000 }, (_, n) => unit(`u${n}`, ['a'])) });
  expect([answer.units.length, most]).toEqual([1000, 32]);
});
