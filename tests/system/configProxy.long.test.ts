import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWithEtcd } from '../configerator/etcd';
import { overrideOf, versionOf } from '../configerator/storeSuite';
import { cleanEnv, ROOT, type Running } from './process';
import { ProxiedHosts } from './proxiedHosts';
import { eventually } from './waiting';

const R = 'flags';
const PATH = 'shop/limits';

/** A user's program: prints each value that it gets. */
const CLIENT = `
const { watchConfig } = require(${JSON.stringify(join(ROOT, 'dist/sdk/config.js'))});
const schema = { parse: (it) => { if (typeof it.perUser !== 'number') throw new Error('perUser is not a number'); return it; } };
watchConfig('${PATH}', schema, ({ value, commit, override }) => {
  console.log('has ' + value.perUser + ' of ' + (commit ?? override));
}, { retryMs: 50, app: 'shop', onTrouble: ({ kind }) => console.log('trouble ' + kind) });
setInterval(() => {}, 1000);
`;

describeWithEtcd('configuration on two hosts, as processes', () => {
  let hosts: ProxiedHosts;

  beforeAll(async () => {
    hosts = await ProxiedHosts.open(R, 2);
    writeFileSync(join(hosts.home, 'client.js'), CLIENT);
  });
  afterAll(() => hosts.close());

  const commit = (value: string): Promise<unknown> => hosts.commit(PATH, value);
  const proxy = (at: number): Promise<Running> => hosts.startProxy(at, cleanEnv(hosts.home), { label: 'region=eu' });
  const client = (at: number): Running =>
    hosts.processes.start(process.execPath, [join(hosts.home, 'client.js')], {
      ...cleanEnv(hosts.home),
      CONVEYOR_CONFIG_PROXY: hosts.url(at),
      CONVEYOR_CONFIG_CACHE: hosts.cache(at),
    });
  const answer = (at: number): Promise<Record<string, unknown>> => hosts.answer(at, `config/${PATH}`);
  const acknowledged = (expected: Readonly<Record<string, string>>): Promise<unknown> =>
    eventually(`both hosts acknowledge ${JSON.stringify(expected)}`, async () => {
      const all = await hosts.store.subscribers(R, PATH);
      const said = all.map(({ host, version, refused }) => [
        host,
        refused === undefined ? version : `refused: ${refused}`,
      ]);
      if (JSON.stringify(Object.fromEntries(said)) === JSON.stringify(expected)) return true;
      throw new Error(JSON.stringify(said));
    });

  test('a value reaches the hosts that it is meant for, survives every kill in between, and nothing is lost or goes back', async () => {
    await commit('{"perUser":1}');
    const proxies = [await proxy(0), await proxy(1)];
    const clients = [client(0), client(1)] as const;
    await Promise.all(clients.map((one) => one.said(/^has 1 of c1$/m)));

    await hosts.store.putOverrides(R, [overrideOf('deploy/shop/1', PATH, '{"perUser":2}', { hosts: ['h1'] })]);
    await clients[0].said(/^has 2 of 7@abc$/m);
    await acknowledged({ h1: versionOf('{"perUser":2}'), h2: versionOf('{"perUser":1}') });
    expect(await answer(1)).toMatchObject({ value: '{"perUser":1}', override: null });

    await hosts.etcd.kill();
    proxies[0]?.kill('SIGKILL');
    await proxies[0]?.ended;
    proxies[0] = await proxy(0);
    await eventually('h1 has its override without any store', async () => (await answer(0))['override'] === '7@abc');
    expect(proxies[0].stdout()).toContain('1 cached');

    await hosts.etcd.start();
    await eventually('the override is removed', () => hosts.store.removeOverrides(R, 'deploy/shop/1').then(() => true));
    await clients[0].said(/^has 2 of 7@abc\n(?:trouble proxy-away\n)?has 1 of c1$/m);
    await commit('{"perUser":3}');
    await Promise.all(clients.map((one) => one.said(/^has 3 of c2$/m)));

    proxies[1]?.kill('SIGKILL');
    await proxies[1]?.ended;
    await commit('{"perUser":4}');
    await commit('{"perUser":"five"}');
    await clients[0].said(/^trouble refused$/m);
    await eventually('h1 has it refused', async () =>
      (await hosts.store.subscribers(R, PATH)).some(
        ({ host, refused }) => host === 'h1' && refused === 'shop: perUser is not a number',
      ),
    );
    await commit('{"perUser":6}');
    proxies[1] = await proxy(1);
    await Promise.all(clients.map((one) => one.said(/^has 6 of c5$/m)));
    await acknowledged({ h1: versionOf('{"perUser":6}'), h2: versionOf('{"perUser":6}') });

    for (const one of clients) {
      const had = [...one.stdout().matchAll(/^has \d+ of c(\d+)$/gm)].map(([, number]) => Number(number));
      expect(had.filter((number, at) => at > 0 && number < (had[at - 1] ?? 0))).toEqual([]);
    }
    expect(readdirSync(join(hosts.home, 'h1')).filter((name) => !name.endsWith('.json'))).toEqual([
      'packages',
      'proxy.claim',
    ]);
  });

  test('an application that starts while proxy and store are dead has the last value from the disk', async () => {
    await hosts.etcd.kill();
    await hosts.processes.reap();
    const late = client(0);
    await late.said(/^has 6 of c5$/m);
    await late.said(/^trouble proxy-away$/m);
  });

  test('a second proxy with the same cache does not start, and says who has it', async () => {
    await hosts.etcd.start();
    const { pid } = await proxy(0);
    const args = [
      'config-proxy',
      '--repository',
      R,
      '--cache',
      join(hosts.home, 'h1'),
      '--etcd',
      hosts.etcd.url,
      '--port',
      '0',
    ];
    const { code, stderr } = await hosts.processes.node('bin/conveyor.js', args, cleanEnv(hosts.home)).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^error: files-in-use: the cache .*/h1 is in use by process ${pid} on `),
      ),
    });
    expect(await answer(0)).toMatchObject({ value: '{"perUser":6}' });
  });

  test('a proxy that cannot start says why', async () => {
    const args = ['config-proxy', '--repository', R, '--cache', hosts.home, '--etcd', 'ftp://etcd'];
    const { code, stderr } = await hosts.processes.node('bin/conveyor.js', args, cleanEnv(hosts.home)).ended;
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: usage: --etcd: expected the URL of an etcd such as/),
    });
  });
});
