import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesIn } from '../../configerator/proxy/files';
import type { AgedAnswer } from '../../configerator/proxy/proxy';
import type { ConfigStore } from '../../configerator/store/port';
import { cacheFile, parseCached, writeCached } from '../../sdk/configCache';
import { eventually } from '../system/waiting';
import { FakeDisk, ProxyWorld } from './proxyWorld';
import { overrideOf, versionOf } from './storeSuite';

const R = 'flags';
let world: ProxyWorld;
beforeEach(() => (world = new ProxyWorld()));
afterEach(() => world.close());

/** The store, but for some of what it does. */
const storeWith = (changed: Partial<ConfigStore>): ConfigStore =>
  Object.assign(Object.create(world.store) as ConfigStore, changed);

describe('a proxy', () => {
  test('answers with what is committed, and follows a path from the first question on', async () => {
    await world.commit({ 'shop/limits': '1' });
    const proxy = await world.proxy('h1');
    expect(await proxy.ask('shop/limits')).toEqual({
      ...{
        path: 'shop/limits',
        value: '1',
        version: versionOf('1'),
        commit: 'c1',
        override: null,
        sequence: 1,
        age: 0,
        task: 'h1@c1',
      },
    });
    await world.commit({ 'shop/limits': '2' });
    expect(await proxy.ask('shop/limits')).toMatchObject({ value: '2', commit: 'c2', sequence: 2 });
    await world.acknowledged('shop/limits', [`h1 ${versionOf('2').slice(0, 7)} committed`]);
  });

  test('asks the store for nothing that no application asked for', async () => {
    await world.commit({ a: '1', b: '1' });
    const disk = new FakeDisk();
    const proxy = await world.proxy('h1', disk);
    await proxy.ask('a');
    await world.acknowledged('a', [`h1 ${versionOf('1').slice(0, 7)} committed`]);
    expect(await world.store.subscribers(R, 'b')).toEqual([]);
    expect(disk.files.size).toBe(1);
  });

  test('a path that was added later has its earlier state and everything that came meanwhile', async () => {
    await world.commit({ a: '1', b: '1' });
    const proxy = await world.proxy('h1');
    await proxy.ask('a');
    await world.commit({ a: '2' });
    await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'c', 'new', { hosts: ['h1'] })]);
    expect(await proxy.ask('b')).toMatchObject({ value: '1' });
    expect(await proxy.ask('c')).toMatchObject({ value: 'new', override: '7@abc', commit: null });
    expect(await proxy.ask('nothing')).toMatchObject({ value: null, version: '', commit: null });
    await world.commit({ nothing: 'now' });
    expect(await proxy.ask('nothing')).toMatchObject({ value: 'now' });
  });

  test('paths that are requested in quick succession have every value, at any moment', async () => {
    for (const path of ['c', 'b', 'a']) await world.commit({ [path]: '1' });
    for (let moments = 0; moments < 20; moments += 1) {
      const proxy = await world.proxy(`h${moments}`);
      await proxy.ask('a');
      const asked = [proxy.ask('b')];
      for (let left = moments; left > 0; left -= 1) await Promise.resolve();
      asked.push(proxy.ask('c'));
      const values = (await Promise.all(asked)).map(({ value }) => value);
      expect({ moments, values }).toEqual({ moments, values: ['1', '1'] });
    }
  });

  test('an added path has all that came while it was read, whatever else changed meanwhile', async () => {
    await world.commit({ a: '1', b: '1' });
    const store = storeWith({
      overrides: async (repository, path) => {
        const found = await world.store.overrides(repository, path);
        if (path === 'b') {
          await world.commit({ b: '2' });
          await world.commit({ a: '2' });
        }
        return found;
      },
    });
    const proxy = await world.proxy('h1', new FakeDisk(), { store });
    await proxy.ask('a');
    await proxy.ask('b');
    await eventually('it has both', async () => {
      const values = [(await proxy.ask('a')).value, (await proxy.ask('b')).value];
      if (values.join() !== '2,2') throw new Error(values.join());
      return true;
    });
  });

  test('reads a few paths at a time of those that are added together, and none again that it has', async () => {
    const paths = Array.from({ length: 40 }, (_, at) => `p/${at}`);
    await world.commit(Object.fromEntries(['a', ...paths].map((path) => [path, '1'])));
    const reads = new Map<string, number>();
    let [atOnce, most, failures] = [0, 0, 3];
    const store = storeWith({
      read: async (repository, path) => {
        reads.set(path, (reads.get(path) ?? 0) + 1);
        most = Math.max(most, (atOnce += 1));
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
        if (path === 'p/39' && (failures -= 1) >= 0) throw new Error('it took too long');
        return world.store.read(repository, path);
      },
    });
    const proxy = await world.proxy('h1', new FakeDisk(), { store });
    await proxy.ask('a');
    for (const path of paths) proxy.listen([path], () => undefined);
    await eventually('all are there', async () => proxy.health().unconfirmed === 0);
    expect(most).toBeLessThanOrEqual(16);
    expect([...reads].filter(([path, count]) => path !== 'p/39' && count > 1)).toEqual([]);
  });

  test('has an override when it is meant, and goes back to the committed value when that is removed', async () => {
    await world.commit({ a: '1' });
    const [one, two] = await Promise.all([world.proxy('h1'), world.proxy('h2')]);
    await Promise.all([one.ask('a'), two.ask('a')]);
    await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1'] })]);
    expect(await one.ask('a')).toMatchObject({ value: 'new', override: '7@abc', commit: null });
    expect(await two.ask('a')).toMatchObject({ value: '1', override: null, commit: 'c1' });
    const [before, after] = [versionOf('1').slice(0, 7), versionOf('new').slice(0, 7)];
    await world.acknowledged('a', [`h1 ${after} 7@abc`, `h2 ${before} committed`]);
    await world.store.removeOverrides(R, 'deploy/x/1');
    expect(await one.ask('a')).toMatchObject({ value: '1', override: null, commit: 'c1' });
    await world.acknowledged('a', [`h1 ${before} committed`, `h2 ${before} committed`]);
  });

  test('serves the last value with its age while the store is gone, and catches up when it is back', async () => {
    await world.commit({ a: '1' });
    const proxy = await world.proxy('h1');
    await proxy.ask('a');
    world.lose();
    world.now += 90_000;
    await world.commit({ a: '2' });
    expect(await proxy.ask('a')).toMatchObject({ value: '1', age: 90 });
    expect(proxy.health()).toMatchObject({ store: 'away', age: 90 });
    await expect(proxy.ask('never-asked')).rejects.toMatchObject({ code: 'store-unavailable' });
    world.find();
    await eventually('it has caught up', async () => (await proxy.ask('a')).value === '2');
    const late = await eventually('it has the path that was new', () => proxy.ask('never-asked'));
    expect(late).toMatchObject({ value: null, age: 0 });
    expect(world.notes.filter((note) => /answers again/.test(note))).toHaveLength(1);
    expect(world.notes.filter((note) => /serving the last values/.test(note))).toHaveLength(1);
  });

  test('that is started again while the store is gone serves what it had, its override too', async () => {
    const disk = new FakeDisk();
    await world.commit({ a: '1', b: '1' });
    await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'b', 'new', { hosts: ['h1'] })]);
    const before = await world.proxy('h1', disk);
    await Promise.all([before.ask('a'), before.ask('b')]);
    await before.close();
    world.lose();
    world.now += 3_600_000;
    const after = await world.proxy('h1', disk);
    expect(await after.ask('a')).toMatchObject({ value: '1', commit: 'c1', age: 3600 });
    expect(await after.ask('b')).toMatchObject({ value: 'new', override: '7@abc', age: 3600 });
  });

  test('never goes back to an older commit than it has seen, also after a restart, and says that it is offered one', async () => {
    const disk = new FakeDisk();
    for (let at = 1; at <= 5; at += 1) await world.commit({ a: `${at}` });
    const before = await world.proxy('h1', disk);
    expect(await before.ask('a')).toMatchObject({ value: '5' });
    await before.close();
    const restored = new ProxyWorld();
    await restored.commit({ a: 'old 1' });
    const after = await restored.proxy('h1', disk);
    await eventually('it was offered', async () => restored.notes.length > 0);
    expect(restored.notes).toEqual(['the store has a of commit 1; that of commit 5 stays']);
    expect(await after.ask('a')).toMatchObject({ value: '5', sequence: 5 });
    for (let at = 2; at <= 6; at += 1) await restored.commit({ a: `new ${at}` });
    expect(await after.ask('a')).toMatchObject({ value: 'new 6', sequence: 6 });
    await restored.close();
  });

  test('that comes back to a store which was restored without its override goes back to the committed value', async () => {
    const disk = new FakeDisk();
    await world.commit({ a: '1' });
    await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'a', 'new', { hosts: ['h1'] })]);
    const before = await world.proxy('h1', disk);
    expect(await before.ask('a')).toMatchObject({ value: 'new' });
    await before.close();
    const restored = new ProxyWorld();
    await restored.commit({ a: '1' });
    const after = await restored.proxy('h1', disk);
    expect(await after.ask('a')).toMatchObject({ value: '1', override: null, commit: 'c1' });
    await restored.acknowledged('a', [`h1 ${versionOf('1').slice(0, 7)} committed`]);
    await restored.close();
  });

  test('that is asked for a path while its store is away asks for everything anew, since an older store may come back', async () => {
    await world.commit({ a: '1', b: '1', c: '1' });
    const watches: Parameters<ConfigStore['watch']>[] = [];
    const watch: ConfigStore['watch'] = (...args) => (watches.push(args), world.store.watch(...args));
    const proxy = await world.proxy('h1', new FakeDisk(), { store: storeWith({ watch }) });
    await proxy.ask('a');
    await proxy.ask('b');
    await eventually('it watches both', async () => watches.length === 2);
    const [, , , , , onAway] = watches.at(-1) ?? [];
    onAway?.(new Error('it is away'));
    proxy.listen(['c'], () => undefined);
    await eventually('it watches all of them', async () => watches.length === 3);
    expect(watches.map(([, paths, from]) => [paths.length, from === undefined])).toEqual([
      [1, true],
      [2, false],
      [3, true],
    ]);
  });

  test('a path that was deleted while it was down is gone when it is back', async () => {
    const disk = new FakeDisk();
    await world.commit({ a: '1' });
    const before = await world.proxy('h1', disk);
    await before.ask('a');
    await before.close();
    await world.commit({ a: null });
    const after = await world.proxy('h1', disk);
    expect(await after.ask('a')).toMatchObject({ value: null, version: '', sequence: 2 });
  });

  test('calls listeners with what is there, and then once for each difference', async () => {
    await world.commit({ a: '1', b: '1' });
    const proxy = await world.proxy('h1');
    await proxy.ask('a');
    const heard: AgedAnswer[] = [];
    const end = proxy.listen(['a'], (answer) => void heard.push(answer));
    await world.commit({ a: '2', b: '2' });
    await world.commit({ b: '3' });
    await world.store.putOverrides(R, [overrideOf('deploy/x/1', 'a', 'other', { hosts: ['h2'] })]);
    await world.commit({ a: '4' });
    end();
    await world.commit({ a: '5' });
    expect(heard.map(({ value }) => value)).toEqual(['1', '2', '4']);
  });
});

describe('a value that an application refuses', () => {
  test('is acknowledged as refused, until it takes that back or there is another', async () => {
    await world.commit({ a: '1' });
    const proxy = await world.proxy('h1');
    const { version } = await proxy.ask('a');
    const short = version.slice(0, 7);
    proxy.refuse({ path: 'a', version, reason: 'perUser is missing', app: 'shop' });
    await world.acknowledged('a', [`h1 ${short} committed shop: perUser is missing`]);
    proxy.refuse({ path: 'a', version, reason: 'no', app: 'worker' });
    await world.acknowledged('a', [`h1 ${short} committed shop: perUser is missing; worker: no`]);
    proxy.refuse({ path: 'a', version, reason: null, app: 'worker' });
    proxy.refuse({ path: 'a', version: 'another', reason: 'late', app: 'worker' });
    await world.acknowledged('a', [`h1 ${short} committed shop: perUser is missing`]);
    await world.commit({ a: '2' });
    await world.acknowledged('a', [`h1 ${versionOf('2').slice(0, 7)} committed`]);
    expect(proxy.health()).toMatchObject({ refused: 0 });
  });

  test('by more applications than a host has is refused itself', async () => {
    await world.commit({ a: '1' });
    const proxy = await world.proxy('h1');
    const { version } = await proxy.ask('a');
    const refuse = (app: string) => proxy.refuse({ path: 'a', version, reason: 'x'.repeat(5000), app });
    for (let at = 0; at < 16; at += 1) refuse(`app-${at}`);
    expect(() => refuse('one-more')).toThrow(expect.objectContaining({ code: 'over-limit' }));
  });
});

const OVERRIDE = { id: 'u1', revision: '7@abc', value: '1', version: versionOf('1') };

interface Written {
  path: string;
  readonly answer: { path: string; value: string };
  readonly held: { readonly committed: { value: string; sequence: number } | null; readonly overrides: object[] };
}

/** Changed together with its digest. */
const resealed = (change: (cached: Written) => unknown) => (text: string) => {
  const cached = parseCached(text)!;
  change(cached as unknown as Written);
  return writeCached(cached);
};

const DAMAGES: readonly [what: string, damage: (text: string) => string][] = [
  ['cut in the middle', (text) => text.slice(0, text.length / 2)],
  ['empty', () => ''],
  ['with another value in it', (text) => text.replace('"value":"1"', '"value":"9"')],
  ['of somebody else', () => 'hello\n{}'],
  ['no JSON under its own digest', () => `${createHash('sha256').update('{').digest('hex')}\n{`],
  ['another value under its own digest', resealed(({ held }) => (held.committed!.value = '9'))],
  ['another value of an override', resealed(({ held }) => held.overrides.push({ ...OVERRIDE, value: '9' }))],
  ['an override for no list of hosts', resealed(({ held }) => held.overrides.push({ ...OVERRIDE, hosts: 'h1' }))],
  ['a commit without a number', resealed(({ held }) => (held.committed!.sequence = 'x' as never))],
  ['an answer that is none', resealed((cached) => (cached.answer.value = 9 as never))],
  ['that of another path', resealed((cached) => (cached.path = cached.answer.path = 'c'))],
];

describe('the cache of a proxy', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'conveyor-cache-'))));
  afterEach(async () => {
    // Its folder has to exist while it is written.
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(DAMAGES)('with a file that is %s is said to be so, and the path is fetched anew', async (_, damage) => {
    await world.commit({ a: '1', b: '1' });
    const before = await world.proxy('h1', filesIn(folder));
    await Promise.all([before.ask('a'), before.ask('b')]);
    await before.close();
    const names = readdirSync(folder);
    expect(names).toHaveLength(2);
    const file = join(folder, names[0]!);
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    writeFileSync(join(folder, 'x.json.1.2.part'), 'a write that was killed');
    utimesSync(join(folder, 'x.json.1.2.part'), 0, 0);
    const after = await world.proxy('h1', filesIn(folder));
    expect(world.notes).toEqual([`${names[0]} of the cache is left out and fetched anew: it is not whole`]);
    expect(after.health().paths).toBe(1);
    expect(await after.ask('a')).toMatchObject({ value: '1' });
    expect(await after.ask('b')).toMatchObject({ value: '1' });
    await after.close();
    expect(readdirSync(folder).sort()).toEqual(names.sort());
  });

  test('forgets paths without a request for a week', async () => {
    await world.commit({ a: '1', b: '1' });
    const before = await world.proxy('h1', filesIn(folder));
    await Promise.all([before.ask('a'), before.ask('b')]);
    world.now += 8 * DAY_MS;
    await before.ask('b');
    await before.close();
    const after = await world.proxy('h1', filesIn(folder));
    expect(after.health().paths).toBe(1);
  });

  test('keeps what applications watch, or ask for every few minutes, for however long', async () => {
    await world.commit({ watched: '1', asked: '2' });
    const before = await world.proxy('h1', filesIn(folder), { retryDiskMs: 1 });
    await before.ask('watched');
    before.listen(['watched'], () => undefined);
    await before.ask('asked');
    for (const end = world.now + 8 * DAY_MS; world.now < end; world.now += DAY_MS / 200) await before.ask('asked');
    await eventually('both are known to be asked for', async () => {
      await new Promise((next) => setImmediate(next));
      const all = await filesIn(folder).list();
      const texts = await Promise.all(all.map((name) => filesIn(folder).read(name)));
      const asked = texts.map((text) => parseCached(text)?.askedAt ?? 0);
      if (asked.some((at) => world.now - at > DAY_MS)) throw new Error(asked.join());
      return true;
    });
    await before.close();
    const after = await world.proxy('h1', filesIn(folder));
    expect(after.health().paths).toBe(2);
  });

  test.each([
    ['was off for a month', 30],
    ['thinks that it is another century', 30_000],
  ])('that %s serves what it had while the store is gone', async (_what, days) => {
    await world.commit({ a: '1' });
    const before = await world.proxy('h1', filesIn(folder));
    await before.ask('a');
    await before.close();
    world.lose();
    world.now += days * DAY_MS;
    const after = await world.proxy('h1', filesIn(folder));
    expect(await after.ask('a')).toMatchObject({ value: '1' });
  });

  test('leaves out a file that another version wrote, and starts', async () => {
    await world.commit({ a: '1' });
    const body = `{"path":"a","value":"2","askedAt":${world.now}}`;
    const digest = createHash('sha256').update(body).digest('hex');
    await filesIn(folder).list();
    await filesIn(folder).write(cacheFile('a'), `${digest}\n${body}`);
    const proxy = await world.proxy('h1', filesIn(folder));
    expect(await proxy.ask('a')).toMatchObject({ value: '1' });
  });

  test('removes what a killed process had begun to write, and nothing that another one is writing', async () => {
    const files = filesIn(folder);
    await files.list();
    writeFileSync(join(folder, 'a.json.1.1.part'), '');
    writeFileSync(join(folder, 'b.json.1.1.part'), '');
    utimesSync(join(folder, 'a.json.1.1.part'), 0, 0);
    await files.list();
    expect(readdirSync(folder)).toEqual(['b.json.1.1.part']);
  });
});

const DAY_MS = 24 * 3_600_000;

test('while its disk is full a proxy serves from memory and says so, and it writes everything once there is room', async () => {
  const disk = new FakeDisk();
  disk.isFull = true;
  await world.commit({ a: '1' });
  const proxy = await world.proxy('h1', disk, { retryDiskMs: 20 });
  expect(await proxy.ask('a')).toMatchObject({ value: '1' });
  await world.commit({ a: '2' });
  expect(await proxy.ask('a')).toMatchObject({ value: '2' });
  await eventually('it says so', async () => proxy.health().diskTrouble);
  expect(world.notes).toEqual([
    'the cache cannot be written, values are served from memory: ENOSPC: no space left on device, write',
  ]);
  disk.isFull = false;
  await eventually('it is written', async () => [...disk.files.values()].some((text) => text.includes('"value":"2"')));
  expect(world.notes.at(-1)).toBe('the disk takes the cache again');
  expect(proxy.health()).not.toHaveProperty('diskTrouble');
});

test('a proxy follows 5,000 paths and no more', async () => {
  const proxy = await world.proxy('h1');
  for (let at = 0; at < 5000; at += 1) proxy.listen([`p/${at}`], () => undefined);
  expect(() => proxy.listen(['one/more'], () => undefined)).toThrow(expect.objectContaining({ code: 'over-limit' }));
  await expect(proxy.ask('a/../b')).rejects.toMatchObject({ code: 'invalid-text' });
});
