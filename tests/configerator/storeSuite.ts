import { createHash } from 'node:crypto';
import type { ConfigStore, Override, StoredCommit, StoreEvent } from '../../configerator/store/port';
import { parseRevision } from '../../configerator/store/position';
import { eventually } from '../system/waiting';

/** An implementation, as a suite needs it. */
export interface Subject {
  readonly store: ConfigStore;
  /** Another client of the same store, as another process has it. */
  another(): ConfigStore;
  /** Lets so many seconds go by. */
  pass(seconds: number): Promise<void>;
}

export const versionOf = (text: string | null): string =>
  text === null
    ? ''
    : createHash('sha1')
        .update(`blob ${Buffer.byteLength(text)}\0${text}`)
        .digest('hex');

export const commitOf = (sequence: number, values: Readonly<Record<string, string | null>>): StoredCommit => ({
  commit: `c${sequence}`,
  sequence,
  values: Object.entries(values).map(([path, value]) => ({ path, value, version: versionOf(value) })),
});

export const overrideOf = (id: string, path: string, value: string | null, aim: Partial<Override> = {}): Override => ({
  ...{ id, path, value, version: versionOf(value), revision: '7@abc', ...aim },
});

/** A watcher that keeps what it gets. */
export function hear(store: ConfigStore, repository: string, paths: readonly string[], from?: string) {
  const events: StoreEvent[] = [];
  /** Paths that nothing has ever overridden in this state of the store. */
  const neverOverridden: string[] = [];
  const ending = new AbortController();
  const troubles: unknown[] = [];
  let here = 0;
  const on = (event: StoreEvent): void => {
    if (parseRevision(event.position) === 0) neverOverridden.push(wordsOf(event));
    else events.push(event);
  };
  const onAway = (error: unknown): void => void troubles.push(error);
  const ended = store.watch(repository, paths, from, on, ending.signal, onAway, () => void (here += 1));
  const said = (): string[] => events.map(wordsOf);
  return {
    events,
    neverOverridden,
    troubles,
    said,
    /** Resolves once it has got so many. */
    count: (many: number) => eventually(`${many} events`, async () => events.length >= many && said()),
    /** Resolves once it has got what was there when it began. */
    begun: () => eventually('the watcher has begun', async () => here > 0),
    end: async () => {
      ending.abort();
      await ended;
    },
  };
}

function wordsOf(event: StoreEvent): string {
  if (event.kind === 'value') return `${event.path}=${event.value.value}@${event.value.sequence}`;
  if (event.kind === 'removed') return `${event.path} removed@${event.sequence}`;
  if (event.kind === 'disbelieved') return `${event.path}: ${event.part} not to be believed: ${event.why}`;
  if (event.kind === 'override-removed') return `${event.path} not overridden`;
  return `${event.path} overridden: ${event.overrides.map(({ id, value }) => `${id}=${value}`).join(', ')}`;
}

/** The obligations of every store; each test has a repository of its own. */
export function describeStore(
  name: string,
  describeIt: (name: string, tests: () => void) => void,
  make: () => Promise<Subject>,
): void {
  describeIt(name, () => {
    let subject: Subject;
    let store: ConfigStore;
    let number = 0;
    let repository = '';
    beforeAll(async () => {
      subject = await make();
      store = subject.store;
    });
    beforeEach(() => (repository = `flags-${(number += 1)}`));

    test('commits are applied in their order, each once, and the newest value of a path is read', async () => {
      expect(await store.head(repository)).toBeUndefined();
      expect(await store.apply(repository, commitOf(1, { 'a/b': '1', c: 'x' }))).toBe('applied');
      expect(await store.apply(repository, commitOf(2, { 'a/b': '2' }))).toBe('applied');
      expect(await store.apply(repository, commitOf(1, { 'a/b': '1', c: 'x' }))).toBe('already');
      expect(await store.apply(repository, commitOf(2, { 'a/b': '2' }))).toBe('already');
      expect(await store.head(repository)).toEqual({ sequence: 2, commit: 'c2' });
      expect(await store.read(repository, 'a/b')).toEqual({
        ...{ path: 'a/b', value: '2', version: versionOf('2'), commit: 'c2', sequence: 2 },
      });
      expect(await store.read(repository, 'c')).toMatchObject({ value: 'x', sequence: 1 });
      expect(await store.read(repository, 'a')).toBeUndefined();
      expect(await store.read('another', 'c')).toBeUndefined();
    });

    test('a commit that is not the next is refused, and so is another one of the same number', async () => {
      await store.apply(repository, commitOf(1, { a: '1' }));
      await expect(store.apply(repository, commitOf(3, { a: '3' }))).rejects.toMatchObject({
        code: 'store-out-of-step',
      });
      const other = { ...commitOf(1, { a: 'other' }), commit: 'rewritten' };
      await expect(store.apply(repository, other)).rejects.toMatchObject({ code: 'store-out-of-step' });
      expect(await store.read(repository, 'a')).toMatchObject({ value: '1' });
    });

    test('when several apply the same commits at once each gets the result, and each commit is applied once', async () => {
      const clients = [store, subject.another(), subject.another()];
      const heard = hear(store, repository, ['a']);
      await heard.begun();
      for (let sequence = 1; sequence <= 5; sequence += 1) {
        const said = await Promise.all(
          clients.map((one) => one.apply(repository, commitOf(sequence, { a: `${sequence}` }))),
        );
        expect(said.filter((word) => word === 'applied').length).toBeGreaterThan(0);
        await eventually('it has arrived', async () => heard.said().at(-1) === `a=${sequence}@${sequence}`);
      }
      expect(heard.said()).toEqual([1, 2, 3, 4, 5].map((at) => `a=${at}@${at}`));
      await heard.end();
    });

    test('an empty commit moves the head, and an empty value and line breaks are values', async () => {
      await store.apply(repository, commitOf(1, {}));
      await store.apply(repository, commitOf(2, { empty: '', lines: '\n\n{"a":1}\n' }));
      expect(await store.head(repository)).toEqual({ sequence: 2, commit: 'c2' });
      expect(await store.read(repository, 'empty')).toMatchObject({ value: '' });
      expect(await store.read(repository, 'lines')).toMatchObject({ value: '\n\n{"a":1}\n' });
    });

    test('a commit that is larger than a change may be is applied whole: 2,001 values, and 5 MiB in values of 1 MiB of quotes', async () => {
      const many = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`many/${at}`, `${at}`]));
      await store.apply(repository, commitOf(1, many));
      const large = '"'.repeat(1024 * 1024);
      await store.apply(repository, commitOf(2, { a: large, b: large, c: large, d: large, e: large }));
      expect(await store.read(repository, 'many/2000')).toMatchObject({ value: '2000', sequence: 1 });
      expect((await store.read(repository, 'd'))?.value).toBe(large);
      expect(await store.head(repository)).toEqual({ sequence: 2, commit: 'c2' });
    });

    test.each([
      ['a value of more than 1 MiB', { a: 'é'.repeat(512 * 1024 + 1) }, 'over-limit'],
      ['a path of 257 characters', { ['p'.repeat(257)]: '' }, 'over-limit'],
      ['a path that leads out', { 'a/../b': '' }, 'invalid-text'],
      ['a path with a colon', { 'a:b': '' }, 'invalid-text'],
    ])('%s is refused, and nothing of it is there', async (_, values: Record<string, string>, code) => {
      await expect(store.apply(repository, commitOf(1, values))).rejects.toMatchObject({ code });
      expect(await store.head(repository)).toBeUndefined();
    });

    test('a deleted path is gone, and who watches learns of it, also who comes later', async () => {
      await store.apply(repository, commitOf(1, { a: '1' }));
      const before = hear(store, repository, ['a']);
      await before.count(1);
      await store.apply(repository, commitOf(2, { a: null }));
      expect(await before.count(2)).toEqual(['a=1@1', 'a removed@2']);
      expect(await store.read(repository, 'a')).toBeUndefined();
      const later = hear(store, repository, ['a']);
      expect(await later.count(1)).toEqual(['a removed@2']);
      await Promise.all([before.end(), later.end()]);
    });

    test('a watcher learns of its own paths alone, those of its repository', async () => {
      await store.apply(repository, commitOf(1, { a: '1', 'a/b': '1', ab: '1' }));
      await store.apply(`${repository}-other`, commitOf(1, { a: 'other' }));
      const heard = hear(store, repository, ['a']);
      await heard.count(1);
      await store.apply(repository, commitOf(2, { 'a/b': '2', ab: '2', 'a.b': '2', 'a-': '2' }));
      await store.apply(repository, commitOf(3, { a: '3' }));
      expect(await heard.count(2)).toEqual(['a=1@1', 'a=3@3']);
      await heard.end();
    });

    test('a watcher that comes back gets exactly what it missed, in the order of the commits', async () => {
      const paths = ['a', 'b', 'c'];
      await store.apply(repository, commitOf(1, { a: '1', b: '1' }));
      const first = hear(store, repository, paths);
      await first.count(2);
      await first.end();
      await store.apply(repository, commitOf(2, { c: '2' }));
      await store.apply(repository, commitOf(3, { a: '3' }));
      await store.apply(repository, commitOf(4, { b: '4' }));
      const second = hear(store, repository, paths, first.events.at(-1)?.position);
      expect(await second.count(3)).toEqual(['c=2@2', 'a=3@3', 'b=4@4']);
      await second.end();
      expect(first.said().length + second.said().length).toBe(5);
    });

    test('between two values of one commit a watcher can end, and continues with the other', async () => {
      await store.apply(repository, commitOf(1, { a: '1', b: '1', c: '1' }));
      const first = hear(store, repository, ['c', 'b', 'a']);
      await first.count(3);
      await first.end();
      const second = hear(store, repository, ['a', 'b', 'c'], first.events[0]?.position);
      expect(await second.count(2)).toEqual(first.said().slice(1));
      await second.end();
    });

    test('a watcher that comes back to a store of an older state gets all of that', async () => {
      await store.apply(repository, commitOf(1, { a: '1' }));
      const heard = hear(store, repository, ['a'], '0000000999999999:a:value');
      expect(await heard.count(1)).toEqual(['a=1@1']);
      await store.apply(repository, commitOf(2, { a: '2' }));
      expect(await heard.count(2)).toEqual(['a=1@1', 'a=2@2']);
      await heard.end();
    });

    test('a watcher that begins, or comes back to a store of an older state, learns which paths nothing overrides', async () => {
      await store.putOverrides(repository, [overrideOf('deploy/x/1', 'b', 'new')]);
      for (const from of [undefined, '0000000999999999:a:override']) {
        const heard = hear(store, repository, ['c', 'b', 'a'], from);
        await heard.begun();
        expect(heard.neverOverridden).toEqual(['a not overridden', 'c not overridden']);
        expect(heard.said()).toEqual(['b overridden: deploy/x/1=new']);
        await store.apply(repository, commitOf(1, { a: '1' }));
        expect(await heard.count(2)).toContain('a=1@1');
        expect(heard.neverOverridden).toHaveLength(2);
        await heard.end();
        repository = `${repository}-again`;
        await store.putOverrides(repository, [overrideOf('deploy/x/1', 'b', 'new')]);
      }
    });

    test('two deploys can put an override on one path at once', async () => {
      const both = ['deploy/x/1', 'deploy/y/1'].map((id) => overrideOf(id, 'a', id));
      await store.putOverrides(repository, both);
      expect(await store.overrides(repository, 'a')).toEqual(both);
    });

    test('overrides are put, replaced and removed; the same twice is no change', async () => {
      const heard = hear(store, repository, ['a', 'b']);
      await heard.begun();
      await store.putOverrides(repository, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1'] })]);
      await heard.count(1);
      await store.putOverrides(repository, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1'] })]);
      await store.putOverrides(repository, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1', 'h2'] })]);
      await heard.count(2);
      await store.putOverrides(repository, [overrideOf('deploy/y/1', 'a', null), overrideOf('deploy/y/1', 'b', 'y')]);
      await heard.count(4);
      expect((await store.overrides(repository, 'a')).map(({ id, hosts }) => [id, hosts])).toEqual([
        ['deploy/x/1', ['h1', 'h2']],
        ['deploy/y/1', undefined],
      ]);
      await store.removeOverrides(repository, 'deploy/y/1', ['a']);
      await heard.count(5);
      await store.removeOverrides(repository, 'deploy/x/1');
      await heard.count(6);
      await store.removeOverrides(repository, 'deploy/x/1');
      await store.removeOverrides(repository, 'deploy/y/1');
      expect(await heard.count(7)).toEqual([
        'a overridden: deploy/x/1=new',
        'a overridden: deploy/x/1=new',
        'a overridden: deploy/x/1=new, deploy/y/1=null',
        'b overridden: deploy/y/1=y',
        'a overridden: deploy/x/1=new',
        'a not overridden',
        'b not overridden',
      ]);
      await heard.end();
      expect(await store.overrides(repository, 'a')).toEqual([]);
    });

    test('a change with 300 paths is exposed whole, and taken back whole', async () => {
      const paths = Array.from({ length: 300 }, (_, at) => `p/${at}`);
      await store.putOverrides(
        repository,
        paths.map((path) => overrideOf('deploy/x/1', path, 'v')),
      );
      expect(await store.overrides(repository, 'p/299')).toHaveLength(1);
      await store.removeOverrides(repository, 'deploy/x/1');
      expect(await store.overrides(repository, 'p/0')).toEqual([]);
      expect(await store.overrides(repository, 'p/299')).toEqual([]);
    });

    test('who acknowledges is a subscriber of that path until it falls silent', async () => {
      const [one, two] = [subject.another(), subject.another()];
      const said = (host: string, version: string) => ({
        ...{ host, path: 'a', version, revision: null, commit: 'c1', labels: { region: 'eu' }, at: 5 },
      });
      await one.acknowledge(repository, said('h1', 'v1'), 2);
      await two.acknowledge(repository, { ...said('h2', 'v1'), refused: 'no such colour' }, 60);
      await two.acknowledge(repository, { ...said('h2', 'v1'), path: 'a/b' }, 60);
      expect(await store.subscribers(repository, 'a')).toEqual([
        said('h1', 'v1'),
        { ...said('h2', 'v1'), refused: 'no such colour' },
      ]);
      expect((await store.subscribers(repository, 'a/')).map(({ path }) => path)).toEqual(['a/b']);
      expect((await store.subscribers(repository, '')).map(({ path }) => path)).toEqual(['a/b', 'a', 'a']);
      await two.acknowledge(repository, said('h2', 'v2'), 60);
      await subject.pass(4);
      await eventually('h1 has vanished', async () => (await store.subscribers(repository, 'a')).length === 1);
      expect(await store.subscribers(repository, 'a')).toEqual([said('h2', 'v2')]);
      await one.acknowledge(repository, said('h1', 'v1'), 60);
      expect(await store.subscribers(repository, 'a')).toHaveLength(2);
    });
  });
}
