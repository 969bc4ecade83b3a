import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { EtcdStore } from '../../config/store/etcd';
import { describeWithEtcd, Etcd } from '../config/etcd';
import { commitOf, overrideOf, versionOf } from '../config/storeSuite';
import { cleanEnv, Processes, ROOT, type Running } from './process';
import { eventually } from './waiting';

const R = 'flags';
const PATH = 'shop/limits';

/** A program of a user: prints each value that it gets. */
const CLIENT = `
const { watchConfig } = require(${JSON.stringify(join(ROOT, 'dist/sdk/config.js'))});
const schema = { parse: (it) => { if (typeof it.perUser !== 'number') throw new Error('perUser is no number'); return it; } };
watchConfig('${PATH}', schema, ({ value, commit, override }) => {
  console.log('has ' + value.perUser + ' of ' + (commit ?? override));
}, { retryMs: 50, app: 'shop', onTrouble: ({ kind }) => console.log('trouble ' + kind) });
setInterval(() => {}, 1000);
`;

describeWithEtcd('configuration on two hosts, as processes', () => {
  const processes = new Processes();
  const home = mkdtempSync(join(tmpdir(), 'conveyor-config-proxy-'));
  let etcd: Etcd;
  let store: EtcdStore;
  let ports: readonly number[];
  let sequence = 0;

  beforeAll(async () => {
    etcd = await Etcd.start();
    store = new EtcdStore({ url: etcd.url, timeoutMs: 2000 });
    ports = await freePorts(2);
    writeFileSync(join(home, 'client.js'), CLIENT);
  });
  afterAll(async () => {
    await processes.reap();
    await etcd?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const hostOf = (at: number): string => `h${at + 1}`;
  const url = (at: number): string => `http://127.0.0.1:${ports[at]}`;
  const commit = (value: string): Promise<unknown> => {
    sequence += 1;
    const next = commitOf(sequence, { [PATH]: value });
    return eventually('the store takes it', () => store.apply(R, next));
  };

  async function proxy(at: number): Promise<Running> {
    const flags = {
      repository: R,
      cache: join(home, hostOf(at)),
      etcd: etcd.url,
      host: hostOf(at),
      port: String(ports[at]),
    };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const running = processes.node(
      'bin/conveyor.js',
      ['config-proxy', ...args, '--label', 'region=eu'],
      cleanEnv(home),
    );
    await running.said(/^config-proxy ready/m);
    return running;
  }

  const client = (at: number): Running =>
    processes.start(process.execPath, [join(home, 'client.js')], {
      ...cleanEnv(home),
      CONVEYOR_CONFIG_PROXY: url(at),
      CONVEYOR_CONFIG_CACHE: join(home, hostOf(at)),
    });

  const answer = async (at: number): Promise<Record<string, unknown>> =>
    (await (await fetch(`${url(at)}/v1/config/${PATH}`)).json()) as Record<string, unknown>;
  const acknowledged = (expected: Readonly<Record<string, string>>): Promise<unknown> =>
    eventually(`both hosts acknowledge ${JSON.stringify(expected)}`, async () => {
      const all = await store.subscribers(R, PATH);
      const said = all.map(({ host, version, refused }) => [
        host,
        refused === undefined ? version : `refused: ${refused}`,
      ]);
      if (JSON.stringify(Object.fromEntries(said)) === JSON.stringify(expected)) return true;
      throw new Error(JSON.stringify(said));
    });

  test('a value goes to whom it is meant for, survives every kill in between, and nothing is lost or goes back', async () => {
    await commit('{"perUser":1}');
    const proxies = [await proxy(0), await proxy(1)];
    const clients = [client(0), client(1)] as const;
    await Promise.all(clients.map((one) => one.said(/^has 1 of c1$/m)));

    await store.putOverrides(R, [overrideOf('deploy/shop/1', PATH, '{"perUser":2}', { hosts: ['h1'] })]);
    await clients[0].said(/^has 2 of 7@abc$/m);
    await acknowledged({ h1: versionOf('{"perUser":2}'), h2: versionOf('{"perUser":1}') });
    expect(await answer(1)).toMatchObject({ value: '{"perUser":1}', override: null });

    await etcd.kill();
    proxies[0]?.kill('SIGKILL');
    await proxies[0]?.ended;
    proxies[0] = await proxy(0);
    await eventually('h1 has its override without any store', async () => (await answer(0))['override'] === '7@abc');
    expect(proxies[0].stdout()).toContain('1 cached');

    await etcd.start();
    await eventually('the override is removed', () => store.removeOverrides(R, 'deploy/shop/1').then(() => true));
    await clients[0].said(/^has 2 of 7@abc\n(?:trouble proxy-away\n)?has 1 of c1$/m);
    await commit('{"perUser":3}');
    await Promise.all(clients.map((one) => one.said(/^has 3 of c2$/m)));

    proxies[1]?.kill('SIGKILL');
    await proxies[1]?.ended;
    await commit('{"perUser":4}');
    await commit('{"perUser":"five"}');
    await clients[0].said(/^trouble refused$/m);
    await eventually('h1 has it refused', async () =>
      (await store.subscribers(R, PATH)).some(
        ({ host, refused }) => host === 'h1' && refused === 'shop: perUser is no number',
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
    expect(readdirSync(join(home, 'h1')).filter((name) => !name.endsWith('.json'))).toEqual([
      'packages',
      'proxy.claim',
    ]);
  });

  test('an application that starts while proxy and store are dead has the last value from the disk', async () => {
    await etcd.kill();
    await processes.reap();
    const late = client(0);
    await late.said(/^has 6 of c5$/m);
    await late.said(/^trouble proxy-away$/m);
  });

  test('a second proxy with the same cache does not start, and says who has it', async () => {
    await etcd.start();
    const { pid } = await proxy(0);
    const args = ['config-proxy', '--repository', R, '--cache', join(home, 'h1'), '--etcd', etcd.url, '--port', '0'];
    const { code, stderr } = await processes.node('bin/conveyor.js', args, cleanEnv(home)).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^error: files-in-use: the cache .*/h1 is in use by process ${pid} on `),
      ),
    });
    expect(await answer(0)).toMatchObject({ value: '{"perUser":6}' });
  });

  test('a proxy that cannot start says why', async () => {
    const args = ['config-proxy', '--repository', R, '--cache', home, '--etcd', 'ftp://etcd'];
    const { code, stderr } = await processes.node('bin/conveyor.js', args, cleanEnv(home)).ended;
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: usage: --etcd ftp:\/\/etcd is no URL of http or https/),
    });
  });
});
