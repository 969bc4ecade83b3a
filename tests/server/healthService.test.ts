import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { healthCheckSchema } from '../../domain/spec/health';
import {
  judgeTargets,
  remoteJudge,
  serveDataSource,
  viaApp,
  ExtensionError,
  type JudgeRequest,
  type JudgeResponse,
  type RemoteJudgeOptions,
} from '../../sdk';
import type { SourceRef } from '../../sdk/health/sources';
import { conveyorError } from '../../domain/errors';
import { parseRegistry } from '../../settings/registry';
import { createHealthService } from '../../server/hcs/app';
import type { PastAccess } from '../../server/hcs/backtest';
import { givenFleet } from '../builders/simulatorFleet';
import { answering, fakePrometheus, matrix } from '../builders/prometheusServer';

const NOW = 1_000_000;
const context = { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: {} };
const check = (fields: object = {}) =>
  healthCheckSchema.parse({ name: 'errors', metric: 'errors', lookback: 3000, threshold: { above: 0.05 }, ...fields });
const unit = (id: string, fresh: string[]) => ({ id, fresh, control: [], before: [] });
const wanted = (request: Partial<JudgeRequest> = {}) => ({
  checks: [check()],
  targets: [unit('x', ['a'])],
  baseline: { start: NOW - 90_000, end: NOW - 60_000 },
  now: NOW,
  ...request,
});

/** A data source over the protocol in which every task has the same value. */
const store = (value: number) =>
  viaApp(
    serveDataSource('store', {
      query: ({ metric, selector, end }, call) => {
        if (metric === 'nothing') throw new ExtensionError('unknown-metric', `there is no ${metric}`);
        const labels = { actor: call.context.actor };
        return {
          series: (selector.tasks ?? []).map((task) => ({ labels: { ...labels, task }, points: [[end, value]] })),
        };
      },
    }),
  );
const metrics: SourceRef = { name: 'metrics', url: 'http://store', timeoutMs: 1000 };
const nobody = () =>
  Promise.reject(conveyorError('temporal-unreachable', { address: 'temporal:7233', detail: 'refused' }));
const past: PastAccess = { connect: nobody, registry: parseRegistry({}, {}), now: () => NOW };
const service = (value = 0.5, sources = [metrics], token?: string) =>
  createHealthService({
    sources: () => sources,
    now: () => performance.now(),
    past,
    fetch: store(value),
    ...(token ? { token } : {}),
  });
const judge = (app: ReturnType<typeof service>, options: Partial<RemoteJudgeOptions> = {}) =>
  remoteJudge({ url: 'http://hcs', fetch: viaApp(app), ...options });
const errored = (detail: string) =>
  expect.objectContaining({ verdict: 'errored', reason: expect.stringContaining(detail) });

test('a push type gets the verdicts of its tasks from the service', async () => {
  const answer = await judge(service())(wanted(), { context });
  expect(answer.units).toEqual([
    { id: 'x', checks: [expect.objectContaining({ name: 'errors', verdict: 'unhealthy', observed: 0.5, tasks: 1 })] },
  ]);
  expect((await judge(service(0))(wanted(), { context })).units[0]?.checks[0]?.verdict).toBe('healthy');
});

test('a unit of whose updated tasks none can be reached is as inconclusive through the service as without it', async () => {
  const request = wanted({ targets: [{ ...unit('x', []), updated: 3 }] });
  const byItself = await judgeTargets({ ...request, query: () => Promise.reject(new Error('nothing to ask')) });
  expect(await judge(service())(request, { context })).toEqual(byItself);
  const reason = expect.stringContaining('of 3 updated tasks none can be reached');
  expect(byItself.units[0]?.checks).toEqual([expect.objectContaining({ verdict: 'inconclusive', reason })]);
});

test('checks that name no source mean that of the fleet, or the only one there is', async () => {
  const sources = [metrics, { ...metrics, name: 'other' }];
  const first = async (options: object, fields: object = {}) =>
    (await judge(service(0, sources), options)(wanted({ checks: [check(fields)] }), { context })).units[0]?.checks[0];
  expect(await first({ source: 'other' })).toMatchObject({ verdict: 'healthy' });
  expect(await first({}, { source: 'other' })).toMatchObject({ verdict: 'healthy' });
  expect(await first({})).toEqual(errored('the check names no data source; there are metrics, other'));
  expect(await first({ source: 'x' })).toEqual(errored('there is no data source x; there are metrics, other'));
});

test('a source that is a Prometheus is asked as one', async () => {
  const prometheus = await fakePrometheus(answering(matrix({ a: [[999, '0.01']] })));
  const sources = [{ ...metrics, url: prometheus.url, prometheus: {} }];
  const answer = await judge(service(0, sources))(wanted(), { context });
  await prometheus.close();
  expect(answer.units[0]?.checks[0]).toMatchObject({ verdict: 'healthy', observed: 0.01 });
});

test('a check whose source fails is errored, and the others are judged', async () => {
  const checks = [check(), check({ name: 'gone', metric: 'nothing' })];
  const answer = await judge(service(0))(wanted({ checks }), { context });
  expect(answer.units[0]?.checks).toEqual([
    expect.objectContaining({ verdict: 'healthy' }),
    errored('there is no nothing'),
  ]);
});

test.each<[string, Partial<RemoteJudgeOptions>, string]>([
  ['is gone', { fetch: () => Promise.reject(new TypeError('connect ECONNREFUSED')) }, 'connect ECONNREFUSED'],
  ['is slow', { fetch: () => new Promise(() => undefined), timeoutMs: 20 }, 'no answer within 20 ms'],
  ['is something else', { fetch: () => Promise.resolve(new Response('<html>')) }, 'not JSON'],
  ['wants a token', { token: 'wrong' }, 'the bearer token is missing or wrong'],
])('where the service %s, every check of every unit that was updated is errored', async (_title, options, detail) => {
  // A fetch that never ends by itself is ended by the deadline, as a real one is.
  const { fetch, ...others } = options;
  const ends = fetch && viaApp({ fetch } as never);
  const ask = judge(service(0, [metrics], 'secret'), { ...others, ...(ends ? { fetch: ends } : {}) });
  const targets = [unit('x', ['a']), unit('y', [])];
  const answer = await ask(wanted({ targets, checks: [check(), check({ name: 'all', scope: 'deploy' })] }), {
    context,
  });
  expect(answer).toEqual({
    units: [
      { id: 'x', checks: [errored(detail)] },
      { id: 'y', checks: [] },
    ],
    deploy: { checks: [errored(detail)] },
  });
  expect(answer.deploy.checks[0]?.reason).toContain('all could not be evaluated: at http://hcs: ');
});

test('a request may take ready checks and change them, as a pipeline file may', async () => {
  const checks = [{ uses: 'standard/rpc-errors', name: 'mine', lookback: '3s', minSamples: 1 }, { uses: 'standard/x' }];
  const ask = (some: object[]) =>
    service().request('/evaluate', { method: 'POST', body: JSON.stringify({ context, ...wanted(), checks: some }) });
  const answer = (await (await ask(checks.slice(0, 1))).json()) as JudgeResponse;
  expect(answer.units[0]?.checks).toEqual([expect.objectContaining({ name: 'mine', verdict: 'unhealthy' })]);
  const refused = await ask(checks);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('there is no ready check')]);
});

test('half a million tasks fit into a request', async () => {
  const fresh = Array.from({ length: 500_000 }, (_, slot) => `kvstore-x/${slot}@1795244373544`);
  const answer = await judge(service(0))(wanted({ targets: [unit('x', fresh)], checks: [] }), { context });
  expect(answer.units).toEqual([{ id: 'x', checks: [] }]);
});

test('it describes itself, says that it lives, and counts verdicts, time and failures of sources', async () => {
  const app = service();
  const checks = [check(), check({ name: 'gone', metric: 'nothing' }), check({ name: 'lost', source: 'made-up' })];
  await judge(app)(wanted({ checks }), { context });
  expect((await app.request('/healthz')).status).toBe(200);
  expect(Object.keys(((await (await app.request('/openapi.json')).json()) as { paths: object }).paths)).toEqual([
    '/evaluate',
    '/backtest',
  ]);
  const answer = await app.request('/metrics');
  expect(answer.headers.get('content-type')).toContain('version=0.0.4');
  const lines = (await answer.text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'conveyor_health_checks_total{verdict="healthy"} 0',
      'conveyor_health_checks_total{verdict="unhealthy"} 1',
      'conveyor_health_checks_total{verdict="errored"} 2',
      'conveyor_health_evaluation_duration_seconds_count 1',
      'conveyor_health_source_queries_total{source="metrics"} 2',
      'conveyor_health_source_errors_total{source="metrics"} 1',
      'conveyor_health_source_errors_total{source="unknown"} 1',
    ]),
  );
  expect(lines.join()).not.toContain('made-up');
});

test('the request in docs/reference/health.md is one', async () => {
  const text = readFileSync(join(__dirname, '../../docs/reference/health.md'), 'utf8');
  const [, body] = /```json\n([^]*?)```/.exec(text.slice(text.indexOf('## The Health Check Service'))) ?? [];
  const answer = await service(0, [{ ...metrics, name: 'prometheus' }]).request('/evaluate', { method: 'POST', body });
  expect(await answer.json()).toMatchObject({ units: [{ id: 'kvstore-x', checks: [{ verdict: 'healthy' }] }] });
});

test('a malformed request is refused as by every service', async () => {
  const answer = await service().request('/evaluate', {
    method: 'POST',
    body: JSON.stringify({ context, targets: {} }),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({
    error: { code: 'invalid-request', message: expect.stringContaining('targets: '), retryable: false },
  });
  expect(await (await service().request('/nothing')).json()).toMatchObject({ error: { code: 'unknown-method' } });
});

test('the simulated fleet has its tasks judged by the service where it has one', async () => {
  const hcs = createHealthService({
    sources: () => [{ ...metrics, url: 'http://sim/data-source' }],
    now: () => 0,
    past,
    fetch: (request) => viaApp(asking.app)(request),
  });
  const asking = givenFleet({ healthService: { url: 'http://hcs', fetch: viaApp(hcs) } });
  const answers = [asking, givenFleet()].map(async (fleet) => {
    await fleet.job('kvstore-x');
    fleet.pass(600_000);
    const baseline = { start: fleet.now() - 600_000, end: fleet.now() - 300_000 };
    const checks = [check({ metric: 'rpc.error_ratio', lookback: 180_000, reduce: 'max' })];
    const targets = { units: ['kvstore-x'], updatedBy: [] };
    return (await fleet.twine('runHealthChecks', { targets, checks, baseline, now: fleet.now() })).body;
  });
  const [byService, byItself] = await Promise.all(answers);
  expect(byService).toEqual(byItself);
  expect(byService).toMatchObject({ units: [{ checks: [{ verdict: 'healthy', tasks: 6 }] }] });
  expect(await (await hcs.request('/metrics')).text()).toContain('conveyor_health_checks_total{verdict="healthy"} 1');
});

test.each<[string, Partial<JudgeRequest>]>([
  ['a moment that no clock shows', { now: 1e300, baseline: { start: 0, end: 1e300 } }],
  ['an interval of thousands of years', { intervalMs: 1e15 }],
])('%s is answered or refused at once, and does not keep the service from others', async (_title, request) => {
  const { lookback: _none, ...filling } = check({ transform: [{ fill: 'zero' }] });
  const response = await service().request('/evaluate', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...wanted({ checks: [filling], ...request }), context }),
  });
  expect(await response.text()).not.toContain('"healthy"');
});

test.each([
  ['a look back over thousands of years', [{ ...check(), lookback: 1e15 }], 'a check looks back 7d at most'],
  ['an average over as much', [{ ...check(), transform: [{ average: 1e15 }] }], 'a check looks back 7d at most'],
  ['a look back over nothing', [{ ...check(), lookback: 0 }], 'lookback'],
  ['an average over nothing', [{ ...check(), transform: [{ average: 0 }] }], 'transform'],
  ['two checks of one name', [check(), check()], 'two checks have the same name'],
  ['more checks than a deploy may have', Array.from({ length: 65 }, (_, nth) => check({ name: `c${nth}` })), '64'],
])('a request for %s is refused before anything is read', async (_title, checks, words) => {
  const response = await service().request('/evaluate', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...wanted({ checks }), context }),
  });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(words)]);
});
