import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { localOnly } from '../../sdk';
import { localNamesOnly } from '../../sdk/localOnly';

let server: ServerType;
let port: number;
let reached: string[];
beforeAll(async () => {
  const app = new Hono();
  app.all('*', async (c) => {
    reached.push(`${c.req.method} ${await c.req.text()}`);
    return c.text('done');
  });
  await new Promise<void>((resolve) => {
    server = serve({ fetch: localOnly(app.fetch), port: 0, hostname: '127.0.0.1' }, () => resolve());
  });
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => void (reached = []));
afterAll(() => void server.close());

/** As a browser or a program sends it: a name that stands for this machine can be any. */
const send = (headers: Record<string, string>, { method = 'POST', body = '{}' } = {}): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const all = { host: `127.0.0.1:${port}`, ...headers };
    const sent = request({ port, host: '127.0.0.1', method, path: '/control/reset', headers: all }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject).end(body);
  });

const JSON_BODY = { 'content-type': 'application/json' };

test.each([
  ['a program that sends JSON', JSON_BODY],
  ['JSON with a character set', { 'content-type': 'application/json; charset=utf-8' }],
  ['localhost', { ...JSON_BODY, host: 'localhost:4400' }],
  ['IPv6', { ...JSON_BODY, host: '[::1]:4400' }],
  ['a page of its own', { ...JSON_BODY, host: 'localhost:4400', origin: 'http://localhost:4400' }],
])('takes %s', async (_, headers: Record<string, string>) => {
  expect([await send(headers), reached]).toEqual([200, ['POST {}']]);
});

test('takes what has no body, such as a look', async () => {
  expect(await send({}, { method: 'GET', body: '' })).toBe(200);
});

test.each<[string, number, Record<string, string>]>([
  ['text, which a page of another site may send without being asked', 415, { 'content-type': 'text/plain' }],
  ['a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['a body of no type', 415, {}],
  ['a body in pieces of no type', 415, { 'transfer-encoding': 'chunked' }],
  ['a type that begins alike', 415, { 'content-type': 'application/jsonp' }],
  ['a page of another site', 403, { ...JSON_BODY, origin: 'http://evil.example' }],
  ['a page of another server on this machine', 403, { ...JSON_BODY, origin: 'http://localhost:3000' }],
  ['a page without an origin', 403, { ...JSON_BODY, origin: 'null' }],
  ['a name that stands for this machine', 403, { ...JSON_BODY, host: 'evil.example:4400' }],
  ['a name that looks like this machine', 403, { ...JSON_BODY, host: '127.0.0.1.evil.example' }],
])('refuses %s, and does nothing of it', async (_, status, headers) => {
  expect([await send(headers), reached]).toEqual([status, []]);
});

test.each([
  ['text of a program', 200, { host: 'localhost:4600', 'content-type': 'text/plain' }],
  ['a page of another site', 403, { host: 'localhost:4600', origin: 'http://evil.example' }],
  ['a name that stands for this machine', 403, { host: 'evil.example:4600' }],
])('a request with %s to a server that only answers questions is admitted or not: %d', async (_, status, headers) => {
  const answer = localNamesOnly(() => new Response('done'));
  expect((await answer({ headers: new Headers(headers as Record<string, string>) } as Request)).status).toBe(status);
});
