import { generateKeyPairSync } from 'node:crypto';
import { Lander } from '../../configerator/repository/land';
import { ConfigProxy } from '../../configerator/proxy/proxy';
import { EtcdStore } from '../../configerator/store/etcd';
import { EtcdRecords } from '../../configerator/store/etcdRecords';
import { StoreSigning, type SigningKeys } from '../../configerator/store/signatures';
import { StoreMender } from '../../configerator/tailer/mender';
import { tail } from '../../configerator/tailer/tail';
import { mendOverrides } from '../../configerator/pushType/overrideRepair';
import { eventually } from '../system/waiting';
import { describeWithEtcd, Etcd } from './etcd';
import { FakeDisk } from './proxyWorld';
import { bench, NOW } from './repositories';
import { overrideOf, versionOf } from './storeSuite';

const R = 'flags';
const VALUE = '/conveyor/config/flags/p/a:value';
const HEAD = '/conveyor/config/flags/head';
const HUGE = Number.MAX_SAFE_INTEGER;

function keys(): { readonly key: string; readonly trusted: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    trusted: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** A record as a forger writes it: with a true version, a commit that git does not know, and without a signature. */
const forged = (value: string | null, header: object = {}): string => {
  const known = { version: versionOf(value), commit: 'f'.repeat(40), sequence: HUGE, ...header };
  return `${JSON.stringify(known)}${value === null ? '' : `\n${value}`}`;
};

const etcds: Etcd[] = [];
const proxies: ConfigProxy[] = [];
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await Promise.all(etcds.map((etcd) => etcd.close()));
});

type World = Awaited<ReturnType<typeof world>>;

/** A branch with two commits of `a` and one of `b`, its store in etcd, and the process that mends it. */
async function world({ key, trusted = [] }: SigningKeys = {}) {
  const etcd = await Etcd.start();
  etcds.push(etcd);
  const it = await bench();
  const store = new EtcdStore({ url: etcd.url, signing: { key, trusted } });
  const lander = new Lander(it.repository);
  const log: string[] = [];
  let now = NOW;
  const land = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    await lander.land([(await it.proposeValues(values)).change], NOW);
    await tail(it.repository, store, 100);
  };
  const makeMender = (of = store, repository = it.repository): StoreMender =>
    new StoreMender({
      ...{ store: of, inspection: of.inspection, now: () => now, log: (line: string) => void log.push(line) },
      open: () => Promise.resolve(repository),
      mendOverrides: (found, isAll) => mendOverrides([], of, R, found, isAll),
    });
  const mender = makeMender();
  /** The next round; `all`: of everything. */
  const round = async (all = true): Promise<number> => {
    now += all ? 61_000 : 5_000;
    const mended = await mender.look();
    await tail(it.repository, store, 100);
    return mended;
  };
  const proxy = async (disk = new FakeDisk(), signing: SigningKeys = { trusted }) => {
    const notes: string[] = [];
    const made = new ConfigProxy({
      ...{ host: 'h1', repository: R, store: new EtcdStore({ url: etcd.url, signing }), files: disk, settleMs: 5 },
      ...{ now: () => Date.now(), log: (line: string) => void notes.push(line) },
    });
    proxies.push(made);
    await made.start();
    return { notes, ask: async (path: string) => (await made.ask(path)).value, close: () => made.close() };
  };
  let newest = 1;
  /** The next commit of `a`; its value. */
  const next = async (): Promise<string> => {
    await land({ a: (newest += 1) });
    return `${newest}\n`;
  };
  await land({ a: 1, b: 1 });
  await next();
  await mender.look();
  const host = await proxy();
  return { etcd, it, store, log, land, next, makeMender, round, proxy, host, truth: () => store.read(R, 'a') };
}

const serves = (proxy: { ask(path: string): Promise<unknown> }, value: string | null, path = 'a') =>
  eventually(`the host has ${value}`, async () => (await proxy.ask(path)) === value);

const FORGERIES: readonly (readonly [string, (etcd: Etcd, commit: string, sequence: number) => Promise<void>])[] = [
  ['a value with a huge sequence', (etcd) => etcd.put(VALUE, forged('666\n'))],
  ['a value of the next sequence', (etcd, _, sequence) => etcd.put(VALUE, forged('666\n', { sequence: sequence + 1 }))],
  [
    'a value under the commit of the true one',
    (etcd, commit, sequence) => etcd.put(VALUE, forged('666\n', { commit, sequence })),
  ],
  ['that a path is deleted', (etcd) => etcd.put(VALUE, forged(null))],
  ['what nobody can read', (etcd) => etcd.put(VALUE, 'x')],
  ['a sequence that is no number', (etcd) => etcd.put(VALUE, forged('666\n', { sequence: '1e400' }))],
  ['nothing in its place', (etcd) => etcd.delete(VALUE)],
];

describeWithEtcd('a store without signatures', () => {
  let it: World;
  let before: string;
  beforeAll(async () => void (it = await world()), 60_000);
  beforeEach(async () => {
    before = await it.next();
    await serves(it.host, before);
    it.log.length = 0;
  });

  test.each(FORGERIES)(
    'hosts have the state of git one round after %s is written by hand, and every later commit',
    async (_, forge) => {
      const { commit = '', sequence = 0 } = (await it.truth()) ?? {};
      await forge(it.etcd, commit, sequence);
      expect(await it.round()).toBe(1);
      await serves(it.host, before);
      expect(await it.truth()).toMatchObject({ value: before, commit, sequence });
      expect(it.log).toEqual(['flags: 1 value of the store restored from git: a']);
      await serves(it.host, await it.next());
      expect(await it.round()).toBe(0);
    },
  );

  test('a host that took what lies there no more is healed by what it acknowledges, also from its cache', async () => {
    const disk = new FakeDisk();
    const first = await it.proxy(disk);
    await serves(first, before);
    await it.etcd.put(VALUE, forged('666\n'));
    await serves(first, '666\n');
    const now = await it.next();
    await first.close();
    const host = await it.proxy(disk);
    expect(await host.ask('a')).toBe('666\n');
    await eventually('it is acknowledged', async () =>
      (await it.store.subscribers(R, 'a')).some(({ sequence }) => sequence === HUGE),
    );
    expect(await it.round()).toBe(1);
    await serves(host, now);
    await serves(host, await it.next());
  });

  test('a host that lies about what it has makes no other go back', async () => {
    const host = await it.proxy();
    await serves(host, before);
    const lie = { host: 'h9', path: 'a', version: 'v', revision: null, commit: 'f'.repeat(40), sequence: HUGE, at: 0 };
    await it.store.acknowledge(R, lie, 2);
    await it.store.acknowledge(R, { ...lie, host: 'h8', version: versionOf('1\n') }, 2);
    await it.round();
    expect(await it.round()).toBe(0);
    await serves(host, await it.next());
    expect(host.notes).toEqual([]);
  });

  test('a path that git has never had is gone from hosts, and so is an override that no deploy exposes', async () => {
    await it.etcd.put('/conveyor/config/flags/p/c:value', forged('666\n'));
    await serves(it.host, '666\n', 'c');
    await it.store.putOverrides(R, [overrideOf('deploy/x/1/deploy/1/0/1#eu', 'a', '667\n', { hosts: ['h1'] })]);
    await serves(it.host, '667\n');
    expect(await it.round(false)).toBe(2);
    await serves(it.host, null, 'c');
    await serves(it.host, before);
  });

  test('a host learns that its override is gone, though its mark was left alone', async () => {
    const id = 'deploy/x/1/deploy/1/0/1#eu';
    await it.store.putOverrides(R, [overrideOf(id, 'a', '667\n', { hosts: ['h1'] })]);
    await serves(it.host, '667\n');
    await it.etcd.delete(`/conveyor/config/flags/p/a:override/${id}`);
    await eventually('it is acknowledged', async () =>
      (await it.store.subscribers(R, 'a')).some(({ revision }) => revision !== null),
    );
    await it.round();
    await serves(it.host, before);
  });

  test.each([
    ['a commit that git does not know', JSON.stringify({ sequence: 9, commit: 'f'.repeat(40) })],
    ['a huge sequence', JSON.stringify({ sequence: HUGE, commit: 'f'.repeat(40) })],
    ['what nobody can read', 'x'],
    ['the beginning', JSON.stringify({ sequence: 0, commit: '' })],
  ])('continues with the branch a round after a head was forged with %s', async (_, head) => {
    const known = await it.store.head(R);
    await it.etcd.put(HEAD, head);
    await it.round(false);
    expect(await it.store.head(R)).toEqual(known);
    await serves(it.host, await it.next());
  });

  test('values that a head passes over are put there', async () => {
    const { change } = await it.it.proposeValues({ b: 3, d: 3 });
    await new Lander(it.it.repository).land([change], NOW);
    const { sequence = 0 } = (await it.store.head(R)) ?? {};
    await it.etcd.put(HEAD, JSON.stringify({ sequence: sequence + 1, commit: await it.it.repository.head() }));
    expect(await it.round()).toBe(2);
    expect(await it.store.read(R, 'd')).toMatchObject({ value: '3\n', sequence: sequence + 1 });
    expect(await it.store.read(R, 'b')).toMatchObject({ value: '3\n', sequence: sequence + 1 });
  });

  test('a branch that was rewritten is still refused, and changes nothing for hosts', async () => {
    const head = it.it.git('rev-parse', 'main').trim();
    it.it.git('update-ref', 'refs/heads/main', 'main~1');
    await expect(it.round()).rejects.toMatchObject({ code: 'config-branch-rewritten' });
    expect(await it.truth()).toMatchObject({ value: before });
    it.it.git('update-ref', 'refs/heads/main', head);
    expect(await it.round()).toBe(0);
  });

  test('one that is filled from nothing, by a repository of an earlier time, brings that to hosts that had come further, and every later commit', async () => {
    const own = await world();
    const disk = new FakeDisk();
    const first = await own.proxy(disk);
    await serves(first, await own.next());
    await first.close();
    await own.etcd.lose();
    own.it.git('update-ref', 'refs/heads/main', 'main~1');
    const repository = await own.it.another();
    await tail(repository, own.store, 100);
    const host = await own.proxy(disk);
    expect(await host.ask('a')).toBe('3\n');
    await eventually('it is acknowledged', async () =>
      (await own.store.subscribers(R, 'a')).some(({ version }) => version === versionOf('3\n')),
    );
    const mender = own.makeMender(own.store, repository);
    await mender.look();
    await serves(host, '2\n');
    await new Lander(repository).land([(await own.it.proposeValues({ a: 9 }, await repository.head())).change], NOW);
    await tail(repository, own.store, 100);
    await serves(host, '9\n');
  });

  test('records from before the key, or of an old key, are signed in the first round', async () => {
    const [old, next] = [keys(), keys()];
    const withOld = new EtcdStore({ url: it.etcd.url, signing: { key: old.key } });
    await expect(withOld.head(R)).rejects.toMatchObject({ code: 'store-forged' });
    expect(await it.makeMender(withOld).look()).toBeGreaterThan(2);
    expect(await withOld.read(R, 'a')).toMatchObject({ value: before });
    const withNext = new EtcdStore({ url: it.etcd.url, signing: { key: next.key, trusted: [old.trusted] } });
    expect(await withNext.read(R, 'a')).toMatchObject({ value: before });
    expect(await it.makeMender(withNext).look()).toBeGreaterThan(2);
    const host = await it.proxy(new FakeDisk(), { trusted: [next.trusted] });
    await serves(host, before);
    const behind = new EtcdStore({ url: it.etcd.url, signing: { trusted: [old.trusted] } });
    await expect(behind.read(R, 'a')).rejects.toMatchObject({ code: 'store-forged' });
  });
});

describeWithEtcd('a store with signatures', () => {
  const { key, trusted } = keys();
  const signing = { key, trusted: [trusted] };
  let it: World;
  let before: string;
  beforeAll(async () => void (it = await world(signing)), 60_000);
  beforeEach(async () => {
    before = await it.next();
    await serves(it.host, before);
    it.host.notes.length = 0;
  });

  test.each(FORGERIES.slice(0, -1))('no host takes %s, and every later commit arrives', async (_, forge) => {
    const { commit = '', sequence = 0 } = (await it.truth()) ?? {};
    await forge(it.etcd, commit, sequence);
    await eventually('it is noted', async () => it.host.notes.length > 0);
    expect(await it.host.ask('a')).toBe(before);
    expect(it.host.notes).toEqual([expect.stringMatching(/^the value of a in the store is rejected: it /)]);
    await expect(it.truth()).rejects.toMatchObject({ code: 'store-forged', retryable: true });
    await serves(it.host, await it.next());
  });

  test('a host that is new gets no answer rather than a forged one, and the true one a round later', async () => {
    await it.etcd.put(VALUE, forged('666\n'));
    const host = await it.proxy();
    await expect(host.ask('a')).rejects.toMatchObject({ code: 'store-forged' });
    await it.round(false);
    await serves(host, before);
  });

  test('an override that no key has signed is taken by no host; one that was, and is over, by none after a round', async () => {
    const override = overrideOf('deploy/x/1/deploy/1/0/1#eu', 'a', '667\n', { hosts: ['h1'] });
    await new EtcdStore({ url: it.etcd.url }).putOverrides(R, [override]);
    await eventually('it is noted', async () => it.host.notes.length > 0);
    expect(await it.host.ask('a')).toBe(before);
    await it.store.putOverrides(R, [override]);
    await serves(it.host, '667\n');
    await it.round(false);
    await serves(it.host, before);
  });

  test('a signed record is believed at its own place alone, and an older one is replaced by the newest', async () => {
    const records = new EtcdRecords(new StoreSigning(signing));
    const { value = '', path: _path, ...header } = (await it.store.read(R, 'b')) ?? {};
    await it.etcd.put(VALUE, records.encode('/conveyor/config/flags/p/b:value', header, value));
    await expect(it.truth()).rejects.toMatchObject({ code: 'store-forged' });
    await it.etcd.put(VALUE, records.encode(VALUE, header, value));
    expect(await it.truth()).toMatchObject({ value: '1\n', sequence: 1 });
    await it.round(false);
    expect(await it.truth()).toMatchObject({ value: before });
  });

  test('a head that no key has signed is put back, be it on the branch', async () => {
    const known = await it.store.head(R);
    await it.etcd.put(
      HEAD,
      JSON.stringify({ sequence: 1, commit: it.it.git('rev-list', '--max-parents=0', 'main').trim() }),
    );
    await expect(it.store.head(R)).rejects.toMatchObject({ code: 'store-forged' });
    await it.round(false);
    expect(await it.store.head(R)).toEqual(known);
  });
});

test.each([
  ['no PEM', { key: 'x' }],
  [
    'a key of another kind',
    {
      key: generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
    },
  ],
  ['a file without a public key', { trusted: ['x'] }],
])('a key that is %s is refused by name', (_, signing) => {
  expect(() => new StoreSigning(signing)).toThrow('a key of the store of configuration is none of Ed25519 in PEM');
});
