import { createProxyApp, type ProxyApp } from '../../configerator/proxy/app';
import { readLines } from '../../sdk/lines';
import { eventually } from '../system/waiting';
import { ProxyWorld } from './proxyWorld';
import { versionOf } from './storeSuite';

let world: ProxyWorld;
let app: ProxyApp;
beforeEach(async () => {
  world = new ProxyWorld();
  await world.commit({ 'shop/limits': '{"perUser":3}' });
  app = createProxyApp(await world.proxy('h1'));
});
afterEach(async () => {
  app.end();
  await world.close();
});

const get = async (path: string) => app.fetch(new Request(`http://localhost${path}`));
const post = (body: unknown) =>
  app.fetch(
    new Request('http://localhost/v1/refused', {
      ...{ method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    }),
  );

test('GET /v1/config/PATH answers with the value as text, its version, commit and age', async () => {
  const response = await get('/v1/config/shop/limits');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    ...{ path: 'shop/limits', value: '{"perUser":3}', version: versionOf('{"perUser":3}') },
    ...{ commit: 'c1', override: null, sequence: 1, age: 0, task: 'h1@c1' },
  });
});

test.each([
  ['a path without a value', '/v1/config/nothing/here', 404, undefined],
  ['what is not a path', '/v1/config/a%20b', 400, 'invalid-text'],
  ['a path that is too long', `/v1/config/${'p'.repeat(257)}`, 413, 'over-limit'],
  ['a watch of nothing', '/v1/watch', 400, 'invalid-request'],
  [
    'a watch of 201 paths',
    `/v1/watch?${Array.from({ length: 201 }, (_, at) => `path=p${at}`).join('&')}`,
    413,
    'over-limit',
  ],
  ['anything else', '/v1/secrets', 404, 'not-found'],
])('%s is refused in words', async (_, path, status, code) => {
  const response = await get(path);
  expect(response.status).toBe(status);
  const body = (await response.json()) as { error?: { code: string; message: string } };
  expect(body.error?.code).toBe(code);
});

test('a path that the host does not know while the store is gone is 503, which is worth another try', async () => {
  world.lose();
  const response = await get('/v1/config/never/asked');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ error: { code: 'store-unavailable', retryable: true } });
});

test('GET /v1/watch streams what is there, then each change, and ends with the proxy', async () => {
  const response = await get('/v1/watch?path=shop/limits&path=b&path=b');
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const heard: string[] = [];
  for await (const line of readLines(response.body!)) {
    if (!line.startsWith('data: ')) continue;
    const { path, value } = JSON.parse(line.slice('data: '.length)) as { path: string; value: string | null };
    heard.push(`${path}=${value}`);
    if (heard.length === 2) await world.commit({ b: '2', other: 'x' });
    if (heard.length === 3) await world.commit({ 'shop/limits': '4' });
    if (heard.length === 4) app.end();
  }
  expect(heard.slice(0, 2).sort()).toEqual(['b=null', 'shop/limits={"perUser":3}']);
  expect(heard.slice(2)).toEqual(['b=2', 'shop/limits=4']);
});

test('a reader that is slow gets the newest value, and the ones that it missed take no memory', async () => {
  const response = await get('/v1/watch?path=shop/limits');
  const reader = response.body!.getReader();
  await reader.read();
  for (let at = 0; at < 500; at += 1) await world.commit({ 'shop/limits': `v${at}` });
  let [text, chunks] = ['', 0];
  while (!text.includes('"v499"')) {
    text += new TextDecoder().decode((await reader.read()).value);
    chunks += 1;
  }
  expect(chunks).toBeLessThan(5);
  await reader.cancel();
});

test('a watcher is sent the age of its values now and then', async () => {
  const hasty = createProxyApp(await world.proxy('h2'), { aliveMs: 5 });
  const response = await hasty.fetch(new Request('http://localhost/v1/watch?path=shop/limits'));
  const events: string[] = [];
  for await (const line of readLines(response.body!)) {
    if (line.startsWith('event: ')) events.push(line.slice('event: '.length));
    else if (events.at(-1) === 'alive') {
      expect(JSON.parse(line.slice('data: '.length))).toEqual({ age: 0 });
      hasty.end();
    }
  }
  expect(events.slice(0, 2)).toEqual(['config', 'alive']);
});

test('a watcher that has gone is counted no more', async () => {
  const watchers = async () => ((await (await get('/health')).json()) as { watchers: number }).watchers;
  const reader = (await get('/v1/watch?path=a')).body!.getReader();
  expect(await watchers()).toBe(1);
  await reader.cancel();
  expect(await watchers()).toBe(0);
});

test('the last of 1,001 watchers is refused', async () => {
  for (let at = 0; at < 1000; at += 1) expect((await get('/v1/watch?path=a')).status).toBe(200);
  expect((await get('/v1/watch?path=a')).status).toBe(413);
  app.end();
  expect((await get('/v1/watch?path=a')).status).toBe(200);
});

test('POST /v1/refused takes what an application refuses', async () => {
  await get('/v1/config/shop/limits');
  const version = versionOf('{"perUser":3}');
  expect((await post({ path: 'shop/limits', version, reason: 'perUser is too small', app: 'shop' })).status).toBe(204);
  await world.acknowledged('shop/limits', [`h1 ${version.slice(0, 7)} committed shop: perUser is too small`]);
  expect((await post({ path: 'shop/limits' })).status).toBe(400);
  expect((await post('nonsense')).status).toBe(400);
  expect((await post({ path: 'x', version, reason: 'x'.repeat(20_000), app: 'shop' })).status).toBe(413);
});

test('GET /health and /metrics say how the host is', async () => {
  await get('/v1/config/shop/limits');
  world.now += 42_000;
  world.lose();
  await eventually(
    'it knows',
    async () => ((await (await get('/health')).json()) as { store: string }).store === 'away',
  );
  expect(await (await get('/health')).json()).toMatchObject({
    host: 'h1',
    store: 'away',
    paths: 1,
    watchers: 0,
    age: 42,
  });
  const text = await (await get('/metrics')).text();
  expect(text).toContain('\nconveyor_config_proxy_paths 1\n');
  expect(text).toContain('\nconveyor_config_proxy_age_seconds 42\n');
  expect(text).toContain('\nconveyor_config_proxy_store_up 0\n');
  expect(text).toContain('\nconveyor_config_proxy_verified 0\n');
  expect(text).toContain('\n# TYPE conveyor_config_proxy_changes_total counter\n');
});
