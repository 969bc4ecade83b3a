import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { base64 } from '../../configerator/store/etcdWire';
import { planLock, type PresentUsers } from '../../configerator/store/lockPlan';
import { CONFIG_LIMITS } from '../../domain/limits';
import { run } from '../builders/cliWorld';
import { describeWithEtcd, Etcd } from './etcd';
import { asHost, asService, doorOf, lock, WANTED } from './locking';
import { folderOf } from './sources';
import { commitOf } from './storeSuite';

function world(etcd: string) {
  const store = `{ url: "${etcd}", user: service, passwordEnv: CONVEYOR_ETCD_PASSWORD }`;
  const folder = folderOf({
    'conveyor.config.yaml': `config:\n  repositories:\n    flags: { git: /nowhere, etcd: ${store} }\n`,
  });
  const env = {
    CONVEYOR_CONFIG: join(folder, 'conveyor.config.yaml'),
    CONVEYOR_ETCD_PASSWORD: WANTED.service.password,
    CONVEYOR_ETCD_ROOT_PASSWORD: WANTED.rootPassword,
  };
  const out = join(folder, 'hosts');
  const lockStore = (args: readonly string[], input = '') =>
    run(['config', 'lock-store', '--out', out, ...args], { env, input });
  return { folder, out, lockStore };
}

describeWithEtcd('conveyor config lock-store', () => {
  let etcd: Etcd;
  beforeAll(async () => (etcd = await Etcd.start()));
  afterAll(() => etcd.close());

  test('gives each host of a list a role of its own, once, and names hosts that are not in the list any more', async () => {
    const { folder, out, lockStore } = world(etcd.url);
    const list = join(folder, 'hosts.txt');
    writeFileSync(list, '# web\nweb-1\n\nweb-2 # spare\nweb-1\n');
    const first = await lockStore(['--hosts', list, '--per-host']);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain('takes acknowledgements of web-2 from host-web-2 alone\n');
    expect(readdirSync(out).sort()).toEqual(['web-1.env', 'web-2.env']);
    const password = readFileSync(join(out, 'web-1.env'), 'utf8');
    const again = await lockStore(['--hosts', '-', '--per-host'], 'web-1\n');
    expect(again.out).toBe(
      'the store of flags is already locked\nweb-2 has a user and is not in the list; --revoke web-2 removes it\n',
    );
    expect(readFileSync(join(out, 'web-1.env'), 'utf8')).toBe(password);
    const json = await lockStore(['--hosts', '-', '--revoke', 'web-2', '-o', 'json'], 'web-1\n');
    expect(JSON.parse(json.out)).toMatchObject({
      unlisted: [],
      steps: expect.arrayContaining(['knows web-2 no more']),
    });
    expect(await asService(etcd).subscribers('flags', 'a')).toEqual([]);
  });
});

describeWithEtcd('conveyor config lock-store, where a person has given more rights by hand', () => {
  let etcd: Etcd;
  beforeAll(async () => (etcd = await Etcd.start()));
  afterAll(() => etcd.close());

  test('names each, ends with 1, and takes them back with --take-surplus', async () => {
    const { lockStore } = world(etcd.url);
    const passwords = await lock(etcd, { hosts: ['web-1', 'web-2'] });
    const everything = { permType: 'READWRITE', key: 'AA==', range_end: 'AA==' };
    for (const [path, body] of [
      ['role/grant', { name: 'conveyor-flags-host', perm: everything }],
      ['user/grant', { user: 'host-web-1', role: 'conveyor-flags-service' }],
      ['user/add', { name: 'eve', password: 'eve' }],
      ['user/grant', { user: 'eve', role: 'root' }],
    ] as const)
      await doorOf(etcd).take({ text: '', path: `/v3/auth/${path}`, body }, true);
    const said = [
      'the role conveyor-flags-host may also read and write every key',
      'eve is also a root',
      'host-web-1 is also a conveyor-flags-service',
    ];
    const hosts = ['--host', 'web-1', '--host', 'web-2'];
    const found = await lockStore([...hosts, '-o', 'json']);
    expect([found.code, JSON.parse(found.out)]).toEqual([1, expect.objectContaining({ steps: [], surplus: said })]);
    const words = await lockStore(hosts);
    expect(words.out).toBe(said.map((text) => `${text}; --take-surplus takes that back\n`).join(''));
    const host = asHost(etcd, 'web-1', passwords);
    await host.apply('flags', commitOf(1, { a: '666' }));

    expect(await lockStore([...hosts, '--take-surplus'])).toMatchObject({ code: 0, err: '' });
    expect(await lockStore(hosts)).toMatchObject({ code: 0, out: 'the store of flags is already locked\n' });
    await expect(host.apply('flags', commitOf(2, { a: '666' }))).rejects.toMatchObject({ code: 'store-refused' });
    expect(await host.read('flags', 'a')).toBeDefined();
  });
});

describeWithEtcd('conveyor config lock-store --take-surplus', () => {
  let etcd: Etcd;
  beforeAll(async () => (etcd = await Etcd.start()));
  afterAll(() => etcd.close());

  test('lets hosts that could write all values read them still, and takes rights of hosts that are revoked along', async () => {
    const { lockStore } = world(etcd.url);
    const passwords = await lock(etcd, { hosts: ['web-1', 'web-2'] });
    const all = { key: base64('/conveyor/config/flags/'), range_end: base64('/conveyor/config/flags0') };
    const own = { key: base64('/conveyor/config/flags/a/'), range_end: base64('/conveyor/config/flags/a0') };
    for (const [path, body] of [
      ['role/grant', { name: 'conveyor-flags-host', perm: { permType: 'READWRITE', ...all } }],
      ['user/grant', { user: 'host-web-2', role: 'root' }],
    ] as const)
      await doorOf(etcd).take({ text: '', path: `/v3/auth/${path}`, body }, true);
    const host = asHost(etcd, 'web-1', passwords);
    await host.apply('flags', commitOf(1, { a: '1' }));
    const before = await doorOf(etcd).present('flags');
    expect(await lockStore(['--host', 'web-1'])).toMatchObject({ code: 1, err: '' });
    expect(await doorOf(etcd).present('flags')).toEqual(before);

    const taken = await lockStore(['--host', 'web-1', '--revoke', 'web-2', '--take-surplus']);
    expect(taken).toMatchObject({ code: 0, err: '' });
    expect(taken.out.trim().split('\n')).toEqual([
      'removes the user host-web-2',
      'lets conveyor-flags-host only read /conveyor/config/flags/…',
    ]);
    expect(await host.read('flags', 'a')).toMatchObject({ value: '1' });
    await expect(host.apply('flags', commitOf(2, { a: '666' }))).rejects.toMatchObject({ code: 'store-refused' });
    expect(await lockStore(['--host', 'web-1'])).toMatchObject({
      code: 0,
      out: 'the store of flags is already locked\n',
    });

    const perm = { permType: 'WRITE', ...own };
    const narrow = { path: '/v3/auth/role/grant', body: { name: 'conveyor-flags-host', perm } };
    await doorOf(etcd).take({ text: '', ...narrow }, true);
    expect((await lockStore(['--host', 'web-1', '--take-surplus'])).out).toBe(
      'lets conveyor-flags-host read and write /conveyor/config/flags/a/…\n',
    );
    await host.acknowledge(
      'flags',
      { host: 'web-1', path: 'a', version: 'v', revision: null, commit: null, at: 0 },
      60,
    );
  });
});

describe('conveyor config lock-store refuses before it asks the store', () => {
  const { out, lockStore } = world('http://127.0.0.1:9');
  test.each([
    ['a name that is none, of a list', ['--hosts', '-'], 'web-1\n../web 2\n', '"../web 2" is not a host name'],
    ['a list that cannot be read', ['--hosts', '/nowhere/hosts'], '', '--hosts /nowhere/hosts cannot be read'],
    ['roles for no hosts', ['--hosts', '-', '--per-host'], '# none\n', '--per-host names no host'],
    [
      'a host of the list that is revoked',
      ['--hosts', '-', '--revoke', 'a'],
      'a\n',
      'a is to have a user, and to have',
    ],
  ])('%s', async (_, args, input, words) => {
    expect(await lockStore(args, input)).toMatchObject({ code: 2, err: expect.stringContaining(words) });
    expect(existsSync(out)).toBe(false);
  });

  test('more hosts than it takes at once', async () => {
    const names = Array.from({ length: CONFIG_LIMITS.lockedHosts.max + 1 }, (_, n) => `web-${n}`).join('\n');
    const ran = await lockStore(['--hosts', '-'], names);
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('10001') });
  });
});

test('more hosts with roles of their own than readers ask for are refused, those included that have one', () => {
  const { max } = CONFIG_LIMITS.ownHosts;
  const named = Array.from({ length: max }, (_, n) => `web-${n}`);
  const present: PresentUsers = { roles: {}, users: {}, named, isLocked: true };
  const plan = (hosts: readonly string[], revoked: readonly string[] = []) =>
    planLock({ ...WANTED, hosts, revoked, isPerHost: true }, present, () => 'x');
  expect(() => plan(['new'])).toThrow(`${max + 1}`);
  expect(plan(['web-1'])).not.toEqual([]);
  expect(plan(['new'], ['web-7'])).not.toEqual([]);
});
