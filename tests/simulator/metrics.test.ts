import type { CheckEvidence } from '../../domain/health/verdict';
import type { Series } from '../../sdk/protocol/dataSource';
import type { BehaviourSpec } from '../../simulator/metrics/behaviour';
import { METRICS } from '../../simulator/metrics/series';
import { expectNoViolations, givenFleet, START, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const MINUTE = 60_000;
const UPDATE = 'deploy/p/1/d/1/0/1';

async function series(fleet: TestFleet, metric: string, job = 'kvstore-x'): Promise<Series[]> {
  const range = `from=${fleet.now() - 10 * MINUTE}&to=${fleet.now()}`;
  return ((await fleet.control('GET', `/metrics?job=${job}&metric=${metric}&${range}`)) as { series: Series[] }).series;
}

const meanOf = (found: readonly Series[], version: string): number => {
  const values = found
    .filter(({ labels }) => labels.version === version)
    .flatMap(({ points }) => points.map(([, value]) => value));
  return values.reduce((a, b) => a + b, 0) / values.length;
};

/** Three of six tasks on kv:2, eleven minutes ago. */
async function halfUpdated(behaviour: BehaviourSpec, version = 'kv:2'): Promise<TestFleet> {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { nSmall: 3, budget: 3 });
  await fleet.behaves(version, behaviour);
  await fleet.twine('executeUpdates', update(UPDATE, 'kvstore-x', version, { amount: { count: 3 } }));
  fleet.pass(11 * MINUTE);
  return fleet;
}

test.each(METRICS)(
  '%s of every running task has a point a minute, also of before anything was asked',
  async (metric) => {
    const fleet = givenFleet();
    await fleet.job('kvstore-x');
    const found = await series(fleet, metric);
    expect(found).toHaveLength(6);
    for (const { points } of found)
      expect(points.map(([at]) => at)).toEqual(Array.from({ length: 10 }, (_, i) => START - (9 - i) * MINUTE));
  },
);

test.each([
  ['rpc.error_ratio', { errorRatio: 0.2 }, (bad: number, good: number) => bad > 0.15 && good < 0.01],
  ['log.error_rate', { errorRatio: 0.2 }, (bad: number, good: number) => bad > 100 * good],
  ['system.cpu', { cpuFactor: 1.5 }, (bad: number, good: number) => bad > 1.4 * good && bad < 1.6 * good],
  ['rpc.latency', { latencyFactor: 3 }, (bad: number, good: number) => bad > 2.5 * good],
  ['app.engagement', { engagementFactor: 0.8 }, (bad: number, good: number) => bad < 0.85 * good],
  ['system.memory', { memoryLeakMbPerMinute: 100 }, (bad: number, good: number) => bad > good + 300],
] as const)('%s shows what a bad version does, in its own tasks only', async (metric, behaviour, shows) => {
  const found = await series(await halfUpdated(behaviour), metric);
  expect(shows(meanOf(found, 'kv:2'), meanOf(found, 'kv:1'))).toBe(true);
});

test('a version that is described after its tasks started behaves so from then on, and not in the past', async () => {
  const fleet = await halfUpdated({});
  await fleet.behaves('kv:2', { errorRatio: 0.2 });
  fleet.pass(5 * MINUTE);
  const [first] = (await series(fleet, 'rpc.error_ratio')).filter(({ labels }) => labels.version === 'kv:2');
  expect(first?.points.map(([, value]) => value > 0.1)).toEqual([
    ...Array<boolean>(5).fill(false),
    ...Array<boolean>(5).fill(true),
  ]);
});

test.each([
  ['only in another region', { onlyRegion: 'y' }, [false, false]],
  ['only after five minutes', { afterMs: 5 * MINUTE }, [false, true]],
  ['only at more than its share', { atShare: 0.6 }, [false, false]],
  ['at less than its share', { atShare: 0.5 }, [true, true]],
])('a bug that shows %s', async (_, condition, expected) => {
  const found = (await series(await halfUpdated({ errorRatio: 0.2, ...condition }), 'rpc.error_ratio')).filter(
    ({ labels }) => labels.version === 'kv:2',
  );
  expect([found[0]?.points[1]?.[1], found[0]?.points.at(-1)?.[1]].map((value) => (value ?? 0) > 0.1)).toEqual(expected);
});

test('load moves to the tasks that are left when others are down', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { tasks: 12 });
  const before = meanOf(await series(fleet, 'rpc.rate'), 'kv:1');
  await fleet.control('POST', '/faults', { kind: 'datacentre', id: 'x-dc0' });
  fleet.pass(11 * MINUTE);
  const after = await series(fleet, 'rpc.rate');
  expect(after).toHaveLength(8);
  expect(meanOf(after, 'kv:1') / before).toBeGreaterThan(1.35);
});

test('a task gets a new identifier with every start, and each series belongs to one', async () => {
  const fleet = await halfUpdated({});
  const names = (await series(fleet, 'system.cpu')).map(({ labels }) => labels.task);
  expect(names.sort()).toEqual([
    'kvstore-x/0/2',
    'kvstore-x/1/2',
    'kvstore-x/2/2',
    'kvstore-x/3/1',
    'kvstore-x/4/1',
    'kvstore-x/5/1',
  ]);
});

const CHECKS = [
  { name: 'errors', metric: 'rpc.error_ratio', transform: [{ average: '3m' }], threshold: { above: 0.05 } },
  {
    name: 'cpu',
    metric: 'system.cpu',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { increase: '10%' },
  },
  { name: 'engagement', metric: 'app.engagement', lookback: '3m', compare: 'before', threshold: { decrease: '5%' } },
  {
    name: 'crashes',
    metric: 'system.crashes',
    lookback: '5m',
    transform: ['sum'],
    reduce: 'max',
    threshold: { above: 0 },
  },
];

async function judge(
  fleet: TestFleet,
  targets: Readonly<Record<string, unknown>> = {},
  checks: readonly object[] = CHECKS,
  now: number = fleet.now(),
): Promise<Record<string, CheckEvidence>> {
  const { body } = await fleet.twine('runHealthChecks', {
    targets: { units: ['kvstore-x'], updatedBy: [UPDATE], ...targets },
    checks,
    baseline: { start: START - 10 * MINUTE, end: START },
    now,
  });
  const [unit] = body.units as unknown as { checks: CheckEvidence[] }[];
  return Object.fromEntries((unit?.checks ?? []).map((evidence) => [evidence.name, evidence]));
}

const verdicts = (evidence: Record<string, CheckEvidence>) =>
  Object.fromEntries(Object.entries(evidence).map(([name, { verdict }]) => [name, verdict]));
const HEALTHY = { errors: 'healthy', cpu: 'healthy', engagement: 'healthy', crashes: 'healthy' };

test.each([
  ['a good version', {}, {}],
  ['one that fails requests', { errorRatio: 0.2 }, { errors: 'unhealthy' }],
  ['one that burns CPU', { cpuFactor: 1.3 }, { cpu: 'unhealthy' }],
  ['one that people do not like', { engagementFactor: 0.9 }, { engagement: 'unhealthy' }],
])('health checks of the updated tasks see %s', async (_, behaviour, unhealthy) => {
  expect(verdicts(await judge(await halfUpdated(behaviour)))).toEqual({ ...HEALTHY, ...unhealthy });
});

test('health is judged on the tasks that were updated: a bad version that was there before does not count', async () => {
  const fleet = await halfUpdated({});
  await fleet.behaves('kv:1', { errorRatio: 0.5, cpuFactor: 0.9 });
  fleet.pass(10 * MINUTE);
  const { errors, cpu } = await judge(fleet);
  expect(errors).toMatchObject({ verdict: 'healthy', tasks: 3, samples: 9 });
  expect(cpu?.reference).toBeLessThan((cpu?.observed ?? 0) * 0.93);
});

test('a task that moved to another machine is still one of the updated ones', async () => {
  const fleet = await halfUpdated({ errorRatio: 0.2 });
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m0' });
  fleet.pass(10 * MINUTE);
  expect((await judge(fleet)).errors).toMatchObject({ verdict: 'unhealthy', tasks: 3 });
});

test('a task that crashed and came up again after all shows its crashes', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  await fleet.behaves('kv:2', { crashOnStart: true });
  await fleet.twine('executeUpdates', update(UPDATE, 'kvstore-x', 'kv:2', { amount: { count: 1 } }));
  fleet.pass(30_000);
  await fleet.behaves('kv:2', {});
  fleet.pass(2 * MINUTE);
  expect((await fleet.look('kvstore-x')).running).toBe(6);
  expect((await judge(fleet)).crashes).toMatchObject({ verdict: 'unhealthy', tasks: 1 });
});

test('before anything was updated, all tasks are judged; with nothing updated in a unit, none', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  expect(await judge(fleet, { updatedBy: [] })).toMatchObject({ errors: { verdict: 'healthy', tasks: 6 } });
  expect(await judge(fleet)).toEqual({});
});

test('tasks of excluded updates belong neither to the new group nor to the control group', async () => {
  const fleet = await halfUpdated({});
  await fleet.twine(
    'executeUpdates',
    update('deploy/p/1/canary/1/0/1', 'kvstore-x', 'kv:9', { amount: { count: 1 }, exclude: [UPDATE] }),
  );
  await fleet.behaves('kv:9', { cpuFactor: 2 });
  fleet.pass(10 * MINUTE);
  const [mixed, clean] = [await judge(fleet), await judge(fleet, { exclude: ['deploy/p/1/canary/1/0/1'] })];
  expect(mixed.cpu?.reference).toBeGreaterThan((clean.cpu?.reference ?? 0) * 1.2);
});

test('a check may name the store of the fleet; a source that the fleet does not have is an error, not a verdict', async () => {
  const fleet = await halfUpdated({});
  const checks = ['metrics', 'prometheus'].map((source) => ({ ...CHECKS[0], name: source, source }));
  expect(verdicts(await judge(fleet, {}, checks))).toEqual({ metrics: 'healthy', prometheus: 'errored' });
});

test('the data source answers for the tasks that were asked about, on its own step', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  const context = { pipeline: 'p', release: 1, deployId: 'd', actor: 'user:alice', config: {} };
  const query = {
    metric: 'system.cpu',
    selector: { unit: 'kvstore-x', tasks: ['kvstore-x/2/1', 'kvstore-x/2/9'] },
    start: START - 5 * MINUTE,
    end: START + MINUTE,
    step: 1000,
  };
  const response = await fleet.app.request('/data-source/query', {
    method: 'POST',
    body: JSON.stringify({ context, ...query }),
  });
  const { series: found } = (await response.json()) as { series: Series[] };
  expect(found.map(({ labels, points }) => [labels.task, points.length])).toEqual([['kvstore-x/2/1', 5]]);
});

test('a past deploy is judged as it was then, though later ones have updated all of its tasks again', async () => {
  const fleet = await halfUpdated({ errorRatio: 0.2 });
  const [then, live] = [fleet.now(), await judge(fleet)];
  fleet.pass(1000);
  await fleet.twine('executeUpdates', update('deploy/p/2/d/1/0/1', 'kvstore-x', 'kv:3', { amount: { all: true } }));
  fleet.pass(60 * MINUTE);
  expect(await judge(fleet, {}, CHECKS, then)).toEqual(live);
  expect(verdicts(await judge(fleet))).not.toEqual(verdicts(live));
});
