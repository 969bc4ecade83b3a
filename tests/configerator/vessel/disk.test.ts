import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeWhole, type PieceDisk } from '../../../configerator/vessel/disk';
import type { Package } from '../../../configerator/domain/vessel/package';
import { eventually } from '../../system/waiting';
import { FEED, PIECE, VesselWorld } from './vesselWorld';

const flipped = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte, at) => (at === PIECE ? byte ^ 1 : byte)));
const NOWHERE = { commit: null, override: null, sequence: 0 };
let world: VesselWorld;
beforeEach(() => (world = new VesselWorld()));
afterEach(() => world.close());

test.each<[string, (file: string) => void]>([
  ['cut off', (file) => truncateSync(file, PIECE)],
  ['removed', (file) => rmSync(file)],
  ['changed by a bit', (file) => writeFileSync(file, flipped(readFileSync(file)))],
  ['replaced', (file) => (rmSync(file), writeFileSync(file, Buffer.alloc(6 * PIECE)))],
])('a file of a package that was %s is repaired, although no process reads it', async (_, damage) => {
  const { pack, data } = await world.published(6 * PIECE);
  await world.commit(pack);
  const host = await world.host('h1', { recheckMs: 10 });
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  const { file } = host.vessel.status(FEED);
  damage(file!);
  await eventually('it is whole again', async () => readFileSync(file!).equals(data));
});

test('an unchanged file is not read again', async () => {
  const { pack } = await world.published(6 * PIECE);
  await world.commit(pack);
  let reads = 0;
  let looks = 0;
  const host = await world.host('h1', {
    recheckMs: 5,
    disk: (it) => ({
      ...it,
      readPart: (...part) => ((reads += 1), it.readPart(...part)),
      readStamp: (name) => ((looks += 1), it.readStamp(name)),
    }),
  });
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  const [before, from] = [reads, looks];
  await eventually('it was looked at', async () => looks > from + 3);
  expect(reads).toBe(before);
});

/** A disk that takes so many bytes at a time, and none once it is full. */
const diskOf = (atOnce: number, most: number) => {
  const taken = Buffer.alloc(most);
  let full = 0;
  const write = async (bytes: Uint8Array, from: number, length: number, at: number) => {
    const bytesWritten = Math.min(length, atOnce, most - full);
    taken.set(bytes.subarray(from, from + bytesWritten), at);
    full += bytesWritten;
    return { bytesWritten, buffer: bytes };
  };
  return { file: { write } as unknown as Parameters<typeof writeWhole>[0], taken };
};

test('all of a piece is written, however little the disk takes at a time', async () => {
  const { file, taken } = diskOf(3, 12);
  await writeWhole(file, Buffer.from('0123456789'), 2);
  expect(taken.subarray(2).toString()).toBe('0123456789');
});

test('a disk that takes only a part of a piece counts as full', async () => {
  const { file } = diskOf(8, 8);
  await expect(writeWhole(file, Buffer.from('0123456789'), 0)).rejects.toThrow('it took 8 of 10 bytes');
});

/** A package that only one host has on its disk. */
async function keptOnDisk() {
  const { pack, data, stop } = await world.published(6 * PIECE);
  await world.commit(pack);
  const first = await world.host('h1');
  await first.proxy.ask(FEED);
  await world.whole(first, pack);
  await first.close();
  stop();
  return { pack, data, first };
}

test('a disk that says nothing at the start loses no package', async () => {
  const { pack, data } = await keptOnDisk();
  let failures = 1;
  const list = async (it: PieceDisk): Promise<readonly string[]> => {
    if ((failures -= 1) >= 0) throw new Error('EMFILE: too many open files');
    return it.list();
  };
  const host = await world.host('h1', { disk: (it) => ({ ...it, list: () => list(it) }) });
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  expect(readFileSync(host.vessel.status(FEED).file!).equals(data)).toBe(true);
  expect(world.notes.join()).toContain('EMFILE');
});

test('a package that the disk cannot read at the start, nor remove, is there again once it is wanted', async () => {
  const { pack, data, first } = await keptOnDisk();
  const folder = dirname(first.vessel.status(FEED).file!);
  const [stray, broken] = ['a', 'b'].map((digit) => join(folder, `${digit.repeat(64)}.data`));
  for (const file of [stray!, broken!]) writeFileSync(file, 'x');
  writeFileSync(broken!.replace('.data', '.json'), '{');
  const read = async (it: PieceDisk, name: string): Promise<string> => {
    if (name.startsWith(pack.digest.slice(0, 12))) throw new Error('EMFILE: too many open files');
    return it.read(name);
  };
  const remove = async (it: PieceDisk, name: string): Promise<void> => {
    if (name === basename(stray!)) throw new Error('EBUSY: resource busy');
    return it.remove(name);
  };
  const disk = (it: PieceDisk): PieceDisk => ({
    ...it,
    read: (name) => read(it, name),
    remove: (name) => remove(it, name),
  });
  const host = await world.host('h1', { disk });
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  expect(readFileSync(host.vessel.status(FEED).file!).equals(data)).toBe(true);
  expect([existsSync(stray!), existsSync(broken!)]).toEqual([true, false]);
  expect(world.notes.filter((note) => /EMFILE|EBUSY/.test(note))).toHaveLength(2);
});

test('a package that the configuration no longer names once the slow disk has room for it is not fetched', async () => {
  let go = (): void => undefined;
  const slow = new Promise<void>((resolve) => (go = resolve));
  const first = await world.published(3 * PIECE);
  const host = await world.host('h1', {
    disk: (it) => ({ ...it, write: async (...file) => (await slow, it.write(...file)) }),
  });
  const wants = (version: string, pack?: Package): void =>
    host.vessel.setWanted({ path: FEED, value: pack ? JSON.stringify(pack) : null, version, ...NOWHERE });
  wants('v1', first.pack);
  wants('');
  go();
  const second = await world.published(3 * PIECE, 2);
  wants('v2', second.pack);
  await world.whole(host, second.pack);
  expect(first.source.counts).toEqual([0, 0, 0]);
});
