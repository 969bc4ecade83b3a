import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serverFetch } from '../../cli/serverFetch';
import type { ServerRequest } from '../../client/http/send';
import { textUpTo } from '../../sdk/bodyLimit';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function listening(answer: RequestListener): Promise<string> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/pipelines?live=true`;
}

/** As the client asks a server (client/http/send.ts). */
async function ask(url: string, request: Partial<ServerRequest> = {}): Promise<Response> {
  const usual = { method: 'GET', headers: {}, redirect: 'manual', signal: new AbortController().signal } as const;
  const { status, body } = await serverFetch(url, { ...usual, ...request });
  return new Response(status === 204 ? null : body, { status });
}

test('a request arrives as it was meant, and its answer comes back', async () => {
  const asked: unknown[] = [];
  const url = await listening((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      const { method, url: path, headers } = request;
      asked.push({ method, path, body, headers });
      response
        .writeHead(202, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
        .end('{"taken":"ü"}');
    });
  });
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const answer = await ask(url, { method: 'POST', headers, body: '{"name":"ü"}' });
  expect(answer.status).toBe(202);
  expect(await answer.json()).toEqual({ taken: 'ü' });
  expect(asked).toMatchObject([
    {
      method: 'POST',
      path: '/v1/pipelines?live=true',
      body: '{"name":"ü"}',
      headers: { ...headers, 'content-length': '13' },
    },
  ]);
});

test('no redirect is followed, since a token is for one server alone', async () => {
  const url = await listening((_, response) => response.writeHead(302, { location: 'http://evil.example' }).end());
  expect((await ask(url)).status).toBe(302);
});

test('an answer without a body is empty', async () => {
  const url = await listening((_, response) => response.writeHead(204).end());
  expect(await (await ask(url)).text()).toBe('');
});

test('a server that is not there is an error that says so', async () => {
  const url = await listening(() => undefined);
  server?.close();
  await expect(ask(url)).rejects.toThrow('ECONNREFUSED');
});

test.each([
  ['before', false],
  ['in the middle of', true],
])('time that is over %s the answer is the reason, and the connection is closed', async (_, begins) => {
  let isClosed = false;
  const url = await listening((request, response) => {
    request.socket.once('close', () => (isClosed = true));
    if (begins) response.writeHead(200).write('half');
  });
  const read = async () => (await ask(url, { signal: AbortSignal.timeout(200) })).text();
  await expect(read()).rejects.toMatchObject({ name: 'TimeoutError' });
  while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('an answer that breaks off is an error, not a short answer', async () => {
  const url = await listening((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setTimeout(() => response.destroy(), 50);
  });
  await expect((await ask(url)).text()).rejects.toThrow();
});

test('no more of an answer is read than is wanted', async () => {
  let isClosed = false;
  const url = await listening((request, response) => {
    request.socket.once('close', () => (isClosed = true));
    const more = (): void => void (isClosed || response.write('x'.repeat(65_536), () => setImmediate(more)));
    more();
  });
  expect(await textUpTo(await ask(url), 1_000)).toBeUndefined();
  while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('a time that was over before asks nothing', async () => {
  const url = await listening(() => fail());
  await expect(ask(url, { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over');
});

const fail = (): never => {
  throw new Error('it was asked');
};
