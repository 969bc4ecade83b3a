import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { Lander } from '../../configerator/repository/land';
import { makeCommits } from '../../configerator/repository/newCommits';
import { MemoryStore } from '../../configerator/store/memory';
import { tail } from '../../configerator/tailer/tail';
import type { ConfigStore, StoredCommit } from '../../configerator/store/port';
import { bench, NOW, type Bench } from './repositories';

/** The commits given to a store, which fails as a process that is killed does before its nth commit. */
function storeOf() {
  const commits: StoredCommit[] = [];
  let diesBefore = Infinity;
  const store: Pick<ConfigStore, 'head' | 'apply'> = {
    head: () => Promise.resolve(commits.at(-1)),
    apply: (_repository, commit) => {
      if (commits.length + 1 === diesBefore) return Promise.reject(new Error('killed'));
      const head = commits.at(-1)?.sequence ?? 0;
      if (commit.sequence <= head) return Promise.resolve('already');
      expect(commit.sequence).toBe(head + 1);
      commits.push(commit);
      return Promise.resolve('applied');
    },
  };
  return { store: store as ConfigStore, commits, dieBefore: (nth: number) => void (diesBefore = nth) };
}

async function landed(it: Bench, ...changes: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const lander = new Lander(it.repository);
  for (const values of changes) await lander.land([(await it.proposeValues(values)).change], NOW);
}

test('commits come to the store in their order, each with the values that it changes', async () => {
  const it = await bench();
  await landed(it, { a: 1, b: 1 }, { a: 2 }, { b: null });
  const { store, commits } = storeOf();
  expect(await tail(it.repository, store, 100)).toEqual({ applied: 3, commit: await it.repository.head() });
  expect(commits.map(({ sequence, values }) => [sequence, values.map(({ path, value }) => [path, value])])).toEqual([
    [
      1,
      [
        ['a', '1\n'],
        ['b', '1\n'],
      ],
    ],
    [2, [['a', '2\n']]],
    [3, [['b', null]]],
  ]);
  expect(commits[1]?.values[0]?.version).toBe(it.git('rev-parse', 'main~1:values/a.json').trim());
});

test('the next look reads only what is new, and nothing twice', async () => {
  const it = await bench();
  const { store, commits } = storeOf();
  expect(await tail(it.repository, store, 100)).toEqual({ applied: 0, commit: null });
  await landed(it, { a: 1 });
  expect(await tail(it.repository, store, 100)).toMatchObject({ applied: 1 });
  expect(await tail(it.repository, store, 100)).toMatchObject({ applied: 0 });
  await landed(it, { a: 2 }, { a: 3 });
  expect(await tail(it.repository, store, 1)).toMatchObject({ applied: 1 });
  expect(await tail(await it.another(), store, 1)).toMatchObject({ applied: 1 });
  expect(commits.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

test('one that is killed between two commits continues where it was', async () => {
  const it = await bench();
  await landed(it, { a: 1 }, { a: 2 }, { a: 3 });
  const { store, commits, dieBefore } = storeOf();
  dieBefore(2);
  await expect(tail(it.repository, store, 100)).rejects.toThrow('killed');
  dieBefore(Infinity);
  await tail(await it.another(), store, 100);
  expect(commits.map(({ values }) => values[0]?.value)).toEqual(['1\n', '2\n', '3\n']);
});

test('two at once apply each commit once', async () => {
  const it = await bench();
  await landed(it, { a: 1 }, { b: 2 });
  const { store, commits } = storeOf();
  await Promise.all([tail(it.repository, store, 100), tail(await it.another(), store, 100)]);
  expect(commits.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('a branch without the distributed commit is refused, whatever else it holds', async () => {
  const it = await bench();
  await landed(it, { a: 1 }, { a: 2 });
  const { store } = storeOf();
  await tail(it.repository, store, 100);
  const empty = it.git('rev-parse', 'main~1^{tree}').trim();
  const other = execFileSync(
    'git',
    ['--git-dir', it.origin, '-c', 'user.name=x', '-c', 'user.email=x', 'commit-tree', empty, '-m', 'x'],
    { encoding: 'utf8' },
  ).trim();
  for (const rewritten of [it.git('rev-parse', 'main~1').trim(), other]) {
    it.git('update-ref', 'refs/heads/main', rewritten);
    await expect(tail(it.repository, store, 100)).rejects.toMatchObject({ code: 'config-branch-rewritten' });
  }
});

const DAMAGES: readonly [what: string, damage: (object: Buffer) => Buffer][] = [
  ['holds another value', () => deflateSync(['blob 2', '9\n'].join('\0'))],
  ['has a flipped bit', (object) => Buffer.concat([object.subarray(0, -1), Buffer.from([object.at(-1)! ^ 1])])],
  ['was cut off', (object) => object.subarray(0, 5)],
];

test.each(DAMAGES)(
  'a file of the copy that %s reaches no host, and keeps its value from none once it is whole',
  async (_, damage) => {
    const it = await bench();
    await landed(it, { a: 1 });
    await it.repository.head();
    const blob = it.git('rev-parse', 'main:values/a.json').trim();
    const file = join(it.repository.git.directory, 'objects', blob.slice(0, 2), blob.slice(2));
    const object = readFileSync(file);
    const replaced = (by: Buffer): void => {
      rmSync(file);
      writeFileSync(file, by);
    };
    replaced(damage(object));
    const { store, commits } = storeOf();
    await expect(tail(it.repository, store, 100)).rejects.toMatchObject({ code: 'config-repository-unusable' });
    expect(commits).toEqual([]);
    replaced(object);
    await tail(it.repository, store, 100);
    expect(commits.map(({ values }) => values[0]?.value)).toEqual(['1\n']);
  },
);

/** A commit pushed with git, past the landing strip. */
async function pushed(it: Bench, files: Readonly<Record<string, string>>): Promise<void> {
  const made = Object.entries(files).map(([path, text]) => ({ path, text }));
  const [commit = ''] = await makeCommits(
    it.repository.git,
    'refs/drafts/by-hand',
    [{ parent: await it.repository.head(), author: 'bob', message: 'By hand', files: made }],
    NOW,
  );
  await it.repository.push(commit, 'refs/heads/main', (await it.repository.head()) ?? '');
}

test('a pushed commit reaches the store however many values it has, and so do those after it', async () => {
  const it = await bench();
  await landed(it, { a: 1 });
  await pushed(it, Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [`values/b/n${n}.json`, '1\n'])));
  await landed(it, { a: 2 });
  const store = new MemoryStore(() => 0);
  await tail(it.repository, store, 100);
  expect([await store.read('flags', 'b/n2000'), await store.read('flags', 'a')]).toMatchObject([
    { value: '1\n', sequence: 2 },
    { value: '2\n', sequence: 3 },
  ]);
});

test('a pushed value that no host could get is left out by name, and delays nothing else', async () => {
  const it = await bench();
  await landed(it, { a: 1, b: 1 });
  await pushed(it, {
    'values/a.json': 'x'.repeat(1024 * 1024 + 1),
    'values/b.json': '2\n',
    'values/b': 'twice\n',
    'values/what is this.json': '1\n',
  });
  const store = new MemoryStore(() => 0);
  const said: string[] = [];
  await tail(it.repository, store, 100, (line) => said.push(line));
  const commit = it.git('rev-parse', 'main').trim().slice(0, 12);
  const start = `flags: commit ${commit} leaves hosts with their present values of`;
  expect(said.toSorted()).toEqual([
    `${start} values/a.json: it is larger than 1024 kB`,
    `${start} values/b: a value of this path lies in values/b.json`,
    `${start} values/what is this.json: a name in it has something else than A-Z, a-z, 0-9, ".", "_" and "-"`,
  ]);
  expect([await store.read('flags', 'a'), await store.read('flags', 'b')]).toMatchObject([
    { value: '1\n' },
    { value: '2\n' },
  ]);
  expect(await store.head('flags')).toMatchObject({ sequence: 2 });
});
