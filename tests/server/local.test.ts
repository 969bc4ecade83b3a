import { ACCESS, appOf, githubDelivery, pushOf, TOKEN } from '../builders/serverWorld';

const BEARER = { authorization: `Bearer ${TOKEN}` };

const look = (origin: string, over: Parameters<typeof appOf>[1] = {}, headers: Record<string, string> = {}) =>
  appOf(undefined, over).request(`${origin}/v1/pipelines/kvstore`, { headers });

test.each(['http://localhost:4500', 'http://127.0.0.1:4500', 'http://[::1]:4500', 'http://kv.localhost:4500'])(
  'a server that only this machine can reach is open to %s',
  async (origin) => expect((await look(origin)).status).toBe(200),
);

test.each([
  ['of a page under whose name the browser finds 127.0.0.1', 'http://rebound.example.com:4500', {}],
  ['that comes through a tunnel under its name', 'https://quiet-fox.tunnel.example.com', {}],
  ['that a tunnel sends on as if it were local', 'http://localhost:4500', { 'x-forwarded-for': '203.0.113.7' }],
  ['that a proxy sends on', 'http://127.0.0.1:4500', { forwarded: 'for=203.0.113.7' }],
])('a request %s needs a token, unless the configuration opens reading to all', async (_what, origin, headers) => {
  const refused = await look(origin, {}, headers);
  expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('only this machine may read')]);
  expect((await look(origin, {}, { ...headers, ...BEARER })).status).toBe(200);
  expect((await look(origin, {}, { ...headers, authorization: 'Bearer guessed' })).status).toBe(401);
  expect((await look(origin, { access: { ...ACCESS, reads: 'open' } }, headers)).status).toBe(200);
});

test('deliveries of webhooks come through tunnels as before: their signature is what counts', async () => {
  const app = appOf();
  const url = 'https://quiet-fox.tunnel.example.com/v1/webhooks/github';
  const { headers, ...delivery } = githubDelivery(pushOf(1));
  const sent = { ...delivery, headers: { ...headers, 'x-forwarded-for': '203.0.113.7' } as Record<string, string> };
  expect((await app.request(url, sent)).status).toBe(202);
});
