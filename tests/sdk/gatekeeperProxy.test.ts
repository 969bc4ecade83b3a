import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { createProxyApp, type ProxyApp } from '../../configerator/proxy/app';
import { gatesFromProxy } from '../../sdk/gatekeeper/fromProxy';
import { createGatekeeper } from '../../sdk/gatekeeper/gatekeeper';
import { ProxyWorld } from '../configerator/proxyWorld';
import { versionOf } from '../configerator/storeSuite';
import { eventually } from '../system/waiting';

let world: ProxyWorld;
let app: ProxyApp;
let server: ServerType;
beforeEach(async () => {
  world = new ProxyWorld();
  app = createProxyApp(await world.proxy('h1'));
  server = await new Promise<ServerType>((resolve) => {
    const one = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(one));
  });
});
afterEach(async () => {
  app.end();
  await new Promise((resolve) => server.close(resolve));
  await world.close();
});

test('gates follow the proxy of their host, report a value that is not a project to it, and close when theirs is deleted', async () => {
  const open = '{"rules":[{"if":[],"pass":1}]}';
  const { port } = server.address() as AddressInfo;
  const subscribe = gatesFromProxy({ url: `http://127.0.0.1:${port}`, app: 'shop', retryMs: 10 });
  const gates = createGatekeeper({ subscribe, log: () => undefined });
  const is = (pass: boolean) =>
    eventually(`checkout is ${String(pass)}`, async () => gates.check('checkout', { id: 'alice' }) === pass);
  await world.commit({ 'gates/checkout': open });
  await is(true);
  await world.commit({ 'gates/checkout': '{"rules":7}' });
  await world.acknowledged('gates/checkout', [
    `h1 ${versionOf('{"rules":7}').slice(0, 7)} committed shop: rules: expected a list, got 7`,
  ]);
  await is(true);
  await world.commit({ 'gates/checkout': null });
  await is(false);
  await world.commit({ 'gates/checkout': open });
  await is(true);
  gates.close();
});
