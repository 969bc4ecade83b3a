import { RequestGate } from '../../server/gate';
import { DEFAULT_LIMITS, type FrontClient } from '../../server/deps';
import { appOf, FakePipelines, githubDelivery, pushOf, TOKEN } from '../builders/serverWorld';
import { eventually } from '../system/waiting';

const GITHUB = '/v1/webhooks/github';
const soon = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Pipelines that take their time, and count how many are at it at once. */
class SlowPipelines extends FakePipelines {
  atOnce = 0;
  most = 0;

  readonly slowly: FrontClient = {
    ...this.client,
    submit: async (...args) => {
      this.atOnce += 1;
      this.most = Math.max(this.most, this.atOnce);
      await soon(1);
      this.atOnce -= 1;
      return this.client.submit(...args);
    },
  };
}

describe('a burst of 5,000 deliveries', () => {
  test('keeps work bounded, turns away at once what it has no room for, and loses nothing that it accepted', async () => {
    const pipelines = new SlowPipelines();
    const limits = { ...DEFAULT_LIMITS, webhooks: { inFlight: 16, waiting: 200, waitMs: 60_000 } };
    const app = appOf(pipelines, { client: pipelines.slowly, limits });
    const padding = 'x'.repeat(20_000);
    const send = async (n: number): Promise<Response> =>
      app.request(GITHUB, githubDelivery(pushOf(n, { commits: padding }), { delivery: `d-${n}` }));
    let left = Array.from({ length: 5_000 }, (_, n) => n + 1);
    const [first] = [await burst(left, send)];
    expect(first.accepted).toBe(216);
    expect(first.rejected.length).toBe(4_784);
    expect(pipelines.most).toBeLessThanOrEqual(16);
    expect(pipelines.submissions).toHaveLength(216);

    // Delivered again until all are in, a part at a time.
    for (left = first.rejected; left.length > 0;) {
      const now = left.splice(0, 216);
      left.push(...(await burst(now, send)).rejected);
    }
    expect(new Set(pipelines.submissions.map(({ trigger }) => trigger.key)).size).toBe(5_000);
    expect(pipelines.submissions).toHaveLength(5_000);
  });

  test('leaves the lane of people free: a command is answered while the line of deliveries is full', async () => {
    const pipelines = new FakePipelines();
    let free = (): void => undefined;
    const held = new Promise<void>((resolve) => (free = resolve));
    const client: FrontClient = {
      ...pipelines.client,
      submit: async (...args) => (await held, pipelines.client.submit(...args)),
    };
    const app = appOf(pipelines, { client });
    const deliveries = Array.from({ length: 1_500 }, async (_, n) => app.request(GITHUB, githubDelivery(pushOf(n))));
    const command = await app.request('/v1/releases/kvstore/1/commands/pause', {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ reason: 'the latency' }),
    });
    expect(command.status).toBe(200);
    const metrics = await (await app.request('/metrics')).text();
    expect(metrics).toContain('conveyor_http_requests_in_flight{lane="webhooks"} 64\n');
    expect(metrics).toContain('conveyor_http_requests_waiting{lane="webhooks"} 1000\n');
    expect(metrics).toContain('conveyor_http_requests_rejected_total{lane="webhooks"} 436\n');
    free();
    const statuses = (await Promise.all(deliveries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(1_064);
  });
});

describe('a thousand readers at once', () => {
  const authorized = { authorization: `Bearer ${TOKEN}` };
  const command = { method: 'POST', headers: authorized, body: JSON.stringify({ reason: 'the latency' }) };
  const REVERT = '/v1/releases/kvstore/1/deploy/commands/revert';

  /** Reads that get no answer until they are let go. */
  function heldReads() {
    const pipelines = new FakePipelines();
    let free = (): void => undefined;
    const held = new Promise<void>((resolve) => (free = resolve));
    const client: FrontClient = {
      ...pipelines.client,
      listPipelines: async (...args) => (await held, pipelines.client.listPipelines(...args)),
    };
    const app = appOf(pipelines, { client });
    const read = (headers: Record<string, string>) =>
      Array.from({ length: 1_000 }, async () => (await app.request('/v1/pipelines', { headers })).status);
    return { app, pipelines, free, read };
  }

  test.each([
    ['without a token', {}],
    ['with a made-up token', { authorization: 'Bearer wrong' }],
    ['with a token', authorized],
  ])('%s take no place of a command: it is answered while all of them wait', async (_, headers) => {
    const { app, pipelines, free, read } = heldReads();
    const readers = read(headers);
    expect((await app.request(REVERT, command)).status).toBe(200);
    expect(pipelines.calls).toEqual([['command', 'kvstore/1/deploy', 'revert', expect.anything()]]);
    free();
    const statuses = await Promise.all(readers);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });

  test('without a token take no place of a reader who has one', async () => {
    const { app, free, read } = heldReads();
    const readers = read({});
    expect((await app.request('/v1/pipelines/kvstore', { headers: authorized })).status).toBe(200);
    free();
    await Promise.all(readers);
  });

  test('are counted in the lanes that they are in', async () => {
    const { app, free, read } = heldReads();
    const readers = read({});
    // Who they are is known by then.
    await new Promise((resolve) => setImmediate(resolve));
    const metrics = await (await app.request('/metrics')).text();
    const { inFlight, waiting } = DEFAULT_LIMITS.strangers;
    expect(metrics).toContain(`conveyor_http_requests_in_flight{lane="strangers"} ${inFlight}\n`);
    expect(metrics).toContain(`conveyor_http_requests_waiting{lane="strangers"} ${waiting}\n`);
    expect(metrics).toContain('conveyor_http_requests_in_flight{lane="commands"} 0\n');
    free();
    await Promise.all(readers);
  });
});

test('a thousand commands without a token are refused, and take no place of one that has one', async () => {
  const app = appOf();
  const silent = () => ({ body: new ReadableStream<Uint8Array>(), duplex: 'half' });
  const strangers = Array.from({ length: 1_000 }, async () =>
    app.request('/v1/pipelines/kvstore/commands/freeze', { method: 'POST', ...silent() } as RequestInit),
  );
  const headers = { authorization: `Bearer ${TOKEN}` };
  const mine = await app.request('/v1/pipelines/kvstore/commands/freeze', {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ reason: 'the latency' }),
  });
  expect(mine.status).toBe(200);
  const statuses = (await Promise.all(strangers)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401, 503]));
});

test.each([
  ['commands', '/v1/pipelines/kvstore/commands/freeze'],
  ['questions', '/v1/can'],
])('%s whose bodies do not come take no place of a revert, however many come with a token', async (_, path) => {
  const limits = { ...DEFAULT_LIMITS, commands: { ...DEFAULT_LIMITS.commands, waitMs: 50 } };
  const app = appOf(undefined, { limits });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const ends: (() => void)[] = [];
  const statuses: number[] = [];
  const slow = Array.from({ length: 1_100 }, async () => {
    let isWanted = true;
    const body = new ReadableStream<Uint8Array>({
      start: (to) => void ends.push(() => isWanted && to.close()),
      cancel: () => void (isWanted = false),
    });
    const { status } = await app.request(path, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    statuses.push(status);
  });
  // The oldest give way to the others.
  await eventually('a hundred have given way', async () => statuses.length === 100);
  expect(statuses).toEqual(Array.from({ length: 100 }, () => 503));
  const revert = '/v1/releases/kvstore/1/deploy/commands/revert';
  const body = JSON.stringify({ reason: 'the latency' });
  expect((await app.request(revert, { method: 'POST', headers, body })).status).toBe(200);
  const metrics = await (await app.request('/metrics')).text();
  for (const lane of ['commands', 'api'])
    expect(metrics).toContain(`conveyor_http_requests_in_flight{lane="${lane}"} 0\n`);
  for (const end of ends) end();
  await Promise.all(slow);
});

test('a body that does not come gives its place to others after ten seconds', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    const never = new ReadableStream<Uint8Array>();
    const { headers } = githubDelivery('') as { headers: Record<string, string> };
    const answer = Promise.resolve(
      appOf().request(GITHUB, { method: 'POST', body: never, headers, duplex: 'half' } as RequestInit),
    );
    await jest.advanceTimersByTimeAsync(10_000);
    const response = await answer;
    expect([response.status, await response.text()]).toEqual([
      408,
      expect.stringContaining('did not arrive within 10 s'),
    ]);
  } finally {
    jest.useRealTimers();
  }
});

describe('the line', () => {
  const limits = { inFlight: 1, waiting: 2, waitMs: 30 };

  test('is served in order, and who waits too long is sent away', async () => {
    const gate = new RequestGate(limits);
    const served: string[] = [];
    let free = (): void => undefined;
    const first = gate.run(() => new Promise<void>((resolve) => (free = resolve)));
    const second = gate.run(async () => void served.push('second'));
    const third = gate.run(async () => void served.push('third'));
    await expect(gate.run(async () => undefined)).rejects.toMatchObject({ code: 'overloaded', retryable: true });
    free();
    await Promise.all([first, second, third]);
    expect(served).toEqual(['second', 'third']);

    void gate.run(() => soon(80));
    await expect(gate.run(async () => undefined)).rejects.toMatchObject({ code: 'overloaded' });
    expect(gate.counts()).toEqual({ inFlight: 1, waiting: 0, rejected: 2 });
  });

  test('is left by a client that goes away, whose work is never begun', async () => {
    const gate = new RequestGate({ ...limits, waitMs: 10_000 });
    const gone = new AbortController();
    const first = gate.run(() => soon(20));
    let begun = false;
    const second = gate.run(async () => void (begun = true), gone.signal);
    gone.abort();
    await expect(second).rejects.toThrow('the client left');
    await first;
    expect([begun, gate.counts()]).toEqual([false, { inFlight: 0, waiting: 0, rejected: 0 }]);
  });

  test('moves on when work fails', async () => {
    const gate = new RequestGate({ ...limits, waitMs: 10_000 });
    const [first, second] = await Promise.allSettled([
      gate.run(() => Promise.reject(new Error('no'))),
      gate.run(() => Promise.resolve('yes')),
    ]);
    expect([first.status, second]).toEqual(['rejected', { status: 'fulfilled', value: 'yes' }]);
  });
});

async function burst(all: readonly number[], send: (n: number) => Promise<Response>) {
  const statuses = await Promise.all(all.map(async (n) => ({ n, status: (await send(n)).status })));
  expect(statuses.filter(({ status }) => status !== 202 && status !== 503)).toEqual([]);
  const rejected = statuses.filter(({ status }) => status === 503).map(({ n }) => n);
  return { accepted: all.length - rejected.length, rejected };
}
