import { execFileSync } from 'node:child_process';
import { Lander } from '../../configerator/repository/land';
import { bench, NOW, type Bench } from './repositories';

/** A commit made by hand, as `git` makes it. */
interface ByHand {
  readonly files: readonly { readonly mode: string; readonly id: string; readonly path: string }[];
  readonly parents?: readonly string[];
  readonly message?: string;
}

const AUTHOR = { GIT_AUTHOR_NAME: 'mallory', GIT_AUTHOR_EMAIL: 'm@example.com' };
const COMMITTER = { GIT_COMMITTER_NAME: 'mallory', GIT_COMMITTER_EMAIL: 'm@example.com' };

const run = ({ origin }: Bench, args: readonly string[], input = ''): string =>
  execFileSync('git', ['--git-dir', origin, ...args], {
    ...{ input, encoding: 'utf8', maxBuffer: 2 ** 30 },
    env: { ...process.env, ...AUTHOR, ...COMMITTER },
  }).trim();

const blob = (it: Bench, text: string): string => run(it, ['hash-object', '-w', '--stdin'], text);

/** With the values of its files, as a change has to have them. */
function changeByHand(it: Bench, change: number, { files, parents = [], message = 'By hand' }: ByHand): string {
  const rows = files.map(({ mode, id, path }) => `${mode} ${mode === '160000' ? 'commit' : 'blob'} ${id}\t${path}\n`);
  const values = run(it, ['mktree', '--missing'], rows.join(''));
  const tree = run(it, ['mktree', '--missing'], [...rows, `040000 tree ${values}\tvalues\n`].join(''));
  const commit = run(it, ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])], message);
  run(it, ['update-ref', `refs/changes/${change}`, commit]);
  return commit;
}

const file = (it: Bench, path: string, text: string) => ({ mode: '100644', id: blob(it, text), path });

describe('a change made by hand blocks no other from landing:', () => {
  const landsBeside = async (it: Bench, code: string): Promise<void> => {
    const { change } = await it.proposeValues({ good: 1 }, null);
    expect(await new Lander(it.repository).land([1, change], NOW)).toEqual([
      { change: 1, refused: expect.objectContaining({ code }) },
      { change, commit: expect.any(String) },
    ]);
  };

  test('one with another repository in it', async () => {
    const it = await bench();
    changeByHand(it, 1, { files: [{ mode: '160000', id: 'a'.repeat(40), path: 'sub.json' }] });
    await landsBeside(it, 'config-file-unusable');
  });

  test('one with a symbolic link in it', async () => {
    const it = await bench();
    changeByHand(it, 1, { files: [{ mode: '120000', id: blob(it, '1'), path: 'a.json' }] });
    await landsBeside(it, 'config-file-unusable');
  });

  test('one that is not a commit', async () => {
    const it = await bench();
    run(it, ['update-ref', 'refs/changes/1', blob(it, '1')]);
    await landsBeside(it, 'config-repository-unusable');
  });

  test('one with a file that is too large', async () => {
    const it = await bench();
    changeByHand(it, 1, { files: [file(it, 'a.json', `"${'x'.repeat(2 ** 21)}"`)] });
    await landsBeside(it, 'config-file-unusable');
  });
});

test('a change that is a merge is what it changes against its first parent', async () => {
  const it = await bench();
  const lander = new Lander(it.repository);
  await lander.land([(await it.proposeValues({ a: 1 })).change], NOW);
  const head = it.git('rev-parse', 'main').trim();
  const a = it.git('rev-parse', 'main:a.json').trim();
  const files = [{ mode: '100644', id: a, path: 'a.json' }];
  const side = changeByHand(it, 8, { files: [...files, file(it, 'b.json', '2')], parents: [head] });
  changeByHand(it, 2, { files: [...files, file(it, 'b.json', '2')], parents: [head, side] });
  await lander.land([2], NOW);
  expect(it.git('ls-tree', '--name-only', 'main').trim().split('\n')).toContain('b.json');
});

test('no message makes a change count as landed that has not, nor its own as not landed', async () => {
  const messages = [
    'a\x1fb\x1f2\n\nChange: 2',
    'a\x1eb\n\nc\x1e',
    '# ------------------------ >8 ------------------------\n\nChange: 2\n',
    'a\n\nb\n---\nChange: 2\n\n---',
  ];
  for (const message of messages) {
    const own = await bench();
    changeByHand(own, 1, { files: [file(own, 'a.json', '1')], message });
    changeByHand(own, 2, { files: [file(own, 'b.json', '2')] });
    const first = await new Lander(own.repository).land([1], NOW);
    expect(await new Lander(await own.another()).land([1, 2], NOW)).toEqual([
      ...first,
      { change: 2, commit: expect.any(String) },
    ]);
    expect(own.git('rev-list', '--count', 'main').trim()).toBe('2');
  }
});

test('a change lands as it was released, and not as it was replaced later', async () => {
  const it = await bench();
  const released = changeByHand(it, 1, { files: [file(it, 'a.json', '1')] });
  changeByHand(it, 1, { files: [file(it, 'a.json', '666')] });
  const commits = { 1: released };
  expect(await new Lander(await it.another()).land([1], NOW, commits)).toEqual([
    {
      change: 1,
      refused: expect.objectContaining({
        code: 'config-change-unknown',
        message: `there is no change 1@${released} in flags`,
      }),
    },
  ]);
  run(it, ['update-ref', 'refs/changes/1', released]);
  expect(await new Lander(await it.another()).land([1], NOW, commits)).toEqual([
    { change: 1, commit: expect.any(String) },
  ]);
});
