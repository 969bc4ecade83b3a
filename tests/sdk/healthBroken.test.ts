import { foldEvaluation, NO_HISTORY } from '../../domain/health/fold';
import { healthCheckSchema } from '../../domain/spec/health';
import { judgeTargets, prometheusQuery } from '../../sdk';
import {
  answering,
  fakePrometheus,
  matrix,
  tasksIn,
  type Asked,
  type FakePrometheus,
  type Reply,
} from '../builders/prometheusServer';

/** Broken sources never pass a phase and never revert one: each trouble once over good tasks and once over bad ones. */

const servers: FakePrometheus[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const LOOKBACK_MS = 60_000;
const checks = [
  { name: 'simple', threshold: { above: 0.05 } },
  { name: 'expression', threshold: { above: 0.05 }, metric: 'sum by (task) (errors{$selector})' },
  { name: 'worst', threshold: { above: 0.05 }, reduce: 'max' },
  { name: 'control', threshold: { increase: '10%' }, compare: 'control' },
  { name: 'before', threshold: { increase: '10%' }, compare: 'before' },
  { name: 'ranks', threshold: { increase: '10%' }, compare: 'control', method: 'mann-whitney' },
].map((fields) => healthCheckSchema.parse({ metric: 'errors', lookback: LOOKBACK_MS, ...fields }));

/** Three points of each task in the window that is asked for; the updated tasks have the value, all others 0.01. */
const samples = (asked: Asked, value: string, tasks: readonly string[] = tasksIn(asked)) => {
  const end = Number(asked.params['time'] ?? asked.params['end']);
  const of = (task: string): string => (task.startsWith('new') ? value : '0.01');
  return matrix(
    Object.fromEntries(tasks.map((task) => [task, [50, 25, 0].map((ago) => [end - ago, of(task)] as const)])),
  );
};
const whole =
  (value: string): Reply =>
  (asked, response) =>
    answering(samples(asked, value))(asked, response);

interface Options {
  readonly tasks?: number;
  readonly clockAheadMs?: number;
  readonly timeoutMs?: number;
}

/** The verdict of a deploy on one evaluation through a server with such answers. */
async function deployOver(reply: Reply, { tasks = 10, clockAheadMs = 0, timeoutMs = 10_000 }: Options = {}) {
  const server = await fakePrometheus(reply);
  servers.push(server);
  const now = Date.now() + clockAheadMs;
  const named = (name: string) => Array.from({ length: tasks }, (_, slot) => `${name}/${slot}`);
  const response = await judgeTargets({
    checks,
    targets: [{ id: 'x', fresh: named('new'), control: named('old'), before: named('was') }],
    baseline: { start: now - 3 * LOOKBACK_MS, end: now - 2 * LOOKBACK_MS },
    now,
    query: prometheusQuery({ url: server.url, timeoutMs }),
    deadlineMs: 2 * timeoutMs,
  });
  const input = { checks, skips: [], response, now, lastUpdateAt: now - LOOKBACK_MS, onUnhealthy: 'revert' } as const;
  const { verdict, action, rows, fold, reason } = foldEvaluation(NO_HISTORY, input);
  return { passes: verdict === 'healthy', action, verdicts: new Set(rows.map((row) => row.verdict)), fold, reason };
}

test('through a source that works good tasks pass, and bad ones revert', async () => {
  expect(await deployOver(whole('0.01'))).toMatchObject({ passes: true, action: 'none' });
  expect(await deployOver(whole('0.2'))).toMatchObject({ passes: false, action: 'revert' });
});

const at = (response: Parameters<Reply>[1], clock: number): void => {
  response.setHeader('date', new Date(Date.now() + clock).toUTCString());
};

describe.each([
  ['good', '0.01'],
  ['bad', '0.2'],
])('over %s tasks neither passes nor reverts', (_title, value) => {
  test.each<[string, Reply, Options, string]>([
    ['no answer', () => undefined, { timeoutMs: 100 }, 'errored'],
    ['a broken connection', (_, response) => response.destroy(), {}, 'errored'],
    ['500', answering('', 500), {}, 'errored'],
    [
      '503 for one request of several',
      (asked, response) =>
        (tasksIn(asked).some((task) => task.endsWith('/300')) ? answering('', 503) : whole(value))(asked, response),
      { tasks: 500 },
      'errored',
    ],
    ['429', answering({ status: 'error', error: 'slow down' }, 429), {}, 'errored'],
    ['a redirect', answering('', 302, { location: '/login' }), {}, 'errored'],
    ['a page instead of data', answering('<html>'), {}, 'errored'],
    [
      'an error inside 200',
      (asked, response) => answering({ ...samples(asked, value), status: 'error', error: 'no' })(asked, response),
      {},
      'errored',
    ],
    [
      'a partial answer',
      (asked, response) => answering({ ...samples(asked, value), warnings: ['a store is away'] })(asked, response),
      {},
      'errored',
    ],
    [
      'half an answer',
      (asked, response) => answering(JSON.stringify(samples(asked, value)).slice(0, -20))(asked, response),
      {},
      'errored',
    ],
    [
      'the tasks of somebody else',
      (asked, response) => answering(samples(asked, value, ['new/77']))(asked, response),
      {},
      'errored',
    ],
    ['no series', answering(matrix({})), {}, 'inconclusive'],
    [
      'series without points',
      (asked, response) =>
        answering(matrix(Object.fromEntries(tasksIn(asked).map((task) => [task, []]))))(asked, response),
      {},
      'inconclusive',
    ],
    ['NaN', whole('NaN'), {}, 'inconclusive'],
    ['+Inf', whole('+Inf'), {}, 'inconclusive'],
    [
      'old points only',
      (asked, response) =>
        answering(matrix(Object.fromEntries(tasksIn(asked).map((task) => [task, [[1000, value]]]))))(asked, response),
      {},
      'inconclusive',
    ],
    [
      'points of the future only',
      (asked, response) =>
        answering(matrix(Object.fromEntries(tasksIn(asked).map((task) => [task, [[9e9, value]]]))))(asked, response),
      {},
      'inconclusive',
    ],
    [
      'a source whose clock is behind',
      (asked, response) => (at(response, -300_000), whole(value)(asked, response)),
      {},
      'errored',
    ],
    [
      'a source whose clock is ahead',
      (asked, response) => (at(response, 300_000), whole(value)(asked, response)),
      {},
      'errored',
    ],
    ['a clock of who asks that is ahead', whole(value), { clockAheadMs: 300_000 }, 'errored'],
  ])('%s', async (_name, reply, options, verdict) => {
    const { passes, action, verdicts, fold } = await deployOver(reply, options);
    expect({ passes, action, verdicts: [...verdicts] }).toEqual({ passes: false, action: 'none', verdicts: [verdict] });
    expect(fold).toEqual({});
  });
});

test('one task of a thousand missing never passes, since it may be the broken one, and excuses no bad ones', async () => {
  const missing =
    (value: string): Reply =>
    (asked, response) => {
      const tasks = tasksIn(asked).filter((task) => !task.endsWith('/500'));
      answering(samples(asked, value, tasks))(asked, response);
    };
  const good = await deployOver(missing('0.01'), { tasks: 1000 });
  expect(good).toMatchObject({ passes: false, action: 'none', fold: {} });
  expect(good.reason).toMatch(/but 1 of the 1000 updated tasks reported nothing$/);
  expect(await deployOver(missing('0.2'), { tasks: 1000 })).toMatchObject({ passes: false, action: 'revert' });
});

test('one task that only says NaN is as good as silent', async () => {
  const spoilt =
    (value: string): Reply =>
    (asked, response) => {
      const tasks = tasksIn(asked);
      const body = JSON.stringify(samples(asked, value, tasks));
      const ofOne = /"new\/3"},"values":\[(\[[^\]]*\],?)+\]/;
      answering(body.replace(ofOne, (series) => series.replace(/,"[\d.]+"/g, ',"NaN"')))(asked, response);
    };
  const good = await deployOver(spoilt('0.01'));
  expect(good).toMatchObject({ passes: false, action: 'none' });
  expect(good.reason).toMatch(/but 1 of the \d+ updated tasks reported nothing$/);
  expect(await deployOver(spoilt('0.2'))).toMatchObject({ passes: false, action: 'revert' });
});
