import { readFileSync, writeFileSync } from 'node:fs';
import { noBits, setBit } from '../../../configerator/domain/vessel/bits';
import type { PieceDisk } from '../../../configerator/vessel/disk';
import type { PieceProvider } from '../../../configerator/vessel/peerApp';
import { eventually } from '../../system/waiting';
import { versionOf } from '../storeSuite';
import { FEED, PIECE, VesselWorld, type Host } from './vesselWorld';

let world: VesselWorld;
beforeEach(() => (world = new VesselWorld()));
afterEach(() => world.close());

async function hosts(count: number, region?: string): Promise<Host[]> {
  const all: Host[] = [];
  for (let at = 1; at <= count; at += 1)
    all.push(await world.host(`${region ?? 'h'}${at}`, region ? { labels: { region } } : {}));
  return all;
}

const ask = (all: readonly Host[]): Promise<unknown> => Promise.all(all.map(({ proxy }) => proxy.ask(FEED)));

test('hosts get a package from each other: the source serves each piece a few times, however many there are', async () => {
  const { pack, source } = await world.published(20 * PIECE + 1);
  await world.commit(pack);
  const all = await hosts(10);
  await ask(all);
  await Promise.all(all.map((host) => world.whole(host, pack)));
  expect(Math.max(...source.counts)).toBeLessThanOrEqual(2);
  expect(Math.min(...source.counts)).toBeGreaterThanOrEqual(1);
});

test('once hosts have all of it the source may go: who comes later gets it from them', async () => {
  const { pack, stop } = await world.published(9 * PIECE);
  await world.commit(pack);
  const [first] = await hosts(1);
  await ask([first!]);
  await world.whole(first!, pack);
  stop();
  const late = await world.host('late');
  await ask([late]);
  await world.whole(late, pack);
});

test('two hosts that have halves of it complete each other when the source is gone', async () => {
  const { pack, data, stop } = await world.published(8 * PIECE);
  stop();
  await world.commit(pack);
  const half = (parity: number): PieceProvider => {
    const have = noBits(8);
    for (let piece = parity; piece < 8; piece += 2) setBit(have, piece, true);
    return {
      getBits: () => ({ pieces: 8, have }),
      read: async (_, piece) => data.subarray(piece * PIECE, (piece + 1) * PIECE),
    };
  };
  const version = versionOf(JSON.stringify(pack));
  await world.peer('even', version, half(0));
  await world.peer('odd', version, half(1));
  const host = await world.host('h1');
  await ask([host]);
  await world.whole(host, pack);
});

describe('a peer that does wrong costs time and nothing else', () => {
  const claims = (pieces: number, read: PieceProvider['read']): PieceProvider => {
    const have = noBits(pieces);
    for (let piece = 0; piece < pieces; piece += 1) setBit(have, piece, true);
    return { getBits: () => ({ pieces, have }), read };
  };

  test.each<[string, PieceProvider['read']]>([
    ['sends other bytes', async () => Buffer.alloc(PIECE, 7)],
    ['sends too few', async () => Buffer.alloc(3)],
    ['sends too many', async () => Buffer.alloc(PIECE * 1000)],
    ['says that it has what it has not', async () => undefined],
    ['breaks', () => Promise.reject(new Error('it is broken'))],
    ['never answers', () => new Promise(() => undefined)],
  ])('one that %s', async (_, read) => {
    const { pack } = await world.published(12 * PIECE);
    await world.commit(pack);
    const version = versionOf(JSON.stringify(pack));
    await world.peer('bad', version, claims(12, read));
    const host = await world.host('h1');
    await ask([host]);
    await world.whole(host, pack);
  });

  test('a lying peer is dropped, and its pieces are passed on to no other', async () => {
    const { pack } = await world.published(12 * PIECE);
    await world.commit(pack);
    let asked = 0;
    const lies = claims(12, async () => {
      asked += 1;
      return Buffer.alloc(PIECE);
    });
    await world.peer('liar', versionOf(JSON.stringify(pack)), lies);
    const all = await hosts(2);
    await ask(all);
    await Promise.all(all.map((host) => world.whole(host, pack)));
    // Two requests are under way at once before the first of them shows what it is.
    expect(asked).toBeLessThanOrEqual(4);
  });

  test('one that is gone', async () => {
    const { pack } = await world.published(6 * PIECE);
    await world.commit(pack);
    const gone = { host: 'gone', path: FEED, version: versionOf(JSON.stringify(pack)), revision: null, commit: 'c1' };
    await world.store.acknowledge('flags', { ...gone, peer: 'http://127.0.0.1:9', at: 0 }, 60);
    const host = await world.host('h1');
    await ask([host]);
    await world.whole(host, pack);
  });
});

test('a file that was changed after it was published reaches no host, and the host shows the file that it waits for', async () => {
  const { pack, file } = await world.published(3 * PIECE);
  writeFileSync(file, Buffer.alloc(3 * PIECE));
  await world.commit(pack);
  const host = await world.host('h1');
  await ask([host]);
  await eventually('it says what is missing', async () => {
    world.aheadMs += 5000;
    return /^3 of 3 pieces are missing/.test(host.vessel.status(FEED).trouble ?? '');
  });
  expect(host.vessel.status(FEED)).toMatchObject({ have: 0 });
});

test('a disk that is full costs time: the host says so, and continues when there is room', async () => {
  const { pack } = await world.published(6 * PIECE);
  await world.commit(pack);
  let isFull = true;
  const disk = (it: PieceDisk): PieceDisk => ({
    ...it,
    writePart: (...args) =>
      isFull ? Promise.reject(new Error('ENOSPC: no space left on device')) : it.writePart(...args),
  });
  const host = await world.host('h1', { disk });
  await ask([host]);
  await eventually('it says so', async () => /ENOSPC/.test(host.vessel.status(FEED).trouble ?? ''));
  isFull = false;
  await world.whole(host, pack);
  expect(world.notes.filter((line) => line.includes('ENOSPC'))).toHaveLength(1);
});

test('a piece that the disk has lost or changed is fetched again, and never passed on', async () => {
  const { pack, data } = await world.published(6 * PIECE);
  await world.commit(pack);
  const host = await world.host('h1');
  await ask([host]);
  await world.whole(host, pack);
  const { file } = host.vessel.status(FEED);
  writeFileSync(file!, Buffer.concat([Buffer.alloc(PIECE), data.subarray(PIECE)]));
  expect(await host.vessel.read(pack.digest, 0)).toBeUndefined();
  await eventually('it is whole again', async () => readFileSync(file!).equals(data));
});

test('a host that starts again continues with the pieces on its disk', async () => {
  const { pack, source, stop } = await world.published(10 * PIECE);
  await world.commit(pack);
  const writes: number[] = [];
  const disk = (it: PieceDisk): PieceDisk => ({
    ...it,
    writePart: (name, at, bytes) => {
      writes.push(at);
      return writes.length > 4 ? Promise.reject(new Error('killed')) : it.writePart(name, at, bytes);
    },
  });
  const before = await world.host('h1', { disk });
  await ask([before]);
  await eventually('it has four', async () => before.vessel.status(FEED).have === 4);
  await before.close();
  const onDisk = writes.slice(0, 4).map((at) => at / PIECE);
  const asked = onDisk.map((piece) => source.counts[piece]);
  const fetched: number[] = [];
  const after = await world.host('h1', {
    disk: (it) => ({
      ...it,
      writePart: (name, at, bytes) => {
        fetched.push(at / PIECE);
        return it.writePart(name, at, bytes);
      },
    }),
  });
  await world.whole(after, pack);
  // For the other pieces the source may count a request that was under way when the host was killed.
  expect(onDisk.map((piece) => source.counts[piece])).toEqual(asked);
  const missing = pack.pieces.map((_, piece) => piece).filter((piece) => !onDisk.includes(piece));
  expect(fetched.sort((a, b) => a - b)).toEqual(missing);
  stop();
});

test('the configuration says which version: a later publication replaces one under way', async () => {
  const [old, young] = [await world.published(5 * PIECE, 1), await world.published(5 * PIECE, 2)];
  await world.commit(old.pack);
  const host = await world.host('h1');
  await ask([host]);
  await world.whole(host, old.pack);
  await world.expose(young.pack, ['h1']);
  await world.whole(host, young.pack);
  await world.withdraw();
  await eventually('it is to have the old one', async () => host.vessel.status(FEED).package?.version === 1);
  old.stop();
  await world.whole(host, old.pack);
});

test('hosts fetch two versions of a package beside each other, each its own', async () => {
  const [old, young] = [await world.published(8 * PIECE, 1), await world.published(8 * PIECE, 2)];
  await world.commit(old.pack);
  await world.expose(young.pack, ['h1', 'h2']);
  const all = await hosts(4);
  await ask(all);
  await Promise.all(all.map((host, at) => world.whole(host, at < 2 ? young.pack : old.pack)));
});

test('old packages make room for new ones, but for those that applications still live on', async () => {
  const [a, b, c] = [
    await world.published(4 * PIECE),
    await world.published(4 * PIECE),
    await world.published(4 * PIECE),
  ];
  await world.commit(a.pack);
  const host = await world.host('h1', { mostBytes: 9 * PIECE });
  await ask([host]);
  await world.whole(host, a.pack);
  host.vessel.report({ path: FEED, version: host.vessel.status(FEED).version, app: 'ranker', state: 'ready' });
  await world.commit(b.pack);
  await world.whole(host, b.pack);
  await world.commit(c.pack);
  await world.whole(host, c.pack);
  expect([a, b, c].map(({ pack }) => host.vessel.getBits(pack.digest) !== undefined)).toEqual([true, false, true]);
});

test('a package that has no room is refused by no one: the host waits, and says why', async () => {
  const { pack } = await world.published(4 * PIECE);
  await world.commit(pack);
  const host = await world.host('h1', { mostBytes: 3 * PIECE });
  await ask([host]);
  await eventually('it says so', async () =>
    /there is no room: 4000 bytes do not fit/.test(host.vessel.status(FEED).trouble ?? ''),
  );
  await world.acknowledgedAs({ h1: 'loading: no application has loaded it yet' });
});
