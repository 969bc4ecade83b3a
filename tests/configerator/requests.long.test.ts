import { createServer, type AddressInfo, type Server } from 'node:net';
import { Lander } from '../../configerator/repository/land';
import { ConfigRepository } from '../../configerator/repository/repository';
import { requestChange, type WantedChange } from '../../configerator/repository/requests';
import { bench, NOW, type Bench } from './repositories';
import { folderOf, LIMITS, program } from './sources';

const ask = (
  { repository }: Bench,
  wanted: WantedChange,
  more: { base?: string; key?: string; author?: string } = {},
) =>
  requestChange(
    repository,
    { ...wanted, message: 'Change it', base: more.base ?? null },
    { author: more.author ?? 'service:tuner', nowMs: NOW, key: more.key ?? null },
  );

describe('a request with a key', () => {
  test('makes one change, however often it comes, also when the branch has moved and from another machine', async () => {
    const it = await bench();
    const first = await ask(it, { values: { a: 1 } }, { key: 'k' });
    expect(first).toEqual({
      ...{ change: 1, version: expect.stringMatching(/^1@[0-9a-f]{40}$/), base: null, paths: ['a'] },
      ...{ deleted: [], duplicate: false },
    });
    await new Lander(it.repository).land([1], NOW);
    const elsewhere = { ...it, repository: await it.another() };
    expect(await ask(elsewhere, { values: { a: 1 } }, { key: 'k' })).toEqual({ ...first, duplicate: true });
  });

  test('makes one change when it comes several times at once', async () => {
    const it = await bench();
    const made = await Promise.all(Array.from({ length: 5 }, () => ask(it, { values: { a: 1 } }, { key: 'k' })));
    expect(new Set(made.map(({ version }) => version)).size).toBe(1);
    expect(it.git('for-each-ref', 'refs/changes').trim().split('\n')).toHaveLength(1);
  });

  test.each<[what: string, wanted: WantedChange, author: string]>([
    ['another value', { values: { a: 2 } }, 'service:tuner'],
    ['another author', { values: { a: 1 } }, 'user:eve'],
  ])('and %s is refused, and names the change that has the key', async (_what, wanted, author) => {
    const it = await bench();
    await ask(it, { values: { a: 1 } }, { key: 'k' });
    await expect(ask(it, wanted, { key: 'k', author })).rejects.toMatchObject({
      code: 'key-reused',
      message: 'the key k already started change 1 of flags, but now comes with another request',
    });
  });
});

describe('the limits of a request', () => {
  test.each<[what: string, wanted: WantedChange, why: string]>([
    [
      'a compiled value',
      { values: { 'values/feed/limits': 1 } },
      'the folder values holds values compiled from sources',
    ],
    ['a compiled file', { files: { 'values/a.json': '1' } }, 'the folder values holds values compiled from sources'],
    ['a schema as a value', { values: { 'feed/limits.schema': {} } }, 'it is not the path of a value'],
    ['what is hidden', { values: { '.git/config': 1 } }, 'it is not a source of configuration'],
    ['what is not a source', { files: { 'README.md': 'x' } }, 'it is not a source of configuration'],
    ['what packages keep', { values: { package: 1 } }, 'it is not a source of configuration'],
    ['a path outside', { values: { '../a': 1 } }, 'it is not a source of configuration'],
    ['an absolute path', { files: { '/etc/a.json': '1' } }, 'it begins with /'],
    [
      'a file that is too large',
      { files: { 'a.ts': `//${'x'.repeat(1024 * 1024)}` } },
      'a file may have 1,048,576 bytes',
    ],
    ['a value that is too large', { values: { a: 'x'.repeat(1024 * 1024) } }, 'a file may have 1,048,576 bytes'],
  ])('%s', async (_what, wanted, why) => {
    const it = await bench();
    await expect(ask(it, wanted)).rejects.toMatchObject({
      code: 'config-file-unusable',
      message: expect.stringContaining(why),
    });
    expect(it.git('for-each-ref')).toBe('');
  });

  test('a value that is deeper than any reader', async () => {
    const deep = Array.from({ length: 200 }).reduce<unknown>((inner) => [inner], 1);
    await expect(ask(await bench(), { values: { a: deep } })).rejects.toMatchObject({
      code: 'config-value-refused',
      message: expect.stringContaining('is nested more than 100 levels deep'),
    });
  });

  test('by a message that steers a terminal', async () => {
    const it = await bench();
    const asked = { values: { a: 1 }, message: 'Fine\u001b[2J', base: null };
    await expect(
      requestChange(it.repository, asked, { author: 'user:eve', nowMs: NOW, key: null }),
    ).rejects.toMatchObject({
      code: 'invalid-text',
      message: expect.stringContaining('the message of a change'),
    });
  });

  test('15 MB of values', async () => {
    const values = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`v/${n}`, 'x'.repeat(1_000_000)]));
    await expect(ask(await bench(), { values })).rejects.toMatchObject({
      code: 'over-limit',
      message: expect.stringMatching(/^the total size of the values of a change is .*, more than /),
    });
  });

  test('a file that was changed since its base: by the name of the file and of the change that won', async () => {
    const it = await bench();
    const lander = new Lander(it.repository);
    await lander.land([(await ask(it, { values: { a: 1 } })).change], NOW);
    const base = (await it.repository.head()) ?? '';
    await lander.land([(await ask(it, { values: { a: 2 } })).change], NOW);
    await expect(ask(it, { values: { a: 3 } }, { base })).rejects.toMatchObject({
      code: 'config-conflict',
      message: 'this cannot land: a.json was changed by change 2 meanwhile',
    });
    expect(await ask(it, { values: { b: 3 } }, { base })).toMatchObject({ change: 3, base, paths: ['b'] });
  });

  test('a value that the owner of a schema refuses: which value, which file, which rule', async () => {
    const it = await bench();
    const raw = {
      ...LIMITS,
      'feed/limits.schema.ts': `${LIMITS['feed/limits.schema.ts']!.toString()}\nexport default limits;`,
      'feed/limits.config.ts': null,
    };
    const { 'feed/limits.config.ts': _program, ...others } = raw;
    await new Lander(it.repository).land([(await it.proposeFiles(others)).change], NOW);
    await expect(ask(it, { values: { 'feed/limits': { soft: 500, hard: 100 } } })).rejects.toMatchObject({
      code: 'config-value-refused',
      message:
        'feed/limits of feed/limits.json is refused by softBelowHard of feed/limits.validate.ts: soft 500 is above hard 100',
    });
  });

  test('the value of a program', async () => {
    const it = await bench();
    await new Lander(it.repository).land([(await it.proposeFiles({ 'a.config.ts': program('1') })).change], NOW);
    await expect(ask(it, { values: { a: 2 } })).rejects.toMatchObject({ code: 'config-path-taken' });
  });
});

describe('a repository elsewhere', () => {
  let silent: Server | undefined;
  afterEach(() => new Promise((resolve) => (silent === undefined ? resolve(null) : silent.close(resolve))));

  test('that takes connections and says nothing is unreachable after a while, worth another try, and named', async () => {
    const sockets: { destroy(): void }[] = [];
    silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent?.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const ref = { name: 'flags', git: `http://127.0.0.1:${port}/flags.git`, branch: 'main' };
    const repository = await ConfigRepository.open(ref, folderOf({}), 1_000);
    await expect(repository.head()).rejects.toMatchObject({
      ...{ code: 'config-repository-unreachable', retryable: true },
      message: expect.stringContaining('the configuration repository flags does not answer: git ls-remote was ended'),
    });
    sockets.forEach((socket) => socket.destroy());
  });

  test('cannot be asked where there is no git', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = folderOf({});
    try {
      await expect(
        ConfigRepository.open({ name: 'flags', git: '/nowhere.git', branch: 'main' }, folderOf({})),
      ).rejects.toMatchObject({
        ...{ code: 'config-repository-unreachable', retryable: true },
        message: expect.stringContaining('flags does not answer: git cannot be started'),
      });
    } finally {
      process.env['PATH'] = path;
    }
  });

  test('several processes of one machine may read it at once, for the first time too', async () => {
    const it = await bench();
    for (let n = 0; n < 4; n += 1) await it.proposeValues({ [`a/${n}`]: n }, null);
    const copy = folderOf({});
    const { ref } = it.repository;
    await ConfigRepository.open(ref, copy);
    const lists = await Promise.all(
      Array.from({ length: 6 }, async () => (await ConfigRepository.open(ref, copy)).changes()),
    );
    for (const list of lists) expect(list.map(({ change }) => change)).toEqual([4, 3, 2, 1]);
  });
});
