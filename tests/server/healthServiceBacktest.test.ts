import { conveyorError } from '../../domain/errors';
import type { BacktestedDeploy } from '../../domain/health/backtest';
import { viaApp } from '../../sdk';
import { parseRegistry } from '../../settings/registry';
import { createHealthService } from '../../server/hcs/app';
import { backtestWorld, type BacktestWorld, type PastRelease } from '../builders/backtestWorld';
import { letPass, revertedBy, through } from '../builders/historyRows';
import { START } from '../builders/simulatorFleet';

const HOUR = 3_600_000;
const CHECK = { name: 'errors', metric: 'rpc.error_ratio', threshold: { above: 0.05 }, lookback: '3m', minSamples: 3 };
const registry = parseRegistry(
  { extensions: [{ name: 'twine', kind: 'push-type', url: 'http://fleet/push-types/twine' }] },
  {},
);

const RELEASES: readonly PastRelease[] = [
  { errorRatio: 0, deploy: through('kv:0') },
  { errorRatio: 0.2, deploy: revertedBy('health', 'kv:2') },
  { errorRatio: 0.08, deploy: through('kv:3', letPass('errors')) },
  { errorRatio: 0.03, deploy: through('kv:4') },
  { errorRatio: 0, deploy: through('kv:5'), trigger: { kind: 'rollback', of: 4, actor: 'user:ana' } },
  { errorRatio: 0, deploy: through('kv:6'), lost: true },
];

const serviceOf = ({ client, fleet }: BacktestWorld, connect = () => Promise.resolve(client)) =>
  createHealthService({
    ...{ sources: () => [], now: () => 0 },
    past: { connect, registry, now: fleet.now, fetch: viaApp(fleet.app) },
  });

async function ask(world: BacktestWorld, body: object, app = serviceOf(world)) {
  const answer = await app.request('/backtest', { method: 'POST', body: JSON.stringify(body) });
  return {
    status: answer.status,
    body: (await answer.json()) as { readonly tried: readonly BacktestedDeploy[]; readonly plot: string },
  };
}

test('a check is tried on past deploys, whose fate says what it should have done', async () => {
  const world = await backtestWorld(RELEASES);
  const { status, body } = await ask(world, { check: CHECK, since: '14d' });
  expect(status).toBe(200);
  const { tried } = body;
  expect(tried.map(({ id, result, why }) => [id, result, why])).toEqual([
    ['kvstore/5/deploy', 'unknown', 'a rollback, which brings back what ran before'],
    ['kvstore/4/deploy', 'false-negative', 'rolled back by user:ana in kvstore/5'],
    ['kvstore/3/deploy', 'false-positive', 'succeeded after user:ana let errors pass'],
    ['kvstore/2/deploy', 'found', 'reverted by health'],
    ['kvstore/1/deploy', 'passed', 'succeeded'],
  ]);
  expect(body).toMatchObject({
    check: 'errors',
    quality: { truePositives: 1, falsePositives: 1, trueNegatives: 1, falseNegatives: 1 },
    better: { falsePositives: 1, falseNegatives: 0 },
    lost: ['kvstore/6/deploy'],
  });
  // Its window has to be filled first.
  expect(tried[3]?.foundAfterMs).toBe(180_000);
  expect(body.plot).toContain('kvstore/2/deploy: found, after 3m');
});

test('since is a time as well, a pipeline may be named, and what people know counts for more than the fate', async () => {
  const world = await backtestWorld(RELEASES);
  const since = new Date(START + HOUR).toISOString();
  const labels = [
    { deploy: 'kvstore/3/deploy', bad: true, why: 'it lost orders', faultAt: START + HOUR + 600_000 },
    { deploy: 'kvstore/4/deploy', bad: false },
  ];
  const { body } = await ask(world, { check: CHECK, since, pipeline: 'kvstore', labels });
  const { tried } = body;
  expect(tried.map(({ id, result, why }) => [id, result, why]).slice(1)).toEqual([
    ['kvstore/4/deploy', 'passed', 'labelled'],
    ['kvstore/3/deploy', 'false-positive', 'it lost orders'],
  ]);
});

test('recordings of a labelled set are tried beside the deploys', async () => {
  const world = await backtestWorld([]);
  const points = (value: number) => Array.from({ length: 30 }, (_, minute) => [START + minute * 60_000, value]);
  const side = (value: number) => ({ tasks: 1, series: [{ labels: {}, points: points(value) }] });
  const recording = (value: number) => ({
    ...{ fresh: side(value), control: side(0), before: side(0) },
    ...{ updatedAt: START, until: START + 20 * 60_000, baseline: { start: START - HOUR, end: START } },
  });
  const labels = [
    { name: 'leak of last winter', bad: true, recording: recording(0.2) },
    { name: 'busy Monday', bad: false, recording: recording(0.06) },
    { name: 'of another check', check: 'cpu', bad: true, recording: recording(1) },
  ];
  const { body } = await ask(world, { check: CHECK, since: '14d', labels });
  expect(body).toMatchObject({
    tried: [
      { id: 'leak of last winter', result: 'found', foundAfterMs: 180_000 },
      { id: 'busy Monday', result: 'false-positive' },
    ],
    better: { text: 'above: 0.1', falsePositives: 0, falseNegatives: 0 },
  });
});

test('an answer names what is missing: no Temporal, no such pipeline, no push type, nonsense', async () => {
  const world = await backtestWorld(RELEASES.slice(0, 1));
  const refuse = () =>
    Promise.reject(conveyorError('temporal-unreachable', { address: 'temporal:7233', detail: 'refused' }));
  expect(await ask(world, { check: CHECK, since: '14d' }, serviceOf(world, refuse))).toMatchObject({
    status: 503,
    body: { error: { code: 'temporal-unreachable', retryable: true } },
  });
  expect(await ask(world, { check: CHECK, since: '14d', pipeline: 'gone' })).toMatchObject({
    status: 404,
    body: { error: { code: 'unknown-pipeline' } },
  });
  const without = createHealthService({
    ...{ sources: () => [], now: () => 0 },
    past: { connect: () => Promise.resolve(world.client), registry: parseRegistry({}, {}), now: world.fleet.now },
  });
  expect(await ask(world, { check: CHECK, since: '14d' }, without)).toMatchObject({
    body: { error: { code: 'unknown-extension' } },
  });
  for (const [field, body] of [
    ['since', { check: CHECK, since: 'yesterday' }],
    ['check', { since: '14d' }],
    ['labels', { check: CHECK, since: '14d', labels: [{ bad: true }] }],
  ] as const)
    expect(await ask(world, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid-request', message: expect.stringContaining(field) } },
    });
});
