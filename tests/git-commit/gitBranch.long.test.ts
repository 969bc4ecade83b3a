import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitBranch } from '../../push-types/git-commit/gitBranch';
import type { RepositorySettings } from '../../push-types/git-commit/settings';
import { GitHttp } from '../builders/gitHttp';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-branch-'));
const ended: (() => void)[] = [];
afterAll(() => {
  ended.forEach((end) => end());
  rmSync(folder, { recursive: true, force: true });
});

const git = (directory: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.com', ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

let count = 0;

/** A bare repository with one file, and a person who pushes to it. */
function makeRemote() {
  const root = join(folder, String((count += 1)));
  const [bare, work] = [join(root, 'remote.git'), join(root, 'work')];
  mkdirSync(root);
  git(root, 'init', '--quiet', '--bare', '--initial-branch=main', bare);
  git(root, 'init', '--quiet', '--initial-branch=main', work);
  const edit = (path: string, text: string): string => {
    writeFileSync(join(work, path), text);
    git(work, 'add', '.');
    git(work, 'commit', '--quiet', '-m', `Change ${path}`);
    git(work, 'push', '--quiet', '--force', bare, 'main');
    return git(work, 'rev-parse', 'HEAD');
  };
  edit('a.yaml', 'tag: "1"\n');
  const open = (change: Partial<RepositorySettings> = {}, copy = 'copy.git') =>
    new GitBranch({
      name: 'deployments',
      folder: join(root, copy),
      settings: {
        ...{
          url: `file://${bare}`,
          branch: 'main',
          knownHosts: '/dev/null',
          user: 'git',
          paths: ['**'],
          timeout: 60_000,
        },
        ...{ committer: { name: 'Conveyor', email: 'conveyor@example.com' }, ...change },
      },
    });
  return { root, bare, work, edit, open };
}

const change = (base: string, text = 'tag: "2"\n') => ({
  ...{
    base,
    files: new Map([['a.yaml', text]]),
    message: 'Deploy 2\n\nConveyor-Update: deploy/a/1/b/1/0/1\n',
    at: 1_800_000_000_000,
  },
});

describe('a branch in Git', () => {
  test('is read, changed by one commit with the name of the settings, and searched by trailers', async () => {
    const { open, bare, work } = makeRemote();
    const branch = open();
    const base = await branch.refresh();
    expect(await branch.read(base, ['a.yaml', 'b.yaml'])).toEqual(
      new Map([
        ['a.yaml', { text: 'tag: "1"\n' }],
        ['b.yaml', { trouble: 'b.yaml is not in the branch main of deployments' }],
      ]),
    );
    const commit = await branch.commit(change(base));
    expect(await branch.push(commit)).toBe('pushed');
    expect(git(bare, 'log', '--format=%H %an %cn %ae %at', '-1', 'main')).toBe(
      `${commit} Conveyor Conveyor conveyor@example.com 1800000000`,
    );
    expect(git(bare, 'diff', '--name-only', base, commit)).toBe('a.yaml');
    const tip = await branch.refresh();
    expect(await branch.findCommits(tip, 'Conveyor-Update: deploy/a/1/b/1/0/1')).toMatchObject([
      { id: commit, parent: base },
    ]);
    expect(await branch.findCommits(tip, 'Conveyor-Update: deploy/a/1/b/1/0')).toEqual([]);
    expect((await branch.listChanges(tip, 'a.yaml')).map(({ author }) => author)).toEqual(['Conveyor', 'Alice']);
    expect(
      await Promise.all([
        branch.relate(tip, base),
        branch.relate(base, tip),
        branch.relate('f'.repeat(40), base),
        branch.relate(tip, '--help'),
      ]),
    ).toEqual(['holds', 'lacks', 'unknown', 'unknown']);
    expect(existsSync(join(work, '.git'))).toBe(true);
  });

  test('keeps the mode of a file, and changes no link', async () => {
    const { open, work, edit, bare } = makeRemote();
    chmodSync(join(work, 'a.yaml'), 0o755);
    execFileSync('ln', ['-s', 'a.yaml', join(work, 'link.yaml')]);
    edit('other.yaml', 'x: 1\n');
    const branch = open();
    const base = await branch.refresh();
    expect((await branch.read(base, ['link.yaml'])).get('link.yaml')).toEqual({
      trouble: expect.stringContaining('is a link') as string,
    });
    await branch.push(await branch.commit(change(base)));
    expect(git(bare, 'ls-tree', 'main', 'a.yaml')).toMatch(/^100755 /);
  });

  test('is never pushed over: a push on an old base is stale, and the branch stays', async () => {
    const { open, edit, bare } = makeRemote();
    const branch = open();
    const base = await branch.refresh();
    const theirs = edit('b.yaml', 'b: 1\n');
    expect(await branch.push(await branch.commit(change(base)))).toBe('stale');
    expect(git(bare, 'rev-parse', 'main')).toBe(theirs);
  });

  test('that was rewritten is followed', async () => {
    const { open, work, edit } = makeRemote();
    const branch = open();
    const old = await branch.refresh();
    git(work, 'commit', '--quiet', '--amend', '-m', 'Other words');
    const tip = edit('b.yaml', 'b: 1\n');
    expect(await branch.refresh()).toBe(tip);
    expect(await branch.relate(tip, old)).toBe('lacks');
  });

  test('whose copy was damaged or removed is fetched again', async () => {
    const { open, root, bare } = makeRemote();
    const branch = open();
    const tip = await branch.refresh();
    writeFileSync(join(root, 'copy.git', 'shallow.lock'), '');
    rmSync(join(root, 'copy.git', 'objects'), { recursive: true });
    expect(await branch.refresh()).toBe(tip);
    rmSync(join(root, 'copy.git'), { recursive: true });
    expect(await branch.refresh()).toBe(tip);
    renameSync(bare, `${bare}.gone`);
    await expect(branch.refresh()).rejects.toMatchObject({ name: 'RefusedError' });
  });

  test('that is missing is refused with its name', async () => {
    const branch = makeRemote().open({ branch: 'production' });
    await expect(branch.refresh()).rejects.toThrow('the branch production of deployments cannot be used');
  });
});

describe('git', () => {
  test('runs no program that a repository or the environment names', async () => {
    const { open, root, bare, edit } = makeRemote();
    const trap = join(root, 'trap.sh');
    const sprung = join(root, 'sprung');
    writeFileSync(trap, `#!/bin/sh\ntouch ${sprung}\nexit 0\n`);
    chmodSync(trap, 0o755);
    for (const hook of [
      'pre-receive',
      'update',
      'post-receive',
      'post-update',
      'reference-transaction',
      'proc-receive',
    ]) {
      mkdirSync(join(bare, 'hooks'), { recursive: true });
      writeFileSync(join(bare, 'hooks', hook), readFileSync(trap), { mode: 0o755 });
    }
    edit('.gitattributes', '*.yaml filter=trap diff=trap merge=trap\n');
    edit('.gitmodules', `[submodule "x"]\n\tpath = x\n\turl = ext::${trap}\n`);
    rmSync(sprung, { force: true });
    const branch = open();
    const base = await branch.refresh();
    writeFileSync(
      join(root, 'copy.git', 'config'),
      `[core]\n\tbare = true\n\tsshCommand = ${trap}\n\tfsmonitor = ${trap}\n\thooksPath = ${root}\n[filter "trap"]\n\tclean = ${trap}\n\tsmudge = ${trap}\n[diff "trap"]\n\ttextconv = ${trap}\n[credential]\n\thelper = ${trap}\n`,
    );
    const before = { ...process.env };
    Object.assign(process.env, {
      GIT_SSH: trap,
      GIT_EXTERNAL_DIFF: trap,
      GIT_ASKPASS: trap,
      GIT_PAGER: trap,
      GIT_EDITOR: trap,
      GIT_CONFIG_PARAMETERS: `'core.pager=${trap}'`,
    });
    try {
      await branch.refresh();
      await branch.push(await branch.commit(change(base)));
      await branch.listChanges(await branch.refresh(), 'a.yaml');
    } finally {
      process.env = before;
    }
    expect(existsSync(sprung)).toBe(false);
    expect(readFileSync(join(root, 'copy.git', 'config'), 'utf8')).toBe(
      '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
    );
  });

  test('accepts no host key that is not in the file of the settings, and no configuration of ssh', async () => {
    const { open, root } = makeRemote();
    const calls = join(root, 'calls');
    const bin = join(root, 'bin');
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'ssh'),
      `#!/bin/sh\necho "$@" >> ${calls}\necho 'Host key verification failed.' >&2\nexit 255\n`,
      { mode: 0o755 },
    );
    const { PATH } = process.env;
    process.env['PATH'] = `${bin}:${PATH}`;
    try {
      const branch = open({ url: 'ssh://git@git.example.com/a.git', key: '/etc/key', knownHosts: '/etc/hosts-keys' });
      await expect(branch.refresh()).rejects.toMatchObject({
        name: 'RefusedError',
        message: expect.stringContaining('Host key verification failed') as string,
      });
    } finally {
      process.env['PATH'] = PATH;
    }
    const said = readFileSync(calls, 'utf8');
    for (const part of [
      '-F /dev/null',
      'BatchMode=yes',
      'StrictHostKeyChecking=yes',
      'UserKnownHostsFile=/etc/hosts-keys',
      'GlobalKnownHostsFile=/dev/null',
      'IdentitiesOnly=yes',
      'IdentityFile=/etc/key',
      'ForwardAgent=no',
    ])
      expect(said).toContain(part);
  });
});

describe('a forge over http', () => {
  async function openForge(change: Partial<RepositorySettings> = {}) {
    const remote = makeRemote();
    const http = new GitHttp(remote.root, 'git', 'secret');
    ended.push(() => http.close());
    const token = join(remote.root, 'token');
    writeFileSync(token, 'secret\n');
    const url = `${await http.open()}/remote.git`;
    return { ...remote, http, token, branch: remote.open({ url, token, ...change }) };
  }

  test('gets the token, and a revoked one is a refusal that says so', async () => {
    const { branch, token } = await openForge();
    const base = await branch.refresh();
    expect(await branch.push(await branch.commit(change(base)))).toBe('pushed');
    writeFileSync(token, 'revoked\n');
    await expect(branch.refresh()).rejects.toMatchObject({
      name: 'RefusedError',
      message: expect.stringContaining('compare its url, branch, key or token') as string,
    });
    writeFileSync(token, 'secret\n');
    expect(await branch.relate(await branch.refresh(), base)).toBe('holds');
  });

  test('that protects the branch is a refusal in its own words', async () => {
    const { branch, bare } = await openForge();
    mkdirSync(join(bare, 'hooks'), { recursive: true });
    writeFileSync(
      join(bare, 'hooks', 'pre-receive'),
      '#!/bin/sh\necho "error: GH006: Protected branch update failed" >&2\nexit 1\n',
      { mode: 0o755 },
    );
    const base = await branch.refresh();
    await expect(branch.push(await branch.commit(change(base)))).rejects.toMatchObject({
      name: 'RefusedError',
      message: expect.stringContaining('GH006: Protected branch update failed') as string,
    });
  });

  test('that is away, slow or broken is away, and works again afterwards', async () => {
    const { branch, http } = await openForge({ timeout: 3_000 });
    const tip = await branch.refresh();
    http.fault = 'silent';
    await expect(branch.refresh()).rejects.toMatchObject({ name: 'AwayError' });
    http.fault = 'broken';
    await expect(branch.refresh()).rejects.toMatchObject({ name: 'AwayError' });
    http.fault = undefined;
    expect(await branch.refresh()).toBe(tip);
  });
});

test('two processes that push at once make one history, without a lost commit', async () => {
  const { open, bare } = makeRemote();
  const branches = [open(), open({}, 'other.git')];
  const land = async (branch: GitBranch, path: string): Promise<void> => {
    for (;;) {
      const base = await branch.refresh();
      const commit = await branch.commit({ ...change(base), files: new Map([[path, 'a: 1\n']]) });
      if ((await branch.push(commit)) === 'pushed') return;
    }
  };
  await Promise.all(branches.map((branch, nth) => land(branch, `${nth}.yaml`)));
  expect(git(bare, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(['0.yaml', '1.yaml', 'a.yaml']);
  expect(git(bare, 'rev-list', '--count', 'main')).toBe('3');
});
