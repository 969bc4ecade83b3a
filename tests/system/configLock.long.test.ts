import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdStore } from '../../configerator/store/etcd';
import { hostUser } from '../../configerator/store/lockPlan';
import { tlsFetch } from '../../configerator/store/tlsFetch';
import { makeCertificates } from '../configerator/certificates';
import { describeWithEtcd } from '../configerator/etcd';
import { commitOf, overrideOf } from '../configerator/storeSuite';
import { ConfigWorld } from './configWorld';
import { eventually } from './waiting';
import { LockedStore } from './worldStore';

const [R, FEED] = ['flags', 'feed/limits'];
const REFUSED = { code: 'store-refused' };
const hasTools = ['openssl', 'pgrep'].every((program) => !spawnSync(program, ['--version']).error);

(hasTools ? describeWithEtcd : describe.skip)('configuration over a store with a lock, as processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-lock-'));
  let store: LockedStore;
  let world: ConfigWorld;

  beforeAll(async () => {
    store = await LockedStore.start(join(folder, 'store'), ['p1', 'p2']);
    world = await ConfigWorld.open(store);
    await world.run(await world.proxied(2, 'eu', FEED));
    await world.pipeline('feed', { finder: 'config-changes', with: { repository: R, paths: ['feed/'] } });
  });
  afterAll(async () => {
    await (world ?? store)?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a change is deployed, lands, and reaches every host', async () => {
    await world.proposes({ [FEED]: 1 });
    expect(await world.ended('feed/1')).toMatchObject({
      outcome: 'succeeded',
      phases: [{ units: [{ targeted: 2 }] }, {}],
    });
    await world.allHave(2, FEED, 1);
    expect(await world.landed()).toEqual([1]);
  });

  test('a host, by its own user, writes no value, no override, and no acknowledgement of another host', async () => {
    const host = store.enterAsHost('p1');
    expect(await host.read(R, FEED)).toMatchObject({ value: '1\n' });
    await expect(host.apply(R, commitOf(2, { [FEED]: '666' }))).rejects.toMatchObject(REFUSED);
    await expect(host.putOverrides(R, [overrideOf('x', FEED, '666')])).rejects.toMatchObject(REFUSED);
    const said = { path: FEED, version: 'v', revision: null, commit: null, at: Date.now() };
    await expect(host.acknowledge(R, { host: 'p2', ...said }, 60)).rejects.toMatchObject(REFUSED);
    await world.allHave(2, FEED, 1);
  });

  test('a host, by its own user, changes no users and no roles', async () => {
    const send = async (path: string, body: object, token?: string) => {
      const headers = token === undefined ? undefined : { authorization: token };
      const request = { method: 'POST', body: JSON.stringify(body), ...(headers && { headers }) };
      const signal = AbortSignal.timeout(10_000);
      const response = await tlsFetch(store.certificates)(new Request(`${store.url}/v3/auth/${path}`, request), {
        signal,
      });
      return { isOk: response.ok, answer: (await response.json()) as { token?: string; error?: string } };
    };
    const name = hostUser('p1');
    const { answer } = await send('authenticate', { name, password: store.passwordOf('p1') });
    expect(answer.token).toEqual(expect.any(String));
    for (const [path, body] of [
      ['user/grant', { user: name, role: 'root' }],
      ['user/add', { name: 'other', password: 'other' }],
      ['role/grant', { name: `${name}`, perm: { permType: 'WRITE', key: 'AA==', range_end: 'AA==' } }],
      ['disable', {}],
    ] as const)
      expect([path, await send(path, body, answer.token)]).toEqual([
        path,
        { isOk: false, answer: expect.objectContaining({ error: expect.stringContaining('permission denied') }) },
      ]);
  });

  test.each([
    [
      'without a certificate',
      () => new EtcdStore({ url: store.url, login: { user: 'conveyor', password: 'the service' } }),
    ],
    [
      'with a certificate of another authority',
      () => new EtcdStore({ url: store.url, tls: makeCertificates().certificates }),
    ],
    ['without a user', () => new EtcdStore({ url: store.url, tls: store.certificates })],
  ])('a process %s reads nothing', async (_title, enter) => {
    await expect(enter().read(R, FEED)).rejects.toMatchObject({ code: expect.stringMatching(/^store-/) });
  });

  test('an etcd that is killed is started again by its script, and the next change reaches every host', async () => {
    const [etcd = ''] = execFileSync('pgrep', ['-P', String(store.running.pid), 'etcd'], { encoding: 'utf8' }).split(
      '\n',
    );
    process.kill(Number(etcd), 'SIGKILL');
    await store.running.complained(/etcd has ended; it is started again/);
    await eventually('a change is proposed', () => world.proposes({ [FEED]: 2 }));
    expect(await world.ended('feed/2')).toMatchObject({ outcome: 'succeeded' });
    await world.allHave(2, FEED, 2);
    expect(await world.landed()).toEqual([1, 2]);
  });
});
