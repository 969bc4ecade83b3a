import { existsSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { basename } from 'node:path';
import { HOSTS_LIMITS } from '../../domain/limits';
import { Packages } from '../../push-types/hosts/packages';
import { FakePackages, packTar, type PackedEntry } from '../builders/fakeHosts';

/** Packages are looked through before they go to hosts. */

let packages: FakePackages;
let source: Packages;
beforeEach(() => {
  packages = new FakePackages(['v1', 'v2']);
  source = new Packages({ from: packages.from, folder: packages.cache, timeoutMs: 1000, digests: {} });
});
afterEach(() => packages.close());

describe('a package is refused before a host has a byte of it', () => {
  test.each<[string, readonly PackedEntry[], string]>([
    ['a path with ..', [{ path: 'a/../../x' }], 'leads out of the package'],
    ['an absolute path', [{ path: '/etc/passwd' }], 'leads out of the package'],
    ['a link out of it', [{ path: 'bin/x', type: '2', link: '../../etc/passwd' }], 'out of the package'],
    ['an absolute link', [{ path: 'x', type: '2', link: '/etc/passwd' }], 'out of the package'],
    [
      'a link that leaves by another link',
      [
        { path: 'a/b', type: '2', link: '..' },
        { path: 'l', type: '2', link: 'a/b/../..' },
      ],
      'out of the package',
    ],
    ['a file behind a link', [{ path: 'x', type: '2', link: 'y' }, { path: 'x/z' }], 'is behind a link'],
    ['a hard link out of it', [{ path: 'x', type: '1', link: '../y' }], 'is a link out of the package'],
    ['a device', [{ path: 'null', type: '3' }], 'is a device'],
    ['a pipe', [{ path: 'pipe', type: '6' }], 'is a device'],
    ['a program with other rights', [{ path: 'x', mode: 0o4755 }], 'takes the rights of its owner'],
    [
      'a long name with ..',
      [{ path: '././@LongLink', type: 'L', text: '../x\0' }, { path: 'x' }],
      'leads out of the package',
    ],
    [
      'an extended header with ..',
      [{ path: 'pax', type: 'x', text: '13 path=../x\n' }, { path: 'x' }],
      'leads out of the package',
    ],
    ['the folder of the record', [{ path: '.conveyor-digest' }], 'has a name that Conveyor uses itself'],
    ['no files', [], 'it is no tar archive with files'],
    ...['1', '2', '5'].map((type): [string, readonly PackedEntry[], string] => [
      `an entry of the type ${type} that hides others in its content`,
      [{ path: 'x' }, { path: 'y', type, link: 'x', text: packTar([{ path: '../evil' }]).toString('latin1') }],
      'is no file, and has 1536 bytes',
    ]),
  ])('with %s', async (_, entries, reason) => {
    packages.add('bad', packTar(entries));
    await source.learn('bad', undefined);
    await expect(source.get('bad')).rejects.toThrow(reason);
  });

  test.each([
    [
      'that has other entries after its end',
      (bytes: Buffer) => Buffer.concat([bytes, packTar([{ path: 'evil', mode: 0o4755 }])]),
      'it has bytes after its end',
    ],
    ['that is cut', (bytes: Buffer) => bytes.subarray(0, 700), 'it ends in the middle'],
    ['that is no archive', () => Buffer.alloc(2048, 'x'), 'it is no tar archive'],
  ])('%s', async (_, spoil, reason) => {
    packages.add('bad', spoil(packTar([{ path: 'x', text: 'hello' }])));
    await source.learn('bad', undefined);
    await expect(source.get('bad')).rejects.toThrow(reason);
  });

  test('whose digest is not that of its release, or is none', async () => {
    const given = `sha256:${'1'.repeat(64)}`;
    await source.learn('v1', given);
    await expect(source.get('v1')).rejects.toThrow(`not ${given}`);
    await expect(source.learn('nothing', undefined)).rejects.toThrow('there is no digest at');
    await expect(source.learn('v2', 'md5:1')).rejects.toThrow('not a sha256');
    await expect(source.learn('../v2', undefined)).rejects.toThrow('is no name for a folder');
  });

  test('but links and long names inside of it are fine', async () => {
    const entries = [
      { path: 'lib/', type: '5' },
      { path: 'lib/x.so.1' },
      { path: 'lib/x.so', type: '2', link: 'x.so.1' },
      { path: 'bin/x', type: '2', link: '../lib/x.so' },
      { path: 'same', type: '1', link: 'lib/x.so.1' },
      { path: '././@LongLink', type: 'L', text: `${'d/'.repeat(80)}x\0` },
      { path: 'd/x' },
    ];
    packages.add('good', packTar(entries));
    await source.learn('good', undefined);
    expect((await source.get('good')).digest).toBe(source.digest('good'));
  });
});

describe('fetched packages', () => {
  test('are kept for the last versions alone, also those of a process before', async () => {
    const { max } = HOSTS_LIMITS.packagesKept;
    const versions = Array.from({ length: max + 2 }, (_, nth) => `w${nth}`);
    for (const version of versions) {
      packages.add(version, packTar([{ path: 'VERSION', text: version }]));
      await source.learn(version, undefined);
    }
    const [first = '', ...others] = versions;
    const start = Date.now() - 1_000_000;
    for (const [nth, version] of [...others.slice(0, max - 1), first].entries())
      utimesSync((await source.get(version)).file, new Date(start + nth * 1000), new Date(start + nth * 1000));
    const later = new Packages({
      from: packages.from,
      folder: packages.cache,
      timeoutMs: 1000,
      digests: digestsOf(versions),
    });
    const last = versions.at(-1) ?? '';
    const { file } = await later.get(last);
    const left = readdirSync(packages.cache);
    expect(left).toHaveLength(max);
    expect(left).toContain(basename(file));
    expect(left).toContain(`${source.digest(first)?.slice('sha256:'.length)}.tar`);
    expect(left).not.toContain(`${source.digest(others[0] ?? '')?.slice('sha256:'.length)}.tar`);
  });

  const digestsOf = (versions: readonly string[]): Record<string, string> =>
    Object.fromEntries(versions.map((version) => [version, source.digest(version) ?? '']));

  test('are fetched again if another has deleted their file', async () => {
    await source.learn('v1', undefined);
    const { file } = await source.get('v1');
    rmSync(file);
    expect(existsSync((await source.get('v1')).file)).toBe(true);
  });
});
