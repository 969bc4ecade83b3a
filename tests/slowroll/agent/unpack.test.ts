import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { inspectTar } from '../../../push-types/hosts/tarEntries';
import { unpackArchive } from '../../../push-types/slowroll/agent/unpack';
import { packTar } from '../../builders/fakeHosts';
import { collectGarbage } from '../../builders/garbage';
import { eventually } from '../../system/waiting';

/** An archive on its way to the disk. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conveyor-unpack-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => join(folder, 'releases', ...names);
const unpack = async (bytes: Buffer, limits: { mostBytes?: number; mostEntries?: number } = {}): Promise<void> => {
  const archive = join(folder, 'archive');
  writeFileSync(archive, bytes);
  if (!existsSync(at())) mkdirSync(at());
  await unpackArchive({ archive, into: at('v1'), ...limits });
};
type Entries = Parameters<typeof packTar>[0];
const pack = (entries: Entries): Buffer => gzipSync(packTar(entries));

test('an archive becomes the files that it contains', async () => {
  const long = `${'d/'.repeat(80)}x`;
  await unpack(
    pack([
      { path: './', type: '5' },
      { path: './bin/', type: '5' },
      { path: './bin/run', text: '#!/bin/sh\n', mode: 0o755 },
      { path: 'data/empty' },
      { path: 'data/big', text: 'abc'.repeat(100_000) },
      { path: 'bin/start', type: '2', link: 'run' },
      { path: 'same', type: '1', link: 'data/big' },
      { path: '././@LongLink', type: 'L', text: `${long}\0` },
      { path: 'cut', text: 'long' },
    ]),
  );
  expect(readdirSync(at('v1')).sort()).toEqual(['bin', 'd', 'data', 'same']);
  expect(readFileSync(at('v1/data/big'), 'utf8')).toBe('abc'.repeat(100_000));
  expect(readFileSync(at('v1', long), 'utf8')).toBe('long');
  expect(readlinkSync(at('v1/bin/start'))).toBe('run');
  expect(statSync(at('v1/same')).ino).toBe(statSync(at('v1/data/big')).ino);
  expect(statSync(at('v1/bin/run')).mode & 0o777).toBe(0o755);
  expect(statSync(at('v1/data/empty')).size).toBe(0);
});

test('programs lose setuid and setgid, and files the right of others to write', async () => {
  await unpack(
    pack([
      { path: 'su', mode: 0o6777 },
      { path: 'none', mode: 0 },
    ]),
  );
  expect(statSync(at('v1/su')).mode & 0o7777).toBe(0o755);
  expect(statSync(at('v1/none')).mode & 0o7777).toBe(0o600);
});

test('an entry that comes twice is the last of both, and a file that replaces a link is not written through it', async () => {
  await unpack(
    pack([
      { path: 'kept', text: 'first' },
      { path: 'link', type: '2', link: 'kept' },
      { path: 'link', text: 'second' },
      { path: 'twice', text: 'first' },
      { path: 'twice', text: 'second' },
    ]),
  );
  expect(['kept', 'link', 'twice'].map((name) => readFileSync(at('v1', name), 'utf8'))).toEqual([
    ...['first', 'second', 'second'],
  ]);
});

describe('an archive leaves nothing behind', () => {
  afterEach(() => expect(readdirSync(folder).sort()).toEqual(['archive', 'releases']));
  afterEach(() => expect(readdirSync(at())).toEqual([]));

  test.each<[string, Buffer, string]>([
    ['with a path that has ..', pack([{ path: 'a/../../x' }]), 'leads out of the package'],
    ['with an absolute path', pack([{ path: '/etc/x' }]), 'leads out of the package'],
    ['with a link out of it', pack([{ path: 'x', type: '2', link: '../..' }]), 'out of the package'],
    ['with an absolute link', pack([{ path: 'x', type: '2', link: '/etc' }]), 'out of the package'],
    ['with a file behind a link', pack([{ path: 'x', type: '2', link: 'y' }, { path: 'x/z' }]), 'is behind a link'],
    [
      'with a hard link out of it',
      pack([{ path: 'x', type: '1', link: '../archive' }]),
      'is a link out of the package',
    ],
    ['with a hard link to nothing', pack([{ path: 'x', type: '1', link: 'y' }]), 'is no file of the package'],
    [
      'with a hard link behind a link',
      pack([{ path: 'd/x' }, { path: 'l', type: '2', link: 'd' }, { path: 'y', type: '1', link: 'l/x' }]),
      'is no file of the package',
    ],
    ['with a device', pack([{ path: 'null', type: '3' }]), 'is a device'],
    ['with a pipe', pack([{ path: 'pipe', type: '6' }]), 'is a device'],
    ['with a file that is a folder too', pack([{ path: 'a/b' }, { path: 'a' }]), 'is a folder and something else'],
    ['without files', pack([]), 'no tar archive with files'],
    ['that is cut', gzipSync(packTar([{ path: 'x', text: 'y'.repeat(1000) }]).subarray(0, 900)), 'ends in the middle'],
    ['whose compression is cut', pack([{ path: 'x', text: 'y' }]).subarray(0, 40), 'is no gzip archive, or damaged'],
    ['that is no archive', Buffer.alloc(2048, 'x'), 'is no gzip archive, or damaged'],
    ['that is text', gzipSync(Buffer.alloc(2048, 'x')), 'is no tar archive'],
  ])('%s', async (_, bytes, reason) => {
    await expect(unpack(bytes)).rejects.toThrow(reason);
  });

  test('that is small and unpacks to more than the limit', async () => {
    const bomb = pack([{ path: 'zeros', text: '\0'.repeat(3_000_000) }]);
    expect(bomb.length).toBeLessThan(10_000);
    await expect(unpack(bomb, { mostBytes: 1_000_000 })).rejects.toThrow('more than 1000000 bytes unpacked');
  });

  test('with more files than the limit', async () => {
    const many = Array.from({ length: 20 }, (_, n) => ({ path: `f${n}` }));
    await expect(unpack(pack(many), { mostEntries: 19 })).rejects.toThrow('more than 19 files');
  });
});

test('bytes after the end of an archive take no memory', async () => {
  const inspector = inspectTar({ mostEntries: 10 });
  inspector.take(packTar([{ path: 'x' }]));
  const before = countHeld();
  for (let nth = 0; nth < 60; nth += 1) inspector.take(Buffer.alloc(1_000_000, 0));
  // The engine gives memory back beside the program.
  await eventually('the bytes are gone', async () => countHeld() - before < 10_000_000, 10_000);
  expect(() => inspector.end()).not.toThrow();
});

/** Bytes of buffers that are in use, without those that wait for the collector. */
function countHeld(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
