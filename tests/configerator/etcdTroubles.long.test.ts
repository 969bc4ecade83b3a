import { freePorts } from '../../cli/stack/ports';
import { EtcdStore } from '../../configerator/store/etcd';
import type { Fetch } from '../../sdk/request';
import { eventually } from '../system/waiting';
import { describeWithEtcd, Etcd } from './etcd';
import { commitOf, hear, overrideOf } from './storeSuite';

const R = 'flags';
const HASTY = { idleMs: 300, retryMs: 20, mostMs: 100 };

describeWithEtcd('a watcher of etcd', () => {
  let etcd: Etcd;
  let store: EtcdStore;
  beforeEach(async () => {
    etcd = await Etcd.start();
    store = new EtcdStore({ url: etcd.url, timeoutMs: 2000 }, HASTY);
  });
  afterEach(() => etcd.close());

  const apply = (sequence: number, values: Record<string, string | null>) => store.apply(R, commitOf(sequence, values));

  test('gets every path in the order of the commits, each once, through kills of etcd, compactions and ends of its own', async () => {
    const paths = Array.from({ length: 20 }, (_, at) => `p/${at}`);
    const all: string[] = [];
    let heard = hear(store, R, paths);
    let position: string | undefined;
    const restart = async (): Promise<void> => {
      await heard.end();
      all.push(...heard.said());
      // One that ended before it got anything leaves the next to resume where the one before it was.
      position = heard.events.at(-1)?.position ?? position;
      heard = hear(store, R, paths, position);
    };
    for (let sequence = 1; sequence <= 60; sequence += 1) {
      await apply(sequence, { [`p/${(sequence * 7) % 20}`]: `v${sequence}` });
      if (sequence % 15 === 0) {
        await etcd.kill();
        await etcd.start();
      }
      if (sequence % 11 === 0) await etcd.compact();
      if (sequence % 9 === 0) await restart();
      if (sequence % 18 === 0) await restart();
    }
    await eventually('the last has arrived', async () => heard.said().at(-1)?.endsWith('@60'));
    await heard.end();
    all.push(...heard.said());
    const sequences = all.map((word) => Number(word.split('@')[1]));
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(new Set(sequences).size).toBe(sequences.length);
    // Every skipped commit had a newer value of its path in place.
    const last = new Map(all.map((word) => [word.split('=')[0], Number(word.split('@')[1])]));
    expect([...last.values()].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => 41 + at));
  });

  test('that was away while its history was compacted gets the newest of each path, and nothing older', async () => {
    await apply(1, { a: '1', b: '1' });
    const before = hear(store, R, ['a', 'b']);
    await before.count(2);
    await before.end();
    for (let sequence = 2; sequence <= 6; sequence += 1) await apply(sequence, { a: `${sequence}` });
    await etcd.compact();
    const after = hear(store, R, ['a', 'b'], before.events.at(-1)?.position);
    expect(await after.count(1)).toEqual(['a=6@6']);
    await after.end();
  });

  test('learns of a store that stands still, and of what came once it continues', async () => {
    const impatient = new EtcdStore({ url: etcd.url, timeoutMs: 300 }, HASTY);
    await apply(1, { a: '1' });
    const heard = hear(impatient, R, ['a']);
    await heard.count(1);
    etcd.freeze();
    await eventually('it is away', async () => heard.troubles.length > 0);
    expect(heard.troubles[0]).toMatchObject({ code: 'store-unavailable', retryable: true });
    etcd.thaw();
    await apply(2, { a: '2' });
    expect(await heard.count(2)).toEqual(['a=1@1', 'a=2@2']);
    await heard.end();
  });

  test('learns of changes also when its connection says nothing, and takes another', async () => {
    let streams = 0;
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const deaf: Fetch = async (request, init) =>
      request.url.endsWith('/v3/watch') && (streams += 1) === 1 ? new Response(silent) : fetch(request, init);
    const heard = hear(new EtcdStore({ url: etcd.url, fetch: deaf }, HASTY), R, ['a']);
    await heard.begun();
    await apply(1, { a: '1' });
    expect(await heard.count(1)).toEqual(['a=1@1']);
    await eventually('it has another connection', async () => streams === 2);
    await apply(2, { a: '2' });
    expect(await heard.count(2)).toEqual(['a=1@1', 'a=2@2']);
    await heard.end();
  });

  test('learns of overrides that came and went while etcd was restarted', async () => {
    const heard = hear(store, R, ['a']);
    await heard.begun();
    await store.putOverrides(R, [overrideOf('deploy/x/1', 'a', 'new', { below: 0.1 })]);
    await heard.count(1);
    await etcd.kill();
    await etcd.start();
    await store.removeOverrides(R, 'deploy/x/1');
    expect(await heard.count(2)).toEqual(['a overridden: deploy/x/1=new', 'a not overridden']);
    await heard.end();
  });

  describe('a store restored from a backup, at any revision', () => {
    let restored: Etcd;
    let backup: EtcdStore;
    let either: EtcdStore;
    beforeEach(async () => {
      restored = await Etcd.start();
      backup = new EtcdStore({ url: restored.url });
      either = new EtcdStore({ url: `${etcd.url}, ${restored.url}` }, HASTY);
    });
    afterEach(() => restored.close());

    const switchOver = async (): Promise<void> => {
      // As others write meanwhile, or as --bump-revision has it.
      for (let left = 20; left > 0; left -= 1) await restored.put('others', '');
      await etcd.kill();
    };

    test('learns that an override is not there any more', async () => {
      await apply(1, { a: '1' });
      await store.putOverrides(R, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1'] })]);
      const heard = hear(either, R, ['a']);
      await heard.count(2);
      await backup.apply(R, commitOf(1, { a: '1' }));
      await switchOver();
      await eventually('it is gone', async () => heard.neverOverridden.includes('a not overridden'));
      expect(heard.said()).toEqual(['a=1@1', 'a overridden: deploy/x/1=new']);
      await heard.end();
    });

    test('learns that an override is not there any more, also when it was away itself meanwhile', async () => {
      await apply(1, { a: '1' });
      await store.putOverrides(R, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1'] })]);
      const first = hear(store, R, ['a']);
      await first.count(2);
      await first.end();
      await backup.apply(R, commitOf(1, { a: '1' }));
      await switchOver();
      const heard = hear(either, R, ['a'], first.events.at(-1)?.position);
      await eventually('it is gone', async () => heard.neverOverridden.includes('a not overridden'));
      await heard.end();
    });

    test('learns of a commit whose revision was that of something else before, once', async () => {
      for (let left = 9; left > 0; left -= 1) await etcd.put('others', '');
      await apply(1, { a: '1', b: '1' });
      const first = hear(either, R, ['a', 'b']);
      await first.count(2);
      await first.end();
      const heard = hear(either, R, ['a', 'b'], first.events.at(-1)?.position);
      await heard.begun();
      await backup.apply(R, commitOf(1, { a: '1', b: '1' }));
      await backup.apply(R, commitOf(2, { a: '2' }));
      await switchOver();
      expect(await heard.count(2)).toEqual(['b=1@1', 'a=2@2']);
      await backup.apply(R, commitOf(3, { b: '3' }));
      expect(await heard.count(3)).toEqual(['b=1@1', 'a=2@2', 'b=3@3']);
      await heard.end();
    });
  });

  test('learns that the value of a path is nothing that Conveyor wrote, and of all other paths', async () => {
    await apply(1, { a: '1', b: '1' });
    const heard = hear(store, R, ['a', 'b']);
    await heard.count(2);
    await etcd.put('/conveyor/config/flags/p/a:value', 'not ours');
    await apply(2, { b: '2' });
    const said = await heard.count(4);
    expect(said).toContain('b=2@2');
    expect(said).toContain('a: value not to be believed: it cannot be read');
    expect(heard.troubles).toEqual([]);
    await apply(3, { a: '3' });
    expect((await heard.count(5)).at(-1)).toBe('a=3@3');
    await heard.end();
  });

  test('an override of a path that is named is taken away also where the list of its paths is lost', async () => {
    const paths = Array.from({ length: 120 }, (_, at) => `p/${at}`);
    await store.putOverrides(
      R,
      paths.map((path) => overrideOf('deploy/x/1', path, 'new')),
    );
    await etcd.delete('/conveyor/config/flags/o/deploy/x/1:p/119');
    await store.removeOverrides(R, 'deploy/x/1', ['p/119', 'p/119', 'q', ...paths]);
    expect(await store.overrides(R, 'p/119')).toEqual([]);
    expect(await store.overrides(R, 'p/0')).toEqual([]);
  });

  test('a commit whose writer was lost between two of its transactions is completed by the next, each value once', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 450 }, (_, at) => [`p/${String(at).padStart(3, '0')}`, `${at}`]),
    );
    const paths = Object.keys(many);
    let transactions = 0;
    const dying: Fetch = async (request, init) => {
      const isPut = (await request.clone().text()).includes('request_put');
      if (isPut && (transactions += 1) > 2) throw new TypeError('it was killed');
      return fetch(request, init);
    };
    const heard = hear(store, R, paths);
    await heard.begun();
    await expect(new EtcdStore({ url: etcd.url, fetch: dying }).apply(R, commitOf(1, many))).rejects.toMatchObject({
      code: 'store-unavailable',
    });
    expect(await store.head(R)).toBeUndefined();
    await heard.count(100);
    expect(await apply(1, many)).toBe('applied');
    const said = await heard.count(450);
    expect(new Set(said).size).toBe(450);
    expect(said).toHaveLength(450);
    await heard.end();
  });
});

describeWithEtcd('an etcd in trouble says so in words, and is worth another try', () => {
  test('when it is full, it can be read and takes no changes', async () => {
    const etcd = await Etcd.start('--quota-backend-bytes', String(4 * 1024 * 1024));
    const store = new EtcdStore({ url: etcd.url });
    await store.apply(R, commitOf(1, { a: '1' }));
    const fill = async (): Promise<void> => {
      for (let sequence = 2; sequence < 40; sequence += 1)
        await store.apply(R, commitOf(sequence, { big: 'x'.repeat(900 * 1024) }));
    };
    await expect(fill()).rejects.toMatchObject({ code: 'store-full', retryable: true });
    expect(await store.read(R, 'a')).toMatchObject({ value: '1' });
    const ack = { host: 'h1', path: 'a', version: 'v', revision: null, commit: 'c1', at: 1 };
    await expect(store.acknowledge(R, ack, 60)).rejects.toMatchObject({ code: 'store-full' });
    await etcd.close();
  });

  test('without its quorum, no call waits for ever', async () => {
    const [etcd, other] = await Etcd.startTwo();
    const store = new EtcdStore({ url: etcd.url, timeoutMs: 1000 }, HASTY);
    await store.apply(R, commitOf(1, { a: '1' }));
    const heard = hear(store, R, ['a']);
    await heard.count(1);
    await other.kill();
    await expect(store.apply(R, commitOf(2, { a: '2' }))).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(store.read(R, 'a')).rejects.toMatchObject({ code: 'store-unavailable', retryable: true });
    await eventually('it is away', async () => heard.troubles.length > 0);
    await other.start();
    await eventually('it is applied', () => store.apply(R, commitOf(2, { a: '2' })));
    expect(await heard.count(2)).toEqual(['a=1@1', 'a=2@2']);
    await heard.end();
    await Promise.all([etcd.close(), other.close()]);
  });

  test('when nothing listens, and when something else does', async () => {
    const [free = 0] = await freePorts(1);
    const nobody = new EtcdStore({ url: `http://127.0.0.1:${free}` });
    await expect(nobody.head(R)).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    const other = new EtcdStore({ url: 'http://etcd', fetch: async () => new Response('<html>', { status: 200 }) });
    await expect(other.head(R)).rejects.toMatchObject({ code: 'store-refused' });
    const closed = new EtcdStore({
      url: 'http://etcd',
      fetch: async () => Response.json({ error: 'etcdserver: user name is empty', code: 3 }, { status: 400 }),
    });
    await expect(closed.head(R)).rejects.toMatchObject({ code: 'store-refused', retryable: false });
  });

  test('a cluster of which one member is gone answers by another', async () => {
    const etcd = await Etcd.start();
    const [free = 0] = await freePorts(1);
    const store = new EtcdStore({ url: `http://127.0.0.1:${free}, ${etcd.url}` });
    await expect(store.head(R)).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(await store.apply(R, commitOf(1, { a: '1' }))).toBe('applied');
    await etcd.close();
  });
});
