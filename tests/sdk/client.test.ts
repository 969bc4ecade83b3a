import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { z } from 'zod';
import { ConveyorError } from '../../domain/errors';
import { callExtension, viaApp } from '../../sdk/client';
import type { Fetch } from '../../sdk/request';
import type { Protocol } from '../../sdk/protocol/common';
import { collectGarbage } from '../builders/garbage';

const protocol = {
  look: {
    request: z.object({ id: z.string() }),
    response: z.object({ units: z.array(z.object({ n: z.number() })) }),
    mutates: false,
  },
  warm: { request: z.object({}), response: z.object({}), mutates: true, optional: true },
} as const satisfies Protocol;
const context = { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: {} };

const look = (fetch: Fetch, more: { signal?: AbortSignal; timeoutMs?: number; token?: string; url?: string } = {}) =>
  callExtension({
    service: {
      name: 'hosts',
      url: more.url ?? 'http://hosts/',
      timeoutMs: more.timeoutMs ?? 1000,
      ...(more.token ? { token: more.token } : {}),
    },
    protocol,
    method: 'look',
    request: { id: 'a' },
    context,
    key: 'k',
    runId: 'run',
    traceparent: '00-a-b-01',
    fetch,
    ...(more.signal ? { signal: more.signal } : {}),
  });

const answering =
  (status: number, body: unknown): Fetch =>
  () =>
    Promise.resolve(new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }));
const errorBody = (retryable: boolean) => ({ error: { code: 'no', message: 'not now', retryable } });
const problem = (call: Promise<unknown>): Promise<ConveyorError> =>
  call.then(
    () => Promise.reject(new Error('answered')),
    (error: ConveyorError) => error,
  );

test('one POST with the headers and the body of the protocol', async () => {
  const seen: Request[] = [];
  const fetch: Fetch = (request) => {
    seen.push(request);
    return answering(200, { units: [{ n: 1 }] })(request);
  };
  expect(await look(fetch, { token: 't0p' })).toEqual({ units: [{ n: 1 }] });
  const [request] = seen;
  expect([seen.length, request?.method, request?.url]).toEqual([1, 'POST', 'http://hosts/look']);
  expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
    authorization: 'Bearer t0p',
    'idempotency-key': 'k',
    'x-conveyor-run': 'run',
    traceparent: '00-a-b-01',
  });
  expect(await request?.json()).toEqual({ id: 'a', context });
});

test.each([
  [400, errorBody(false), 'extension-rejected', 'hosts rejected look (400): no: not now'],
  [409, errorBody(true), 'extension-rejected', 'hosts rejected look (409): no: not now'],
  [404, 'nothing here', 'extension-rejected', 'hosts rejected look (404): nothing here'],
  [500, errorBody(false), 'extension-rejected', 'hosts rejected look (500): no: not now'],
  [408, '', 'extension-unavailable', 'hosts did not answer look: 408 (http://hosts)'],
  [429, errorBody(false), 'extension-unavailable', 'hosts did not answer look: 429 no: not now (http://hosts)'],
  [500, errorBody(true), 'extension-unavailable', 'hosts did not answer look: 500 no: not now (http://hosts)'],
  [502, '<html>', 'extension-unavailable', 'hosts did not answer look: 502 <html> (http://hosts)'],
  [200, '<html>', 'extension-protocol', 'hosts answered look in violation of its protocol: body: not JSON: <html>'],
  [302, '', 'extension-protocol', 'hosts answered look in violation of its protocol: status: 302 instead of an answer'],
])('%i with %j is %s', async (status, body, code, message) => {
  const error = await problem(look(answering(status, body)));
  expect(error).toBeInstanceOf(ConveyorError);
  expect(error).toMatchObject({ code, message, retryable: code === 'extension-unavailable' });
});

test('an answer that its schema does not allow names the field', async () => {
  const error = await problem(look(answering(200, { units: [{ n: 1 }, { n: 'two' }] })));
  expect(error).toMatchObject({ code: 'extension-protocol', retryable: false });
  expect(error.message).toContain('units.1.n');
});

test('who is silent is named with its address', async () => {
  const fetch: Fetch = () =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }));
  const { message } = await problem(look(fetch, { url: 'http://hosts:4400/push-types/hosts/' }));
  expect(message).toBe('hosts did not answer look: connect ECONNREFUSED (http://hosts:4400/…)');
});

test('who is silent at each address of its name is named with why', async () => {
  const cause = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  const { message } = await problem(look(() => Promise.reject(new TypeError('fetch failed', { cause }))));
  expect(message).toContain('did not answer look: ECONNREFUSED');
});

test.each([
  ['a name and password', 'http://alice:s3cret@hosts:4400/'],
  ['a token in the path', 'http://hosts:4400/s3cret/'],
  ['a token in the query', 'http://hosts:4400/?token=s3cret'],
])('no secret in its address is shown: %s', async (_what, url) => {
  const gone: Fetch = () => Promise.reject(new TypeError('fetch failed', { cause: new Error(`no route to ${url}`) }));
  for (const fetch of [gone, answering(503, 'no')]) {
    const { message } = await problem(look(fetch, { url }));
    expect(message).toContain('hosts:4400');
    expect(message).not.toContain('s3cret');
  }
});

describe('an answer that does not end', () => {
  /** Bytes as they are wanted; how many have been. */
  const endless = (status: number) => {
    const taken = { bytes: 0 };
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      taken.bytes += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(32));
    };
    const fetch: Fetch = () => Promise.resolve(new Response(new ReadableStream({ pull }), { status }));
    return { fetch, taken };
  };

  test.each([
    [200, 'extension-protocol', 'body: it is larger than 1 MiB'],
    [404, 'extension-rejected', '404'],
    [503, 'extension-unavailable', '503'],
  ])('with status %i is %s, and not read any further', async (status, code, says) => {
    const { fetch, taken } = endless(status);
    const error = await problem(look(fetch));
    expect(error).toMatchObject({ code, retryable: status === 503, message: expect.stringContaining(says) as string });
    expect(taken.bytes).toBeLessThan(1_300_000);
  });

  test('is counted as it is when it is decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1_048_576, ' '));
    expect(bomb.length).toBeLessThan(100_000);
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', connection: 'close' }).end(bomb);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const error = await problem(look(globalThis.fetch, { url: `http://127.0.0.1:${port}` }));
    expect(error).toMatchObject({ code: 'extension-protocol', retryable: false });
    server.closeAllConnections();
    server.close();
  });
});

test('a network that fails says how', async () => {
  const fetch: Fetch = () =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }));
  expect(await problem(look(fetch))).toMatchObject({
    code: 'extension-unavailable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test.each([
  [404, { error: { code: 'unknown-method', message: 'no', retryable: false } }, 'extension-lacks-method'],
  [404, 'Cannot POST /warm', 'extension-lacks-method'],
  [405, '', 'extension-lacks-method'],
  [501, '', 'extension-lacks-method'],
  [404, { error: { code: 'unknown-unit', message: 'no', retryable: false } }, 'extension-rejected'],
  [503, '', 'extension-unavailable'],
])('for an optional method, %i with %j is %s', async (status, body, code) => {
  const service = { name: 'hosts', url: 'http://hosts/', timeoutMs: 1000 };
  const call = { service, protocol, method: 'warm', request: {}, context, key: 'k' } as const;
  expect(await problem(callExtension({ ...call, fetch: answering(status, body) }))).toMatchObject({ code });
});

/** Never answers, as a service that hangs. */
const silent = new Hono().post('/look', () => new Promise<Response>(() => undefined));

test('a service that does not answer in time is unavailable', async () => {
  const error = await problem(look(viaApp(silent), { timeoutMs: 20 }));
  expect(error).toMatchObject({
    code: 'extension-unavailable',
    message: expect.stringContaining('no answer within 20 ms'),
  });
});

test('a service that does not answer is given up in time, whatever the garbage collector does meanwhile', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = once(server, 'request');
  const caller = new AbortController();
  const timely = problem(look(fetch, { url, timeoutMs: 200 }));
  const left = look(fetch, { url, timeoutMs: 60_000, signal: caller.signal });
  await asked;
  collectGarbage();
  caller.abort(new Error('the activity was cancelled'));
  await expect(left).rejects.toThrow('the activity was cancelled');
  expect(await timely).toMatchObject({ code: 'extension-unavailable' });
  server.closeAllConnections();
  server.close();
});

test('nor is a service in the same process waited for without end when a garbage collection comes in between', async () => {
  const timely = problem(look(viaApp(silent), { timeoutMs: 200 }));
  await delay(20);
  collectGarbage();
  expect(await timely).toMatchObject({ code: 'extension-unavailable' });
}, 5_000);

test('when the caller gives up, the call ends with his reason at once, also in the same process', async () => {
  const caller = new AbortController();
  const call = look(viaApp(silent), { signal: caller.signal });
  caller.abort(new Error('the activity was cancelled'));
  await expect(call).rejects.toThrow('the activity was cancelled');
  await expect(look(viaApp(silent), { signal: caller.signal })).rejects.toThrow('the activity was cancelled');
});

describe('the trace context of a call', () => {
  const sent = async (release: number, over: { readonly pipeline?: string; readonly traceparent?: string } = {}) => {
    let header: string | null = null;
    const { pipeline = 'kvstore', ...more } = over;
    await callExtension({
      service: { name: 'hosts', url: 'http://hosts/', timeoutMs: 1000 },
      ...{ protocol, method: 'look', request: { id: 'a' }, context: { ...context, pipeline, release } },
      fetch: (request) => {
        header = request.headers.get('traceparent');
        return answering(200, { units: [] })(request);
      },
      ...more,
    });
    const [, trace, span] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(header ?? '') ?? [];
    return { header, trace, span };
  };

  test('makes all calls of one release one trace, and each call a span of its own', async () => {
    const [one, two, next, other] = [
      await sent(12),
      await sent(12),
      await sent(13),
      await sent(12, { pipeline: 'web' }),
    ];
    expect(one.trace).toBe(two.trace);
    expect(new Set([one.trace, next.trace, other.trace]).size).toBe(3);
    expect([one.span, one.span === two.span]).toEqual([expect.any(String), false]);
  });

  test('is a trace of its own where the call is about no release', async () => {
    expect((await sent(0)).trace).not.toBe((await sent(0)).trace);
  });

  test('is that of the caller where there is one', async () => {
    expect((await sent(12, { traceparent: '00-a-b-01' })).header).toBe('00-a-b-01');
  });
});
