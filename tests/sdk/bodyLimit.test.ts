import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import type { AddressInfo } from 'node:net';
import { limitBody, readUpTo } from '../../sdk/bodyLimit';

const app = new Hono();
app.use(limitBody({ maxSize: 10, onError: (c) => c.text('too large', 413) }));
app.all('*', async (c) => c.text(`${c.req.method} ${c.req.header('x-told') ?? ''} ${await c.req.text()}`));

let server: ServerType;
let url: string;
beforeAll(async () => {
  server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started));
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Its length is not known beforehand, so it comes in chunks. */
const inChunks = (...parts: string[]) => ({
  method: 'POST',
  headers: { 'x-told': 'yes' },
  body: ReadableStream.from(parts.map((part) => Buffer.from(part))),
  duplex: 'half',
});

test.each([
  ['a body whose length is said', { method: 'POST', body: '0123456789' }, 200, 'POST  0123456789'],
  ['one that is too long', { method: 'POST', body: '0123456789a' }, 413, 'too large'],
  ['one that comes in chunks', inChunks('01234', '56789'), 200, 'POST yes 0123456789'],
  ['too many chunks', inChunks('01234', '56789', 'a'), 413, 'too large'],
  ['a DELETE without any', { method: 'DELETE' }, 200, 'DELETE  '],
])('over a real connection: %s', async (_, init, status, text) => {
  const response = await fetch(url, init as RequestInit);
  expect([response.status, await response.text()]).toEqual([status, text]);
});

test('a body that never comes to its end is waited for no longer than one has patience', async () => {
  const cancel = jest.fn();
  const endless = new ReadableStream<Uint8Array>({ start: (source) => source.enqueue(Buffer.from('0')), cancel });
  expect(await readUpTo(endless, 10, { patienceMs: 20 })).toBe('too-slow');
  expect(cancel).toHaveBeenCalledWith('too-slow');
});
