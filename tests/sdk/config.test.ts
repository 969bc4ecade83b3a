import { serve, type ServerType } from '@hono/node-server';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createProxyApp, type ProxyApp } from '../../configerator/proxy/app';
import { filesIn } from '../../configerator/proxy/files';
import type { ConfigProxy } from '../../configerator/proxy/proxy';
import { freePorts } from '../../cli/stack/ports';
import { watchConfig, type ConfigTrouble, type WatchConfigOptions, type WatchedConfig } from '../../sdk/config';
import { ProxyWorld } from '../configerator/proxyWorld';
import { overrideOf, versionOf } from '../configerator/storeSuite';
import { eventually } from '../system/waiting';

const limits = z.object({ perUser: z.number() });
const R = 'flags';
const short = (text: string): string => versionOf(text).slice(0, 7);

let world: ProxyWorld;
let folder: string;
let port: number;
let served: { server: ServerType; app: ProxyApp; proxy: ConfigProxy } | undefined;
const watching: WatchedConfig<unknown>[] = [];

beforeEach(async () => {
  world = new ProxyWorld();
  folder = mkdtempSync(join(tmpdir(), 'conveyor-client-'));
  [port = 0] = await freePorts(1);
});
afterEach(async () => {
  for (const one of watching.splice(0)) one.close();
  await down();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

async function up(): Promise<void> {
  const proxy = await world.proxy('h1', filesIn(folder));
  const app = createProxyApp(proxy);
  const server = await new Promise<ServerType>((resolve) => {
    const one = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => resolve(one));
  });
  port = (server.address() as AddressInfo).port;
  served = { server, app, proxy };
}

async function down(): Promise<void> {
  if (!served) return;
  const { server, app, proxy } = served;
  served = undefined;
  app.end();
  await new Promise((resolve) => {
    server.close(resolve);
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  await proxy.close();
}

function follow(more: WatchConfigOptions = {}) {
  const values: number[] = [];
  const troubles: ConfigTrouble[] = [];
  const watched = watchConfig('shop/limits', limits, ({ value }) => void values.push(value.perUser), {
    ...{ url: `http://127.0.0.1:${port}`, app: 'shop', retryMs: 10 },
    onTrouble: (trouble) => void troubles.push(trouble),
    ...more,
  });
  watching.push(watched);
  const has = (expected: readonly number[]) =>
    eventually(`the application has had ${expected.join(', ')}`, async () => {
      if (values.length < expected.length) return false;
      expect(values).toEqual(expected);
      return true;
    });
  return { watched, values, troubles, has };
}

test('an application gets the typed value, then each that differs', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  const { watched, has, troubles } = follow();
  expect(await watched.first).toEqual({
    ...{ value: { perUser: 1 }, version: versionOf('{"perUser":1}'), commit: 'c1', override: null },
  });
  await world.commit({ 'shop/limits': '{"perUser":2}' });
  await has([1, 2]);
  await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'shop/limits', '{"perUser":3}', { hosts: ['h1'] })]);
  await has([1, 2, 3]);
  expect(watched.current()).toMatchObject({ override: '7@abc', commit: null });
  expect(watched.task()).toBe('h1@7@abc');
  await world.commit({ 'shop/limits': '{"perUser":3}' });
  await world.store.removeOverrides(R, 'deploy/x/1');
  await eventually('it is committed', async () => watched.current()?.commit === 'c3');
  await has([1, 2, 3]);
  // No listener was called, and the name for health is the new one all the same.
  expect(watched.task()).toBe('h1@c3');
  expect(watched.age()).toBeLessThan(60);
  expect(troubles).toEqual([]);
});

test('a value that the schema refuses keeps the last good one, and its reason reaches the deploy', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  const { watched, has, troubles } = follow();
  await has([1]);
  const bad = '{"perUser":"many"}';
  await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'shop/limits', bad, { hosts: ['h1'] })]);
  await eventually('it is acknowledged as refused', async () =>
    (await world.store.subscribers(R, 'shop/limits')).some(({ refused }) => refused?.startsWith('shop: ')),
  );
  expect(watched.current()?.value).toEqual({ perUser: 1 });
  expect(troubles).toMatchObject([{ kind: 'refused', version: versionOf(bad) }]);
  await world.store.removeOverrides(R, 'deploy/x/1');
  await world.acknowledged('shop/limits', [`h1 ${short('{"perUser":1}')} committed`]);
  await has([1]);
});

test.each([
  ['is not JSON', '{"perUser":', limits],
  ['makes onChange throw', '{"perUser":13}', limits],
])('a value that %s is refused in the same way', async (_, bad) => {
  await world.commit({ 'shop/limits': bad });
  await up();
  const watched = watchConfig(
    'shop/limits',
    limits,
    ({ value }) => {
      if (value.perUser === 13) throw new Error('thirteen is unlucky');
    },
    { url: `http://127.0.0.1:${port}`, app: 'shop', retryMs: 10 },
  );
  watching.push(watched);
  await eventually('it is refused', async () =>
    (await world.store.subscribers(R, 'shop/limits')).some(({ refused }) => refused !== undefined),
  );
  expect(watched.current()).toBeUndefined();
  await world.commit({ 'shop/limits': '{"perUser":2}' });
  expect((await watched.first).value).toEqual({ perUser: 2 });
});

test('the proxy can go and come at any time: the value stays, and nothing is missed', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  const { watched, has, troubles } = follow();
  await has([1]);
  await down();
  await world.commit({ 'shop/limits': '{"perUser":2}' });
  await eventually('it knows', async () => troubles.some(({ kind }) => kind === 'proxy-away'));
  expect(watched.current()?.value).toEqual({ perUser: 1 });
  await up();
  await has([1, 2]);
  expect(troubles.filter(({ kind }) => kind === 'proxy-away')).toHaveLength(1);
});

test('a value that contradicts its version is not used, whatever its source, and is reported', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  const liar = (async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init);
    const body = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(text.replace('perUser\\":2', 'perUser\\":666')),
      }),
    );
    return new Response(body?.pipeThrough(new TextEncoderStream()), response);
  }) as typeof fetch;
  const { watched, has, troubles } = follow({ fetch: liar });
  await has([1]);
  await world.commit({ 'shop/limits': '{"perUser":2}' });
  await eventually('it is refused', async () => troubles.length > 0);
  expect(troubles).toMatchObject([{ kind: 'refused', error: { message: 'it is not what its version says' } }]);
  expect(watched.current()?.value).toEqual({ perUser: 1 });
  await world.acknowledged('shop/limits', [
    `h1 ${short('{"perUser":2}')} committed shop: it is not what its version says`,
  ]);
  await world.commit({ 'shop/limits': '{"perUser":3}' });
  await has([1, 3]);
});

test('an application that starts while its proxy is down has the last value from the disk, with its age', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  await follow().has([1]);
  await down();
  const second = follow({ cache: folder });
  await second.has([1]);
  expect(second.watched.current()).toMatchObject({ commit: 'c1', override: null });
  expect(second.watched.task()).toBe('h1@c1');
  expect(second.watched.age()).toBeGreaterThan(0);
  expect(second.troubles.map(({ kind }) => kind)).toEqual(['proxy-away']);
  await world.commit({ 'shop/limits': '{"perUser":2}' });
  await up();
  await second.has([1, 2]);
});

test('without a proxy, a cache or a value nothing throws: it waits, and close ends that', async () => {
  const { watched, values, troubles } = follow({ cache: folder });
  await eventually('it knows', async () => troubles.length > 0);
  expect(troubles).toMatchObject([{ kind: 'proxy-away' }]);
  expect(watched.current()).toBeUndefined();
  watched.close();
  await expect(watched.first).rejects.toThrow('shop/limits was closed before it had a value');
  expect(values).toEqual([]);
});

test('a value that is deleted stays in use, and the application is notified', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  const { watched, has, troubles } = follow();
  await has([1]);
  await world.commit({ 'shop/limits': null });
  await eventually('it knows', async () => troubles.some(({ kind }) => kind === 'removed'));
  expect(watched.current()?.value).toEqual({ perUser: 1 });
});

test('a proxy that falls silent counts as gone', async () => {
  await world.commit({ 'shop/limits': '{"perUser":1}' });
  await up();
  let streams = 0;
  const deaf: typeof fetch = (url, init) => {
    if (!String(url).includes('/v1/watch') || (streams += 1) > 1) return fetch(url, init);
    return Promise.resolve(
      new Response(
        new ReadableStream({
          start: (controller) =>
            init?.signal?.addEventListener('abort', () => controller.error(new Error('it was ended'))),
        }),
      ),
    );
  };
  await follow({ fetch: deaf, silenceMs: 50 }).has([1]);
  expect(streams).toBeGreaterThan(1);
});

test('an application whose own onTrouble throws continues', async () => {
  const { has } = follow({
    onTrouble: () => {
      throw new Error('of the application');
    },
  });
  await world.commit({ 'shop/limits': '{"perUser":5}' });
  await up();
  await has([5]);
  await world.commit({ 'shop/limits': '{"perUser":"many"}' });
  await world.commit({ 'shop/limits': null });
  await world.commit({ 'shop/limits': '{"perUser":7}' });
  await has([5, 7]);
});

test.each([
  ['long', 'x'.repeat(300)],
  ['empty', ''],
])('an application with a name that is %s refuses as any other', async (_what, app) => {
  await world.commit({ 'shop/limits': '{"perUser":"many"}' });
  await up();
  follow({ app });
  await eventually('it has refused the value', async () => served?.proxy.health().refused === 1);
});
