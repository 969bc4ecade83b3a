import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigRepository } from '../../configerator/repository/repository';
import { Lander } from '../../configerator/repository/land';
import { bench, NOW } from './repositories';
import { folderOf, LIMITS, program } from './sources';

test('a proposal is one commit with sources and values, at a ref with a number, and the branch does not move', async () => {
  const { git, proposeFiles, repository } = await bench();
  const { change, version } = await proposeFiles(LIMITS);
  expect(change).toBe(1);
  expect(git('rev-parse', 'refs/changes/1').trim()).toBe(version.split('@')[1]);
  expect(git('ls-tree', '-r', '--name-only', 'refs/changes/1').trim().split('\n')).toEqual([
    ...Object.keys(LIMITS).sort(),
    'values/feed/limits.json',
  ]);
  expect(await repository.head()).toBeNull();
  expect(await repository.changes()).toMatchObject([
    { change: 1, author: 'user:alice', message: 'Change it', landed: null },
  ]);
});

test('proposers at the same moment get numbers of their own, one after the other', async () => {
  const { proposeValues, git } = await bench();
  const proposed = await Promise.all(Array.from({ length: 8 }, (_, index) => proposeValues({ [`a/${index}`]: index })));
  expect(proposed.map(({ change }) => change).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(git('for-each-ref', 'refs/changes').trim().split('\n')).toHaveLength(8);
});

test('a program changes values by their paths, each a raw file; null takes one away', async () => {
  const { proposeValues, git, repository } = await bench();
  const lander = new Lander(repository);
  const first = await proposeValues({ 'a/b': { z: 1, a: [] }, c: 'text' });
  await lander.land([first.change], NOW);
  expect(JSON.parse(git('show', 'main:values/a/b.json'))).toEqual({ a: [], z: 1 });
  const second = await proposeValues({ 'a/b': null });
  await lander.land([second.change], NOW);
  expect(git('ls-tree', '-r', '--name-only', 'main').trim().split('\n')).toEqual(['c.json', 'values/c.json']);
});

test.each([
  ['what the branch holds already', { a: 1 }, 'config-unchanged'],
  ['a path that leaves the tree', { '../a': 1 }, 'config-file-unusable'],
  [
    'more values than a change may have',
    Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`m/${n}`, n])),
    'over-limit',
  ],
  ['a value of a program', { 'p/q': 2 }, 'config-path-taken'],
])('%s is refused', async (_what, values, code) => {
  const { proposeFiles, proposeValues, repository } = await bench();
  const { change } = await proposeFiles({ 'a.json': '1\n', 'p/q.config.ts': program('1') });
  await new Lander(repository).land([change], NOW);
  await expect(proposeValues(values as Record<string, unknown>)).rejects.toMatchObject({ code });
});

test('a caller who asks for everything landed up to a commit gets all of it, despite concurrent callers', async () => {
  const it = await bench();
  const lander = new Lander(await it.another());
  const heads: string[] = [];
  for (const value of [1, 2]) {
    await lander.land([(await it.proposeValues({ a: value })).change], NOW);
    heads.push((await it.repository.head()) ?? '');
  }
  const [older = '', newest = ''] = heads;
  const numbers = async (head: string): Promise<number[]> =>
    [...(await it.repository.landedBy(head)).keys()].toSorted();
  expect(await numbers(newest)).toEqual([1, 2]);
  let isOver = false;
  const other = numbers(older).finally(() => (isOver = true));
  while (!isOver) {
    expect(await numbers(newest)).toEqual([1, 2]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await other).toEqual([1]);
});

test('settings and hooks of the user who runs it count for nothing', async () => {
  const { proposeValues, git } = await bench();
  const home = folderOf({
    '.gitconfig': '[user]\n name = Mallory\n[core]\n hooksPath = /nowhere\n[commit]\n gpgSign = true\n',
  });
  const before = process.env['HOME'];
  process.env['HOME'] = home;
  process.env['GIT_DIR'] = '/nowhere';
  try {
    await proposeValues({ a: 1 });
  } finally {
    process.env['HOME'] = before;
    delete process.env['GIT_DIR'];
  }
  expect(git('log', '-1', '--format=%an %cn', 'refs/changes/1').trim()).toBe('user:alice Conveyor');
});

describe('a broken repository is refused with the reason', () => {
  test('a repository that is not there', async () => {
    const repository = await ConfigRepository.open(
      { name: 'flags', git: '/nowhere.git', branch: 'main' },
      folderOf({}),
    );
    await expect(repository.head()).rejects.toMatchObject({
      code: 'config-repository-unreachable',
      message: expect.stringContaining("'/nowhere.git' does not appear to be a git repository"),
    });
  });

  test('a ref that is not a commit', async () => {
    const { origin, repository, git } = await bench();
    const blob = execFileSync('git', ['--git-dir', origin, 'hash-object', '-w', '--stdin'], { input: 'x' })
      .toString()
      .trim();
    git('update-ref', 'refs/changes/1', blob);
    await expect(repository.changesOf([1])).rejects.toMatchObject({
      code: 'config-repository-unusable',
      message: expect.stringContaining(`refs/changes/1 is ${blob}, which is not a commit`),
    });
  });

  test('an object that is corrupt', async () => {
    const { origin, proposeValues, another, git } = await bench();
    await proposeValues({ a: 1 });
    const blob = git('rev-parse', 'refs/changes/1:a.json').trim();
    const file = join(origin, 'objects', blob.slice(0, 2), blob.slice(2));
    rmSync(file, { force: true });
    writeFileSync(file, 'garbage');
    await expect((await another()).changesOf([1])).rejects.toMatchObject({
      code: expect.stringMatching(/^config-repository/),
    });
  });

  test('an unproposed change', async () => {
    const { repository } = await bench();
    await expect(repository.changesOf([7])).rejects.toMatchObject({ code: 'config-change-unknown' });
  });
});

test('a copy has a file for each of the changes that it fetched last, and one for all others', async () => {
  const { git, origin, proposeValues, repository } = await bench();
  const { version } = await proposeValues({ a: 1 });
  const [, commit = ''] = version.split('@');
  const numbers = Array.from({ length: 1000 }, (_, at) => at + 1);
  const input = numbers.map((n) => `update refs/changes/${n} ${commit}\n`).join('');
  execFileSync('git', ['--git-dir', origin, 'update-ref', '--stdin'], { input });
  const folder = join(repository.git.directory, 'refs/changes');
  const files = (): number => (existsSync(folder) ? readdirSync(folder).length : 0);
  const fetched = async (from: number, to: number) => (await repository.changesOf(numbers.slice(from, to))).length;
  expect([await fetched(0, 2), files()]).toEqual([2, 0]);
  expect([await fetched(2, 500), files()]).toEqual([498, 498]);
  expect([await fetched(500, 502), files(), await fetched(0, 502)]).toEqual([2, 0, 502]);
  expect(git('for-each-ref', '--count=1', 'refs/changes')).toContain(commit);
});
