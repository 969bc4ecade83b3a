import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBasis } from '../../cli/commands/config/basis';
import { OWN_PROGRAMS } from '../../configerator/compiler/walls';
import { Lander } from '../../configerator/repository/land';
import { ConfigRepository, locateCopy } from '../../configerator/repository/repository';
import { requestChange } from '../../configerator/repository/requests';
import { MemoryStore } from '../../configerator/store/memory';
import type { StoredCommit } from '../../configerator/store/port';
import { tail } from '../../configerator/tailer/tail';
import { NOW } from './repositories';

const git = (directory: string, ...args: readonly string[]): string =>
  execFileSync('git', ['--git-dir', directory, ...args], { encoding: 'utf8' }).trim();

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function newFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `conveyor-${name}-`));
  folders.push(folder);
  return folder;
}

/** A folder in which each program of an intruder that runs leaves a file of its name. */
class Marks {
  readonly folder = newFolder('marks');

  constructor() {
    chmodSync(this.folder, 0o777);
  }

  /** A program that leaves its mark. */
  program(name: string): string {
    const file = join(this.folder, `${name}.sh`);
    writeFileSync(file, `#!/bin/sh\n: >'${this.folder}/${name}.mark'\nexit 0\n`, { mode: 0o755 });
    return file;
  }

  left(): readonly string[] {
    return readdirSync(this.folder).filter((name) => name.endsWith('.mark'));
  }
}

const HOOKS = [
  ...['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction', 'pre-auto-gc'],
  ...['pre-push', 'post-checkout', 'post-index-change', 'fsmonitor-watchman', 'push-to-checkout'],
];

/** Has a repository name a program wherever git would run one: in its settings, its attributes and its hooks. */
function plantIn(directory: string, marks: Marks, origin: string): void {
  for (const hook of HOOKS) renameSync(marks.program(`hook-${hook}`), join(hooksOf(directory), hook));
  const set = (key: string, value: string): void => void git(directory, 'config', '--add', key, value);
  for (const key of [
    ...['core.fsmonitor', 'core.sshCommand', 'core.gitProxy', 'core.pager', 'core.editor', 'core.askPass'],
    ...['core.alternateRefsCommand', 'diff.external', 'gpg.program', 'gpg.ssh.program', 'gpg.x509.program'],
    ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'diff.evil.textconv', 'diff.evil.command'],
    ...['uploadpack.packObjectsHook', 'gc.recentObjectsHook', 'pager.log', 'pager.diff-tree', 'trailer.Change.command'],
    ...[`remote.${origin}.uploadpack`, `remote.${origin}.receivepack`, 'remote.evil.uploadpack'],
  ])
    set(key, marks.program(key.replace(/[^\w.]/g, '_')));
  set('credential.helper', `!${marks.program('credential')}`);
  set('alias.log', `!${marks.program('alias')}`);
  set(`url.ext::${marks.program('ext')}.insteadOf`, origin);
  set('protocol.ext.allow', 'always');
  set('protocol.allow', 'always');
  for (const [key, value] of Object.entries({
    ...{ 'log.showSignature': 'true', 'core.hooksPath': hooksOf(directory) },
    ...{ 'gc.auto': '1', 'receive.autogc': 'true', 'fetch.recurseSubmodules': 'true', 'submodule.recurse': 'true' },
    ...{ 'remote.evil.url': '/', 'remote.evil.promisor': 'true', 'core.attributesFile': join(directory, 'attributes') },
  }))
    set(key, value);
  writeFileSync(join(directory, 'attributes'), '* filter=evil diff=evil\n');
  mkdirSync(join(directory, 'info'), { recursive: true });
  writeFileSync(join(directory, 'info', 'attributes'), '* filter=evil diff=evil\n');
  const included = join(directory, 'included');
  writeFileSync(included, `[core]\n\tfsmonitor = ${marks.program('included')}\n`);
  set('include.path', included);
}

function hooksOf(directory: string): string {
  mkdirSync(join(directory, 'hooks'), { recursive: true });
  return join(directory, 'hooks');
}

interface World {
  readonly origin: string;
  readonly copies: string;
  readonly marks: Marks;
}

function world(): World {
  const folder = newFolder('hostile');
  const origin = join(folder, 'flags.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
  return { origin, copies: join(folder, 'copies'), marks: new Marks() };
}

const refOf = ({ origin }: World) => ({ name: 'flags', git: origin, branch: 'main', programs: OWN_PROGRAMS });
const open = (it: World): Promise<ConfigRepository> => ConfigRepository.open(refOf(it), it.copies);

/** All that servers, tailers and commands do with a repository. */
async function useAll(it: World): Promise<void> {
  const repository = await open(it);
  const wanted = { values: { [`a${NOW}`]: 1 }, message: 'Change it', base: null };
  const { change } = await requestChange(repository, wanted, { author: 'user:alice', key: 'k', nowMs: NOW });
  expect(await new Lander(repository).land([change], NOW)).toEqual([{ change, commit: expect.any(String) }]);
  const [found] = await repository.changes();
  await repository.ancestor(found?.commit ?? '', await repository.head());
  expect(await repository.log(5)).toHaveLength(1);
  expect(await tail(repository, new MemoryStore(() => NOW), 10)).toMatchObject({ applied: 1 });
}

describe('no program that a repository names runs on the machine that reads it:', () => {
  test('not those of the repository elsewhere', async () => {
    const it = world();
    plantIn(it.origin, it.marks, it.origin);
    await useAll(it);
    expect(it.marks.left()).toEqual([]);
  });

  test('not those of a copy, whose settings are ours', async () => {
    const it = world();
    await open(it);
    plantIn(locateCopy(refOf(it), it.copies), it.marks, it.origin);
    await useAll(it);
    expect(it.marks.left()).toEqual([]);
  });

  test('hooks of an unpacked checkout do not run, even if its commit has to be fetched first', async () => {
    const it = world();
    const folder = newFolder('checkout');
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', folder]);
    const own = join(folder, '.git');
    plantIn(own, it.marks, it.origin);
    git(own, 'config', 'core.repositoryFormatVersion', '1');
    git(own, 'config', 'extensions.partialClone', 'evil');
    writeFileSync(join(own, 'HEAD'), `${'a'.repeat(40)}\n`);
    const asked: string[] = [];
    const ask = (commit: string): Promise<string> => (asked.push(commit), Promise.resolve(commit));
    await findBasis(folder, { repository: 'flags', given: undefined }, ask);
    expect(it.marks.left()).toEqual([]);
  });

  test.each(['--upload-pack', '--receive-pack', '-c', 'ext::', 'evil::'])(
    'not one that an address names by %s',
    async (start) => {
      const it = world();
      const program = it.marks.program('address');
      const address = start.startsWith('-') ? `${start}=${program}` : `${start}${program}`;
      const repository = await ConfigRepository.open({ ...refOf(it), git: address }, it.copies);
      await expect(repository.head()).rejects.toMatchObject({ code: expect.stringMatching(/^config-repository-/) });
      await expect(repository.push('a'.repeat(40), 'refs/heads/main', '')).rejects.toMatchObject({
        code: expect.stringMatching(/^config-repository-/),
      });
      expect(it.marks.left()).toEqual([]);
    },
  );
});

type Entry = readonly [mode: string, name: string, holds: 'blob' | readonly Entry[]];

/** A commit of a tree as no git would make it. */
function commitByHand(origin: string, entries: readonly Entry[]): string {
  const write = (type: string, bytes: Buffer | string): string =>
    execFileSync('git', ['--git-dir', origin, 'hash-object', '-t', type, '--literally', '-w', '--stdin'], {
      input: bytes,
      encoding: 'utf8',
    }).trim();
  const treeOf = (all: readonly Entry[]): string => {
    const rows = all.map(([mode, name, holds]) => {
      const id = holds === 'blob' ? write('blob', '"/etc/passwd"') : treeOf(holds);
      return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
    });
    return write('tree', Buffer.concat(rows));
  };
  const who = 'mallory <m@example.com> 1700000000 +0000';
  return write('commit', `tree ${treeOf(entries)}\nauthor ${who}\ncommitter ${who}\n\nBy hand\n`);
}

test.each([
  ['a link that leads out', [['120000', 'out.json', 'blob']]],
  ['a folder of values that is a link', [['120000', 'values', 'blob']]],
  ['another repository', [['160000', 'sub.json', 'blob']]],
  ['the name ..', [['40000', '..', [['100644', 'out.json', 'blob']]]]],
  ['the name .git', [['40000', '.git', [['100644', 'config.json', 'blob']]]]],
  ['the name .git in a folder', [['40000', 'a', [['40000', '.git', [['100644', 'config.json', 'blob']]]]]]],
  ['a line break in a name', [['100644', 'a\nb.json', 'blob']]],
  ['a name like an option', [['100644', '--output=x.json', 'blob']]],
  ['settings of git', [['100644', '.gitattributes', 'blob']]],
] as const)('a tree with %s brings nothing to hosts, and does not land', async (_what, entries) => {
  const it = world();
  const commit = commitByHand(it.origin, entries);
  for (const ref of ['refs/heads/main', 'refs/changes/1']) git(it.origin, 'update-ref', ref, commit);
  const repository = await open(it);
  const applied: unknown[] = [];
  const store = new MemoryStore(() => NOW);
  const spied = Object.assign(Object.create(store) as MemoryStore, {
    apply: (name: string, stored: StoredCommit) => (applied.push(...stored.values), store.apply(name, stored)),
  });
  expect(await tail(repository, spied, 10)).toMatchObject({ applied: 1 });
  expect(applied).toEqual([]);
  git(it.origin, 'update-ref', '-d', 'refs/heads/main');
  expect(await new Lander(repository).land([1], NOW)).toEqual([
    { change: 1, refused: expect.objectContaining({ code: 'config-file-unusable' }) },
  ]);
  expect(readdirSync(join(it.copies, '..')).sort()).toEqual(['copies', 'flags.git']);
});

test('a value that is a link stays where it is: hosts do not get it, and a change lands without it', async () => {
  const it = world();
  const commit = commitByHand(it.origin, [['40000', 'values', [['120000', 'out.json', 'blob']]]]);
  git(it.origin, 'update-ref', 'refs/changes/1', commit);
  const repository = await open(it);
  expect(await new Lander(repository).land([1], NOW)).toEqual([{ change: 1, commit: expect.any(String) }]);
  expect(git(it.origin, 'ls-tree', '-r', 'main')).toBe('');
});

function onlyRefused(error: unknown): void {
  expect((error as { readonly code?: unknown }).code).toMatch(/^config-/);
}

describe('a copy is of this user alone:', () => {
  test('no other user of the machine may look into it or change it', async () => {
    const it = world();
    const before = process.umask(0);
    try {
      await open(it);
    } finally {
      process.umask(before);
    }
    expect(statSync(locateCopy(refOf(it), it.copies)).mode & 0o077).toBe(0);
  });

  test('a link in its place is refused', async () => {
    const it = world();
    await open(it);
    const copy = locateCopy(refOf(it), it.copies);
    renameSync(copy, `${copy}.theirs`);
    execFileSync('ln', ['-s', `${copy}.theirs`, copy]);
    await expect(open(it)).rejects.toMatchObject({ code: 'config-repository-unusable' });
    expect(lstatSync(copy).isSymbolicLink()).toBe(true);
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot(
    'one that another user has put there is refused, and so is a repository of theirs on this machine',
    async () => {
      const it = world();
      await open(it);
      const copy = locateCopy(refOf(it), it.copies);
      chownSync(copy, 65_534, 65_534);
      await expect(open(it)).rejects.toMatchObject({
        code: 'config-repository-unusable',
        message: expect.stringContaining('belongs to another user'),
      });
      rmSync(copy, { recursive: true });
      plantIn(it.origin, it.marks, it.origin);
      execFileSync('chown', ['-R', '65534:65534', it.origin]);
      await (await open(it)).head().catch(onlyRefused);
      expect(it.marks.left()).toEqual([]);
    },
  );
});
