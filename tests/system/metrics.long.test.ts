import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { freePorts } from '../../cli/stack/ports';
import { WORKER_METRICS } from '../../domain/metrics';
import { startFront, type Front } from './front';
import { ROOT } from './process';
import { findPrometheus } from './processes';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/** The metrics of a worker and a server as operators see them: real processes, scraped as Prometheus does. */
let stack: Stack;
let front: Front;
let workerUrl: string;
beforeAll(async () => {
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  workerUrl = `http://${address}/metrics`;
  stack = await Stack.open({ env: { CONVEYOR_METRICS: address, OTEL_EXPORTER_OTLP_ENDPOINT: await startCollector() } });
  front = await startFront(stack);
});
afterAll(() => stack.close());
afterAll(() => collector?.close());

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
}
const collected: Span[] = [];
let collector: ReturnType<typeof serve> | undefined;

/** The part of an OpenTelemetry collector that accepts OTLP over HTTP, as JSON. */
function startCollector(): Promise<string> {
  const app = new Hono();
  app.post('/v1/traces', async (c) => {
    const { resourceSpans } = await c.req.json<{ resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }>();
    collected.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    return c.json({});
  });
  return new Promise((resolve) => {
    collector = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
  });
}

const scraped = async (url: string): Promise<string> => (await fetch(url)).text();

test('a good release and a bad one are in the metrics of the worker that carried them, by outcome, span, verdict and extension', async () => {
  const shop = await given(stack);
  const release = (version: number) =>
    stack.conveyor(['release', shop.name, '--artifact', `executable=${shop.version(version)}`, '--wait']);
  expect(await release(2)).toMatchObject({ code: 0 });
  await shop.behaves(3, { errorRatio: 0.5 });
  expect(await release(3)).toMatchObject({ code: 3 });
  const text = await scraped(workerUrl);
  for (const line of [
    /^conveyor_releases_ended_total\{.*state="succeeded".*\} 1$/m,
    /^conveyor_deploys_ended_total\{.*outcome="succeeded".*\} 1$/m,
    /^conveyor_deploys_ended_total\{.*outcome="reverted".*\} 1$/m,
    /^conveyor_deploy_reverts_total\{.*by="health".*\} 1$/m,
    /^conveyor_deploy_verdicts_total\{.*verdict="unhealthy".*\} [1-9]/m,
    /^conveyor_deploy_span_seconds_count\{.*span="bake".*\} 2$/m,
    /^conveyor_release_queue_seconds_count\{.*\} 2$/m,
    /^conveyor_extension_request_seconds_count\{.*code="200".*extension="twine".*\} [1-9]/m,
    /^temporal_worker_task_slots_used\{.*\} \d/m,
  ])
    expect(text).toMatch(line);
});

test('both are traces, in which the requests to extensions are within the action that they are for', async () => {
  const roots = await eventually('both releases have been sent', async () => {
    const found = collected.filter(({ name, parentSpanId }) => name.startsWith('RUN shop') && !parentSpanId);
    return found.length === 2 && found;
  });
  for (const { traceId, spanId } of roots) {
    const of = collected.filter((span) => span.traceId === traceId);
    const ids = new Set(of.map((span) => span.spanId));
    expect(of.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId))).toEqual([]);
    const deploy = of.find(({ name }) => name === 'deploy');
    expect(deploy?.parentSpanId).toBe(spanId);
    const within = of.filter(({ parentSpanId }) => parentSpanId === deploy?.spanId).map(({ name }) => name);
    expect(within).toEqual(expect.arrayContaining(['update first', 'twine fetchDeployUnits', 'twine executeUpdates']));
    for (const span of of) expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  }
  expect(collected.filter(({ name }) => name === 'revert')).toHaveLength(1);
});

test('the metrics of the server count everything that runs, by kind and state', async () => {
  await eventually('the server has counted the pipeline', async () =>
    /^conveyor_pipelines [1-9]/m.test(await scraped(`${front.url}/metrics`)),
  );
  const text = await scraped(`${front.url}/metrics`);
  expect(text).toMatch(/^conveyor_releases\{state="running"\} \d+$/m);
  for (const state of ['baking', 'reverting', 'paused'])
    expect(text).toMatch(new RegExp(`^conveyor_deploys\\{state="${state}"\\} \\d+$`, 'm'));
  const queues = [...text.matchAll(/^conveyor_task_queue_backlog\{queue="(\w+)",kind="(\w+)"\} \d+$/gm)];
  expect(queues.map(([, queue, kind]) => `${queue} ${kind}`)).toEqual([
    ...['main workflow', 'main activity', 'urgent activity', 'looks activity', 'scripts activity'],
  ]);
});

test('every metric that alerts, the dashboard and the autoscaler ask for exists', async () => {
  const files = [
    'prometheus/alerts.yaml',
    'grafana/conveyor.json',
    'kubernetes/adapter.yaml',
    'kubernetes/conveyor.yaml',
  ];
  const asked = files.flatMap((file) => [
    ...readFileSync(join(ROOT, 'operations', file), 'utf8').matchAll(/\b(?:conveyor|temporal)_\w+/g),
  ]);
  const names = new Set(asked.map(([name]) => name.replace(/_(?:bucket|sum|count)$/, '')));
  const ofWorkers = Object.values(WORKER_METRICS).map(
    ({ kind, name }) => `${name}_${kind === 'counter' ? 'total' : kind}`,
  );
  const shown = `${await scraped(workerUrl)}${await scraped(`${front.url}/metrics`)}`;
  const missing = [...names].filter((name) => !ofWorkers.includes(name) && !shown.includes(`# TYPE ${name} `));
  // It exists once a workflow task has failed, which may happen at any time.
  const always = missing.filter((name) => name !== 'temporal_workflow_task_execution_failed_total');
  // These exist only after a failure, or with such a service.
  expect(always.sort()).toEqual([
    'conveyor_audit_lag_seconds',
    'conveyor_audit_lost_total',
    'conveyor_config_tailer_age_seconds',
  ]);
});

test('work that no worker takes is counted, with the age of the oldest, until one does', async () => {
  const shop = await given(stack);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  const waits = async (): Promise<[tasks: number, age: number]> => {
    const text = await scraped(`${front.url}/metrics`);
    const of = (name: string): number =>
      Number(new RegExp(`^${name}\\{queue="main",kind="workflow"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
    return [of('conveyor_task_queue_backlog'), of('conveyor_task_queue_backlog_age_seconds')];
  };
  expect(await waits()).toEqual([0, 0]);
  await stack.killWorker();
  await eventually('the end of the bake waits', async () => {
    const [tasks, age] = await waits();
    return tasks > 0 && age > 1;
  });
  await stack.startWorker();
  expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
  await eventually('nothing waits', async () => (await waits()).join() === '0,0');
});

const prometheus = findPrometheus(process.env);
const promtool = prometheus && join(dirname(prometheus), 'promtool');
if (promtool === undefined)
  process.stderr.write(
    '\nSKIPPED: nothing proves here that Prometheus takes the alerts: this machine has no Prometheus.\n\n',
  );

(promtool === undefined ? test.skip : test)('Prometheus takes the alerts, and what the dashboard asks', () => {
  const checked = (...args: string[]): string => execFileSync(promtool ?? '', ['check', ...args], { encoding: 'utf8' });
  expect(checked('config', join(ROOT, 'operations/prometheus/prometheus.yaml'))).toContain('SUCCESS');
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'operations/grafana/conveyor.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replace('$__rate_interval', '5m')));
  const rules = exprs.map((expr, index) => ({ record: `dashboard:${index}`, expr }));
  const file = stack.file('dashboard.yaml', { groups: [{ name: 'dashboard', rules }] });
  expect(checked('rules', file)).toContain(`${exprs.length} rules found`);
});
