import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { readBytes } from '../../server/body';
import { answerFailure } from '../../server/failures';

let server: ServerType;
afterEach(() => void server.close());

test('a caller who sends too much gets the answer, and their next request is not lost with the connection', async () => {
  const app = new Hono()
    .post('/', async (c) => c.json((await readBytes(c)).length))
    .get('/', (c) => c.json('here'))
    .onError((error, context) => answerFailure(context, error));
  server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (let n = 0; n < 10; n += 1) {
    // With unknown length, so the server finds out in the middle.
    const body = new Blob(['x'.repeat(4_000_000)]).stream();
    const answer = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close']);
    await answer.text();
    expect(await (await fetch(url)).json()).toBe('here');
  }
});
