import { createServer, request, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/* eslint-disable @typescript-eslint/no-require-imports -- the scripts are plain JavaScript without types */
const { createGuard } = require('../scripts/web-ui') as {
  createGuard: (port: number, to: { hostname: string; port: number }) => Server;
};
/* eslint-enable @typescript-eslint/no-require-imports */

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const opened: Server[] = [];
afterAll(() => opened.forEach((server) => server.close().closeAllConnections()));

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function listening(server: Server): Promise<number> {
  opened.push(server);
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(portOf(server))));
}

/** The port of a guard in front of a Web UI. */
async function guarding(webUi: RequestListener): Promise<number> {
  const to = { hostname: '127.0.0.1', port: await listening(createServer(webUi)) };
  return listening(createGuard(8233, to));
}

function ask(port: number, headers: Record<string, string>, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/page?a=b', method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const { statusCode: status, headers: given } = answer;
        resolve({ status, headers: given, body: Buffer.concat(chunks).toString() });
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const HERE = { host: 'localhost:8233' };

test.each([
  'localhost:8233',
  '127.0.0.1:8233',
  '[::1]:8233',
  'LOCALHOST:8233',
  'localhost',
  'localhost:9000',
  'ui.localhost:8233',
])('the Web UI of the development server opens at %s', async (host) => {
  const port = await guarding((_, response) => response.end('the page'));
  expect(await ask(port, { host })).toMatchObject({ status: 200, body: 'the page' });
});

test.each([
  'evil.example:8233',
  'evil.example',
  'localhost.evil.example:8233',
  '127.0.0.1.evil.example',
  '10.0.0.7:8233',
  '0.0.0.0:8233',
])('a page that lets its own name stand for this machine reads nothing of the Web UI: %j', async (host) => {
  let asked = 0;
  const port = await guarding((_, response) => response.end(`${(asked += 1)}`));
  const { status, body } = await ask(port, { host });
  expect([status, asked]).toEqual([403, 0]);
  expect(body).toBe(
    'The Web UI answers only at http://localhost:8233, and this request names another host. Open http://localhost:8233.\n',
  );
});

test.each<[string, Record<string, string>, number]>([
  ['its own page', { origin: 'http://localhost:8233' }, 200],
  ['a program, which has no page', {}, 200],
  ['a page of another site', { origin: 'https://evil.example' }, 403],
  ['a page of another port', { origin: 'http://localhost:3000' }, 403],
  ['a page without an origin', { origin: 'null' }, 403],
  ['a page of another site that names no origin', { 'sec-fetch-site': 'cross-site' }, 403],
])('the Web UI takes changes only from its own page and from programs: %s, %j, %d', async (_, headers, status) => {
  let asked = 0;
  const port = await guarding((_request, response) => response.end(`${(asked += 1)}`));
  for (const method of ['POST', 'PUT', 'DELETE'])
    expect(await ask(port, { ...HERE, ...headers }, method)).toMatchObject({ status });
  expect(asked).toBe(status === 200 ? 3 : 0);
});

test('a request and its answer pass whole', async () => {
  const port = await guarding((asked, response) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      response.writeHead(409, { 'set-cookie': ['_csrf=a; Path=/', 'b=c'], 'content-type': 'application/json' });
      response.write(JSON.stringify([asked.method, asked.url, asked.headers.host, asked.headers.cookie]));
      response.end(Buffer.concat(chunks));
    });
  });
  const long = 'x'.repeat(300_000);
  const { status, headers, body } = await ask(port, { ...HERE, cookie: '_csrf=a' }, 'POST', long);
  expect([status, headers['set-cookie']]).toEqual([409, ['_csrf=a; Path=/', 'b=c']]);
  expect(body).toBe(`["POST","/page?a=b","localhost:8233","_csrf=a"]${long}`);
});

test('a person learns that the Web UI is gone, and a guard outlives what breaks off', async () => {
  let isGone = false;
  const port = await guarding((asked, response) => {
    if (isGone) return asked.socket.destroy();
    return response.end('the page');
  });
  isGone = true;
  const { status, body } = await ask(port, HERE);
  expect(status).toBe(502);
  expect(body).toMatch(/^The Web UI does not answer: .*\. Look whether the Temporal server still runs\.\n$/);
  isGone = false;
  expect(await ask(port, HERE)).toMatchObject({ status: 200, body: 'the page' });
});
