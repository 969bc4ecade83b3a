import { prometheusQuery, type PrometheusOptions, type Query } from '../../sdk';
import {
  answering,
  fakePrometheus,
  matrix,
  tasksIn,
  type FakePrometheus,
  type Reply,
} from '../builders/prometheusServer';

const servers: FakePrometheus[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function source(reply: Reply, options: Partial<PrometheusOptions> = {}) {
  const server = await fakePrometheus(reply);
  servers.push(server);
  const query = prometheusQuery({ url: server.url, ...options });
  const ask = (request: Partial<Parameters<Query>[0]> = {}, signal = new AbortController().signal) => {
    const whole = {
      metric: 'errors',
      selector: { unit: 'x', tasks: ['a'] },
      start: 940_000,
      end: 1_000_000,
      step: 20_000,
    };
    return query({ ...whole, ...request }, { source: 'prometheus', signal });
  };
  return { server, ask };
}
const nothing = answering(matrix({}));

describe('the query', () => {
  test('a name is asked for the samples of the window, as they were scraped', async () => {
    const { server, ask } = await source(nothing, { token: 'secret' });
    await ask({ selector: { unit: 'x', tasks: ['x/1@7', 'x/2@9'] } });
    expect(server.asked).toEqual([
      {
        method: 'POST',
        path: '/api/v1/query',
        authorization: 'Bearer secret',
        params: { query: 'errors{task=~"x/1@7|x/2@9"}[60000ms]', time: '1000.000', timeout: '10000ms' },
      },
    ]);
  });

  test('an expression is evaluated at each step from after the start of the window up to its end', async () => {
    const { server, ask } = await source(nothing, { taskLabel: 'pod' });
    await ask({ metric: 'sum by (pod) (rate(errors_total{code=~"5..",$selector}[1m]))' });
    expect(server.asked[0]?.path).toBe('/api/v1/query_range');
    expect(server.asked[0]?.params).toMatchObject({
      query: 'sum by (pod) (rate(errors_total{code=~"5..",pod=~"a"}[1m]))',
      start: '960.000',
      end: '1000.000',
      step: '20.000',
    });
  });

  test.each([
    'errors_total{$selector}',
    'errors_total{code=~"5[0-9]{2}", $selector}',
    'errors_total { $selector,note="a}\\"{" }',
  ])('the selector %s is asked for its samples as well', async (metric) => {
    const { server, ask } = await source(nothing);
    await ask({ metric });
    const query = `${metric.replace('$selector', 'task=~"a"')}[60000ms]`;
    expect(server.asked[0]).toMatchObject({ path: '/api/v1/query', params: { query } });
  });

  test('every place of the tasks in an expression is filled', async () => {
    const { server, ask } = await source(nothing);
    await ask({ metric: 'bad{$selector} / all{$selector}' });
    expect(server.asked[0]?.params['query']).toBe('bad{task=~"a"} / all{task=~"a"}');
  });

  test.each([
    ['a.b+c', 'task=~"a\\\\.b\\\\+c"'],
    ['a"b\\c', 'task=~"a\\"b\\\\\\\\c"'],
    ['$1|{x}', 'task=~"\\\\$1\\\\|\\\\{x\\\\}"'],
  ])('the identifier %s means just itself', async (task, selector) => {
    const { server, ask } = await source(nothing);
    await ask({ selector: { unit: 'x', tasks: [task] } });
    expect(server.asked[0]?.params['query']).toContain(`{${selector}}`);
  });

  test('a version is asked for by its label, in its unit', async () => {
    const { server, ask } = await source(nothing, { unitLabel: 'job' });
    await ask({ metric: 'rpc.errors', selector: { unit: 'x', labels: { version: 'kv:9' } } });
    expect(server.asked[0]?.params['query']).toBe('{__name__="rpc.errors",job="x",version="kv:9"}[60000ms]');
  });

  test('ten thousand tasks are asked for a few hundred at a time, each once, and not all at once', async () => {
    const tasks = Array.from({ length: 10_000 }, (_, slot) => `kvstore-x/${slot}@${slot * 7919}`);
    let [running, most] = [0, 0];
    const { server, ask } = await source((asked, response) => {
      most = Math.max(most, (running += 1));
      setImmediate(() => {
        running -= 1;
        answering(matrix(Object.fromEntries(tasksIn(asked).map((task) => [task, [[1000, '1']]]))))(asked, response);
      });
    });
    const { series } = await ask({ selector: { unit: 'x', tasks } });
    expect(series.map(({ labels }) => labels['task'])).toEqual(tasks);
    expect(server.asked).toHaveLength(40);
    expect(most).toBeLessThanOrEqual(8);
  });

  test('no tasks are not asked for', async () => {
    const { server, ask } = await source(nothing);
    expect(await ask({ selector: { unit: 'x', tasks: [] } })).toEqual({ series: [] });
    expect(server.asked).toEqual([]);
  });

  test('more points than Prometheus gives are not asked for', async () => {
    const { server, ask } = await source(nothing);
    const day = 86_400_000;
    await ask({
      metric: 'sum by (task) (a{$selector})',
      start: 1_700_000_000_000 - day,
      end: 1_700_000_000_000,
      step: 1000,
    });
    const { start, end, step } = server.asked[0]!.params;
    expect((Number(end) - Number(start)) / Number(step)).toBeLessThan(11_000);
  });
});

describe('the use of the answer', () => {
  test('points in ms, under the label task, whatever that label is called there', async () => {
    const result = [{ metric: { pod: 'a', zone: 'z' }, values: [[980.5, '0.25']] }];
    const answer = { status: 'success', data: { resultType: 'matrix', result }, infos: ['might not be a counter'] };
    const { ask } = await source(answering(answer), { taskLabel: 'pod' });
    expect(await ask()).toEqual({
      series: [{ labels: { pod: 'a', zone: 'z', task: 'a' }, points: [[980_500, 0.25]] }],
    });
  });

  test('a value that is not a number is handed on, and never passes', async () => {
    const { ask } = await source(
      answering(
        matrix({
          a: [
            [960, 'NaN'],
            [970, '+Inf'],
            [980, '-Inf'],
            [990, '1e3'],
            [995, ''],
            [996, ' '],
          ],
        }),
      ),
    );
    expect((await ask()).series[0]?.points.map(([, value]) => value)).toEqual([
      NaN,
      Infinity,
      -Infinity,
      1000,
      NaN,
      NaN,
    ]);
  });

  test('points from outside of the window are left out, above all those from the future', async () => {
    const { ask } = await source(
      answering(
        matrix({
          a: [
            [940, '1'],
            [940.001, '2'],
            [1000, '3'],
            [1000.001, '4'],
          ],
        }),
      ),
    );
    expect((await ask()).series[0]?.points).toEqual([
      [940_001, 2],
      [1_000_000, 3],
    ]);
  });

  test('no point is put where nothing was scraped', async () => {
    const { ask } = await source(answering(matrix({ a: [[950, '7']] })));
    expect((await ask()).series[0]?.points).toEqual([[950_000, 7]]);
  });
});

describe('each possible fault is one sentence', () => {
  const vector = { status: 'success', data: { resultType: 'vector', result: [] } };
  const result = (...series: object[]) => ({ status: 'success', data: { resultType: 'matrix', result: series } });
  test.each<[string, Reply, string]>([
    [
      'an error of the query',
      answering({ status: 'error', errorType: 'bad_data', error: 'parse error' }, 400),
      'answered 400: bad_data: parse error',
    ],
    [
      'an error with status 200',
      answering({ status: 'error', errorType: 'execution', error: 'too many samples' }),
      'answered: execution: too many samples',
    ],
    ['a server error', answering('upstream  is\nbroken', 502), 'answered 502: upstream is broken'],
    ['an empty error', answering('', 500), 'answered 500: nothing'],
    ['a login page', answering('<html>Log in</html>'), 'answered with something that is not JSON: <html>Log in</html>'],
    [
      'a redirect',
      answering('', 302, { location: 'https://login/' }),
      'redirects to https://login; give that address instead',
    ],
    [
      'an answer that is partial',
      answering(matrix({ a: [[990, '0']] }, { warnings: ['store-2: unavailable'] })),
      'gave an answer that is not complete: store-2: unavailable',
    ],
    [
      'an answer that VictoriaMetrics calls partial',
      answering(matrix({ a: [[990, '0']] }, { isPartial: true })),
      'gave an answer that is not complete: it is partial',
    ],
    ['another kind of result', answering(vector), 'answered with something that is not series of points'],
    ['no result at all', answering({ status: 'success' }), 'answered with something that is not series of points'],
    [
      'points that are none',
      answering(result({ metric: { task: 'a' }, values: [[990]] })),
      'answered with something that is not series of points',
    ],
    [
      'a sum over all tasks',
      answering(result({ metric: {}, values: [] })),
      'gave a series without the label task; an aggregation has to keep it, as sum by (task)',
    ],
    [
      'several series of a task',
      answering(
        result({ metric: { task: 'a', code: '500' }, values: [] }, { metric: { task: 'a', code: '503' }, values: [] }),
      ),
      'gave several series for a; the metric has to bring them together, as sum by (task)',
    ],
    [
      'a histogram',
      answering(result({ metric: { task: 'a' }, histograms: [] })),
      'gave no numbers for a, perhaps a histogram; use histogram_quantile',
    ],
    ['a connection that breaks off', (_, response) => response.destroy(), 'cannot be reached: other side closed'],
    [
      'an answer that breaks off',
      (_, response) => void response.writeHead(200, { 'content-length': '99' }).write('{', () => response.destroy()),
      'cannot be reached: other side closed',
    ],
    [
      'a clock that is behind',
      answering(matrix({}), 200, { date: new Date(Date.now() - 185_000).toUTCString() }),
      'has a clock that is minutes behind',
    ],
    [
      'a clock that is ahead',
      answering(matrix({}), 200, { date: new Date(Date.now() + 185_000).toUTCString() }),
      'has a clock that is minutes ahead',
    ],
  ])('%s', async (_title, reply, sentence) => {
    const { server, ask } = await source(reply);
    const said = await ask().catch((error: Error) => error.message);
    const shown = String(said).replace(/is \d+m( \d+s)? /, 'is minutes ');
    // Each says which query was sent.
    expect(shown).toBe(`Prometheus at ${server.url} ${sentence} (asked: errors{task=~"a"}[60000ms])`);
  });

  test('a server that does not answer', async () => {
    const { server, ask } = await source(() => undefined, { timeoutMs: 50 });
    await expect(ask()).rejects.toThrow(`Prometheus at ${server.url} did not answer within 50ms`);
  });

  test('a server that is gone', async () => {
    const { server, ask } = await source(nothing);
    await server.close();
    await expect(ask()).rejects.toThrow(`Prometheus at ${server.url} cannot be reached: connect ECONNREFUSED`);
  });

  test('a window in the future', async () => {
    const { ask } = await source(nothing);
    const end = Date.now() + 600_000;
    await expect(ask({ start: end - 60_000, end })).rejects.toThrow('in the future; the clock of who asks is ahead');
  });

  test('one of many requests that fails, whatever the others say', async () => {
    const { ask } = await source((asked, response) => {
      const broken = tasksIn(asked).includes('t400');
      answering(broken ? '' : matrix({}), broken ? 503 : 200)(asked, response);
    });
    const tasks = Array.from({ length: 1000 }, (_, slot) => `t${slot}`);
    await expect(ask({ selector: { unit: 'x', tasks } })).rejects.toThrow('answered 503');
  });

  test('an expression that does not say where the tasks belong', async () => {
    const { server, ask } = await source(nothing);
    await expect(ask({ metric: 'sum(errors_total{code="500"})' })).rejects.toThrow(
      'is an expression without $selector, so it would mix updated tasks with others',
    );
    expect(server.asked).toEqual([]);
  });

  test('who asks can stop waiting', async () => {
    const stop = new AbortController();
    const { ask } = await source(() => stop.abort(new Error('enough')));
    await expect(ask({}, stop.signal)).rejects.toThrow('enough');
  });

  test('a URL with a password, which would be shown', () => {
    expect(() => prometheusQuery({ url: 'http://me:secret@prometheus:9090' })).toThrow('must not hold a password');
  });
});
