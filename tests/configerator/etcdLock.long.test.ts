import { spawnSync } from 'node:child_process';
import { ConfigProxy } from '../../configerator/proxy/proxy';
import { EtcdStore } from '../../configerator/store/etcd';
import { hostUser, planLock, type WantedUsers } from '../../configerator/store/lockPlan';
import { eventually } from '../system/waiting';
import { describeWithEtcd, Etcd } from './etcd';
import { doorOf, lock, takeSteps, WANTED } from './locking';
import { FakeDisk } from './proxyWorld';
import { commitOf, describeStore, hear, overrideOf } from './storeSuite';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const describeWithTls: typeof describeWithEtcd = hasOpenssl
  ? describeWithEtcd
  : (name, tests) => {
      process.stderr.write(`skipped, since there is no openssl here: ${name}\n`);
      describe.skip(name, tests);
    };

const started: Etcd[] = [];
const start = async (tls = false): Promise<Etcd> => {
  const etcd = await (tls ? Etcd.startTls() : Etcd.start());
  started.push(etcd);
  return etcd;
};
afterAll(() => Promise.all(started.map((etcd) => etcd.close())));

describeStore('the store in an etcd with TLS, certificates of clients and a user', describeWithTls, async () => {
  const etcd = await start(true);
  await lock(etcd);
  // The tests have a repository each, and this user all of them.
  const login = { user: 'root', password: WANTED.rootPassword };
  const make = () => new EtcdStore({ url: etcd.url, tls: etcd.certificates!, login });
  return { store: make(), another: make, pass: async () => undefined };
});

describeWithEtcd('a store with a lock', () => {
  let etcd: Etcd;
  let service: EtcdStore;
  let host: EtcdStore;
  beforeAll(async () => {
    etcd = await start();
    const passwords = await lock(etcd);
    service = new EtcdStore({ url: etcd.url, login: WANTED.service });
    host = new EtcdStore({ url: etcd.url, login: { user: hostUser('h1'), password: passwords.get('h1')! } });
    await service.apply('flags', commitOf(1, { a: '1' }));
  });

  test('every read and write needs a user', async () => {
    const stranger = new EtcdStore({ url: etcd.url });
    await expect(stranger.read('flags', 'a')).rejects.toMatchObject({ code: 'store-refused' });
    await expect(stranger.apply('flags', commitOf(2, { a: '666' }))).rejects.toMatchObject({ code: 'store-refused' });
    await etcd.put('/conveyor/config/flags/p/a:value', '{"version":"v","commit":"c","sequence":999999}\n666');
    expect(await service.read('flags', 'a')).toMatchObject({ value: '1', sequence: 1 });
  });

  test('a wrong password is refused, and stands in no error', async () => {
    const wrong = new EtcdStore({ url: etcd.url, login: { user: 'service', password: 'hunter2' } });
    const error = await wrong.head('flags').catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'store-refused', message: expect.stringMatching(/authentication failed/) });
    expect(JSON.stringify(error) + (error as Error).stack).not.toContain('hunter2');
  });

  test('a host follows values and acknowledges them, and can write nothing else', async () => {
    const proxy = new ConfigProxy({
      ...{ host: 'h1', repository: 'flags', store: host, files: new FakeDisk(), settleMs: 5 },
      ...{ now: () => Date.now(), log: () => undefined },
    });
    await proxy.start();
    expect(await proxy.ask('a')).toMatchObject({ value: '1' });
    await eventually('it is acknowledged', async () => (await service.subscribers('flags', 'a')).length === 1);
    await expect(host.apply('flags', commitOf(2, { a: '666' }))).rejects.toMatchObject({ code: 'store-refused' });
    await expect(host.putOverrides('flags', [overrideOf('x', 'a', '666')])).rejects.toMatchObject({
      code: 'store-refused',
      message: expect.stringMatching(/permission denied/),
    });
    await expect(host.head('another')).rejects.toMatchObject({ code: 'store-refused' });
    expect(await service.read('flags', 'a')).toMatchObject({ value: '1' });
    await proxy.close();
  });

  test('running it again changes nothing, adds new hosts, and keeps the passwords of the others', async () => {
    const present = await doorOf(etcd).present('flags');
    expect(planLock(WANTED, present)).toEqual([]);
    const more = planLock({ ...WANTED, hosts: ['h1', 'h2'] }, present);
    expect(more.map(({ text }) => text)).toEqual(['adds the user host-h2', 'makes host-h2 a conveyor-flags-host']);
    expect(await host.read('flags', 'a')).toMatchObject({ value: '1' });
  });

  test('a host whose password is replaced gets in by the new one alone, and one that is revoked not at all', async () => {
    const take = (wanted: Partial<WantedUsers>) => takeSteps(etcd, wanted);
    const [added] = await take({ hosts: ['h1', 'h7'] });
    const old = new EtcdStore({ url: etcd.url, login: { user: 'host-h7', password: added?.issued?.password ?? '' } });
    expect(await old.read('flags', 'a')).toBeDefined();
    const [rotated] = await take({ hosts: ['h1', 'h7'], rotated: ['h7'] });
    expect(rotated).toMatchObject({ text: 'gives host-h7 another password', issued: { host: 'h7' } });
    await expect(old.read('flags', 'a')).rejects.toMatchObject({ code: 'store-refused' });
    const login = { user: 'host-h7', password: rotated?.issued?.password ?? '' };
    const renewed = new EtcdStore({ url: etcd.url, login });
    expect(await renewed.read('flags', 'a')).toBeDefined();
    expect((await take({ revoked: ['h7'] })).map(({ text }) => text)).toEqual(['removes the user host-h7']);
    await expect(renewed.read('flags', 'a')).rejects.toMatchObject({ code: 'store-refused' });
    expect(await take({ revoked: ['h7'] })).toEqual([]);
    await expect(take({ rotated: ['h7'] })).rejects.toMatchObject({ code: 'usage' });
    expect(await host.read('flags', 'a')).toBeDefined();
  });

  test('a token that etcd has forgotten is replaced, for requests and for watchers', async () => {
    const heard = hear(host, 'flags', ['a']);
    await heard.begun();
    await etcd.kill();
    await etcd.start();
    expect(await service.apply('flags', commitOf(2, { a: '2' }))).toBe('applied');
    await heard.count(2);
    expect(heard.said()).toEqual(['a=1@1', 'a=2@2']);
    await heard.end();
  });
});

const OWN_ACK = '{"host":"h9","path":"a","version":"v","at":0';

describeWithEtcd('an acknowledgement that no proxy wrote', () => {
  test.each([
    ['is no JSON', 'x'],
    ['names another host', JSON.stringify({ host: 'h2', path: 'a', version: 'v', at: 0 })],
    ['names another path', JSON.stringify({ host: 'h9', path: 'b', version: 'v', at: 0 })],
    ['has no version', JSON.stringify({ host: 'h9', path: 'a', at: 0 })],
    [
      'nests so deep that no answer could repeat it',
      `${OWN_ACK},"labels":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
  ])('hides no other, and counts for none: one that %s', async (_, text) => {
    const etcd = await start();
    const store = new EtcdStore({ url: etcd.url });
    const said = { host: 'h1', path: 'a', version: 'v', revision: null, commit: null, at: 0 };
    await store.acknowledge('flags', said, 60);
    await etcd.put('/conveyor/config/flags/a/a:h9', text);
    expect((await store.subscribers('flags', '')).map(({ host }) => host)).toEqual(['h1']);
  });
});

test('a URL with a user and a password is refused, and repeated nowhere', () => {
  const make = (): unknown => new EtcdStore({ url: 'http://127.0.0.1:2379,http://user:hunter2@127.0.0.1:2380' });
  expect(make).toThrow('a URL holds no user and no password');
  expect(make).not.toThrow('hunter2');
});
