import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { ConfigProxy } from '../../configerator/proxy/proxy';
import { EtcdStore } from '../../configerator/store/etcd';
import { EtcdApi } from '../../configerator/store/etcdApi';
import { Keys } from '../../configerator/store/etcdKeys';
import { encodeKeyRange } from '../../configerator/store/etcdWire';
import { hostUser } from '../../configerator/store/lockPlan';
import type { HostAcknowledgement } from '../../configerator/store/port';
import { run } from '../builders/cliWorld';
import { eventually } from '../system/waiting';
import { describeWithEtcd, Etcd } from './etcd';
import { asHost, asService, doorOf, lock, takeSteps } from './locking';
import { FakeDisk } from './proxyWorld';
import { bench } from './repositories';
import { folderOf } from './sources';
import { commitOf } from './storeSuite';

const said = (host: string, path = 'a', over: Partial<HostAcknowledgement> = {}): HostAcknowledgement => ({
  ...{ host, path, version: 'v', revision: null, commit: null, at: 0, ...over },
});

const hostsOf = async (store: EtcdStore, path = 'a') =>
  (await store.subscribers('flags', path)).map((one) => `${one.path}:${one.host} ${one.version}`);

const REFUSED = { code: 'store-refused', message: expect.stringMatching(/permission denied/) as string };

describeWithEtcd('hosts with roles of their own', () => {
  let etcd: Etcd;
  let service: EtcdStore;
  /** web-1 and web-2 have roles of their own; old-1 has the shared one. */
  let passwords: ReadonlyMap<string, string>;
  const enter = (host: string): EtcdStore => asHost(etcd, host, passwords);
  const attack = (host: string): EtcdApi =>
    new EtcdApi({ url: etcd.url, login: { user: hostUser(host), password: passwords.get(host) ?? '' } });
  beforeAll(async () => {
    etcd = await Etcd.start();
    const shared = await lock(etcd, { hosts: ['old-1'] });
    passwords = new Map([...shared, ...(await lock(etcd, { hosts: ['web-1', 'web-2'], isPerHost: true }))]);
    service = asService(etcd);
    await service.apply('flags', commitOf(1, { a: '1' }));
  });
  afterAll(() => etcd.close());

  test('a host follows values and acknowledges them, and can write nothing else', async () => {
    const proxy = new ConfigProxy({
      ...{ host: 'web-1', repository: 'flags', store: enter('web-1'), files: new FakeDisk(), settleMs: 5 },
      ...{ now: () => Date.now(), log: () => undefined, ttlSeconds: 2 },
    });
    await proxy.start();
    expect(await proxy.ask('a')).toMatchObject({ value: '1' });
    await eventually('it is acknowledged', async () => (await service.subscribers('flags', 'a')).length === 1);
    await proxy.close();
    const host = enter('web-1');
    await expect(host.apply('flags', commitOf(2, { a: '666' }))).rejects.toMatchObject(REFUSED);
    await expect(host.head('another')).rejects.toMatchObject(REFUSED);
    await eventually('it is gone', async () => (await service.subscribers('flags', 'a')).length === 0);
  });

  test.each([
    ['acknowledges as the other', (at: string) => ({ put: { key: at, value: JSON.stringify(said('web-2')) } })],
    ['removes what the other acknowledged', (at: string) => ({ delete: { key: at } })],
  ])('a host changes nothing of what another acknowledges: one that %s', async (_, attacking) => {
    const honest = said('web-2', 'a', { version: 'mine' });
    await enter('web-2').acknowledge('flags', honest, 60);
    await expect(enter('web-1').acknowledge('flags', said('web-2'), 60)).rejects.toMatchObject(REFUSED);
    for (const key of ['h/web-2:a', 'a/a:web-2', 'n/web-2', 'n/web-3'])
      await expect(attack('web-1').transact([attacking(`/conveyor/config/flags/${key}`)])).rejects.toMatchObject(
        REFUSED,
      );
    expect(await hostsOf(service)).toEqual(['a:web-2 mine']);
  });

  test('a host of the shared role stands for no host that has its own, not even for one that is silent', async () => {
    const key = '/conveyor/config/flags/a/a:web-1';
    await attack('old-1').transact([
      { put: { key, value: JSON.stringify(said('web-1', 'a', { version: 'forged' })) } },
    ]);
    await enter('old-1').acknowledge('flags', said('old-1'), 60);
    expect(await hostsOf(service)).toEqual(['a:old-1 v', 'a:web-2 mine']);
  });

  test('a host ends the acknowledgements of no other by their lease, and keeps none from writing', async () => {
    const api = attack('web-1');
    const key = { key: Buffer.from('/conveyor/config/flags/h/web-2:a').toString('base64') };
    const { kvs } = await api.ask<{ kvs: { lease: string }[] }>('/v3/kv/range', key);
    const lease = kvs[0]?.lease ?? '';
    await expect(api.ask('/v3/kv/lease/revoke', { ID: lease })).rejects.toMatchObject(REFUSED);
    await api.transact([{ put: { key: '/conveyor/config/flags/h/web-1:x', value: '', lease } }]).catch(() => undefined);
    await enter('web-2').acknowledge('flags', said('web-2', 'b'), 60);
    expect(await hostsOf(service, 'b')).toEqual(['b:web-2 v']);
  });

  test('a reader of a path, of all below one, and of everything finds hosts of both roles, in order', async () => {
    await enter('web-1').acknowledge('flags', said('web-1', 'feed/limits'), 60);
    await enter('old-1').acknowledge('flags', said('old-1', 'feed/limits'), 60);
    await enter('web-1').acknowledge('flags', said('web-1', 'feedback'), 60);
    const below = ['feed/limits:old-1 v', 'feed/limits:web-1 v'];
    expect(await hostsOf(service, 'feed/limits')).toEqual(below);
    expect(await hostsOf(service, 'feed/')).toEqual(below);
    expect(await hostsOf(service, '')).toEqual([
      ...['a:old-1 v', 'a:web-2 mine', 'b:web-2 v'],
      ...[...below, 'feedback:web-1 v'],
    ]);
  });

  test('a proxy goes over to its own role while it runs', async () => {
    passwords = new Map([...passwords, ...(await lock(etcd, { hosts: ['web-4'] }))]);
    const host = enter('web-4');
    const repeat = () => host.acknowledge('flags', said('web-4', 'c'), 2);
    await repeat();
    expect(await hostsOf(service, 'c')).toEqual(['c:web-4 v']);
    const steps = await takeSteps(etcd, { hosts: ['web-4'], isPerHost: true });
    expect(steps.map(({ text }) => text)).toEqual([
      'adds the role conveyor-flags-host:web-4',
      'lets conveyor-flags-host:web-4 read /conveyor/config/flags/…',
      'lets conveyor-flags-host:web-4 read and write /conveyor/config/flags/h/web-4:…',
      'makes host-web-4 a conveyor-flags-host:web-4',
      'takes acknowledgements of web-4 from host-web-4 alone',
      'makes host-web-4 no conveyor-flags-host',
    ]);
    await eventually('it acknowledges under its own role', async () => {
      await repeat();
      return (await service.subscribers('flags', 'c')).length === 1;
    });
    await host.acknowledge('flags', said('web-4', 'c', { version: 'next' }), 2);
    expect(await hostsOf(service, 'c')).toEqual(['c:web-4 next']);
  });

  test('a second run changes nothing, without the option neither, and a host that is revoked leaves nothing', async () => {
    expect(await takeSteps(etcd, { hosts: ['web-1', 'web-2'], isPerHost: true })).toEqual([]);
    expect(await takeSteps(etcd, { hosts: ['old-1', 'web-1'] })).toEqual([]);
    const gone = await takeSteps(etcd, { hosts: [], revoked: ['web-4'] });
    expect(gone.map(({ text }) => text)).toEqual([
      'removes the user host-web-4',
      'removes the role conveyor-flags-host:web-4',
      'knows web-4 no more',
    ]);
    expect(await takeSteps(etcd, { hosts: [], revoked: ['web-4'] })).toEqual([]);
    await eventually('nothing is left', async () => (await hostsOf(service, 'c')).length === 0);
  });
});

describeWithEtcd('publishers', () => {
  let etcd: Etcd;
  beforeAll(async () => {
    etcd = await Etcd.start();
    await lock(etcd, { hosts: [] });
    await asService(etcd).apply('flags', commitOf(1, { 'models/feed': '1' }));
  });
  afterAll(() => etcd.close());

  test('need no user of the store: to publish is to propose to git', async () => {
    const it = await bench();
    const [port] = await freePorts(1);
    const store = `{ url: "${etcd.url}", user: service, passwordEnv: CONVEYOR_ETCD_PASSWORD }`;
    const folder = folderOf({
      'conveyor.config.yaml': `config:\n  repositories:\n    flags: { git: ${it.origin}, etcd: ${store} }\n`,
      'feed.bin': 'weights',
    });
    const env = { CONVEYOR_CONFIG: join(folder, 'conveyor.config.yaml'), CONVEYOR_CACHE: folder };
    const command = ['config', 'publish-model', join(folder, 'feed.bin'), '--name', 'feed'];
    const ran = await run([...command, '--listen', `127.0.0.1:${port}`], { env, interruptAtMs: 0 });
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/^1@[0-9a-f]{40}\n {2}models\/feed 1: 7 bytes/) });
  });

  test('could bring nothing to hosts by a role for their path: their writes land with the head or not at all', async () => {
    const path = new Keys('flags').pathRange('models/feed');
    const perm = { permType: 'READWRITE', ...encodeKeyRange(path) };
    const login = { user: 'publisher', password: 'the publisher' };
    for (const [where, body] of [
      ['role/add', { name: 'publishes-feed' }],
      ['role/grant', { name: 'publishes-feed', perm }],
      [
        'role/grant',
        { name: 'publishes-feed', perm: { permType: 'READ', ...encodeKeyRange(new Keys('flags').everything) } },
      ],
      ['user/add', { name: login.user, password: login.password }],
      ['user/grant', { user: login.user, role: 'publishes-feed' }],
    ] as const)
      await doorOf(etcd).take({ text: where, path: `/v3/auth/${where}`, body }, true);
    const publisher = new EtcdStore({ url: etcd.url, login });
    await expect(publisher.apply('flags', commitOf(2, { 'models/feed': '2' }))).rejects.toMatchObject(REFUSED);
    expect(await publisher.read('flags', 'models/feed')).toMatchObject({ value: '1' });
  });
});
