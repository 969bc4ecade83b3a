import { randomBytes } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describePackage } from '../../configerator/vessel/source';
import { modelPackageKey } from '../../sdk/modelKey';
import {
  watchModel,
  type ModelTrouble,
  type ModelUse,
  type WatchedModel,
  type WatchModelOptions,
} from '../../sdk/model';
import { FEED, PIECE, VesselWorld, type Host } from '../configerator/vessel/vesselWorld';
import { eventually } from '../system/waiting';

const BYTES = 6 * PIECE + 1;

let world: VesselWorld;
let host: Host;
let url: string;
const watching: WatchedModel[] = [];

beforeEach(async () => {
  world = new VesselWorld();
  host = await world.host('h1');
  ({ url } = await world.door(host));
});
afterEach(async () => {
  for (const one of watching.splice(0)) one.close();
  await world.close();
});

/** An application that keeps its model in one place. */
function application(use: Partial<ModelUse> = {}, options: WatchModelOptions = {}) {
  const memory = Buffer.alloc(BYTES);
  const ready: number[] = [];
  const troubles: ModelTrouble[] = [];
  const watched = watchModel(
    FEED,
    {
      merge: ({ offset, bytes }) => void memory.set(bytes, offset),
      onReady: ({ number }) => void ready.push(number),
      ...use,
    },
    { url, app: 'ranker', retryMs: 10, onTrouble: (trouble) => void troubles.push(trouble), ...options },
  );
  watching.push(watched);
  const lives = (number: number): Promise<unknown> =>
    eventually(`it lives on ${number}`, async () => watched.live()?.number === number);
  return { memory, ready, troubles, watched, lives };
}

test('an application gets a model piece by piece, in order, and is live once all of it is merged and checked', async () => {
  const { pack, data } = await world.published(BYTES);
  await world.commit(pack);
  const indexes: number[] = [];
  const memory = Buffer.alloc(BYTES);
  const app = application({
    merge: ({ index, offset, bytes }) => {
      indexes.push(index);
      memory.set(bytes, offset);
    },
  });
  expect(await app.watched.first).toMatchObject({ path: FEED, number: 1, digest: pack.digest, pieces: 7 });
  expect(indexes).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(memory.equals(data)).toBe(true);
  await world.acknowledgedAs({ h1: 'live' });
});

test('a host is not live while an application is still merging', async () => {
  const { pack } = await world.published(BYTES);
  await world.commit(pack);
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const app = application({ merge: ({ index }) => (index === 3 ? held : undefined) });
  await world.acknowledgedAs({ h1: 'loading: ranker loads it' });
  expect(app.watched.live()).toBeUndefined();
  go();
  await app.watched.first;
  await world.acknowledgedAs({ h1: 'live' });
});

test('a host with two applications is live once both are', async () => {
  const { pack } = await world.published(BYTES);
  await world.commit(pack);
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const quick = application();
  const slow = application({ merge: () => held }, { app: 'shadow' });
  await quick.watched.first;
  await world.acknowledgedAs({ h1: 'loading: shadow loads it' });
  go();
  await slow.watched.first;
  await world.acknowledgedAs({ h1: 'live' });
});

test.each<[string, Partial<ModelUse>, string]>([
  ['that does not fit', { check: ({ number }) => refuse(number === 2, 'it has other layers') }, 'it has other layers'],
  [
    'of which a piece is no use',
    { merge: ({ model, index }) => refuse(model.number === 2 && index === 4, 'NaN in piece 4') },
    'NaN in piece 4',
  ],
  ['that does not work', { onReady: ({ number }) => refuse(number === 2, 'recall is 0') }, 'recall is 0'],
])('a model %s is refused with its reason, and the one before is whole again', async (_, use, reason) => {
  const [good, bad] = [await world.published(BYTES, 1), await world.published(BYTES, 2)];
  await world.commit(good.pack);
  const memory = Buffer.alloc(BYTES);
  const app = application({
    ...use,
    merge: async (piece) => {
      memory.set(piece.bytes, piece.offset);
      await use.merge?.(piece);
    },
  });
  await app.watched.first;
  await world.commit(bad.pack);
  await world.acknowledgedAs({ h1: `refused: ranker: ${reason}` });
  await eventually('the good one is whole', async () => app.watched.live()?.number === 1);
  expect(memory.equals(good.data)).toBe(true);
  expect(app.troubles).toMatchObject([{ kind: 'refused', error: { message: reason } }]);
});

test('a model whose pieces are right and whose digest is not is refused', async () => {
  const [good, odd] = [await world.published(BYTES, 1), await world.published(BYTES, 2)];
  await world.commit(good.pack);
  const app = application();
  await app.watched.first;
  const digest = 'd'.repeat(64);
  const source = await world.sourceOf({ ...odd.pack, digest }, odd.file);
  await world.commit({ ...odd.pack, digest, source });
  const why = `its pieces make a file with the digest ${odd.pack.digest}, not ${digest}`;
  await world.acknowledgedAs({ h1: `refused: config-proxy: the value of ${FEED} is not a valid package: ${why}` });
  await app.lives(1);
  expect(app.memory.equals(good.data)).toBe(true);
});

test('a value that names no package is refused, and the model stays', async () => {
  const { pack } = await world.published(BYTES);
  await world.commit(pack);
  const app = application();
  await app.watched.first;
  await world.commit({ ...pack, pieces: [] });
  await eventually('it is refused', async () => app.troubles.length > 0);
  expect(app.troubles[0]).toMatchObject({ kind: 'refused' });
  expect(app.watched.live()?.number).toBe(1);
  await eventually('the host refuses it', async () => {
    const [{ refused = '' } = {}] = await world.store.subscribers('flags', FEED);
    return /models\/feed is not a valid package/.test(refused);
  });
});

test('an application that fails over a trouble gets the next model all the same', async () => {
  const [odd, good] = [await world.published(BYTES, 1), await world.published(BYTES, 2)];
  await world.commit(odd.pack);
  const told: string[] = [];
  const app = application(
    { check: ({ number }) => refuse(number === 1, 'it has other layers') },
    {
      onTrouble: ({ kind }) => {
        told.push(kind);
        throw new Error('the log is full');
      },
    },
  );
  await eventually('it has said so', async () => told.length > 0);
  await world.commit(good.pack);
  await app.lives(2);
  expect(told).toEqual(['refused']);
});

test('a deploy that is taken back in the middle of a merge leaves the model that was there, whole', async () => {
  const [old, young] = [await world.published(BYTES, 1), await world.published(BYTES, 2)];
  await world.commit(old.pack);
  const memory = Buffer.alloc(BYTES);
  let reached = (): void => undefined;
  const half = new Promise<void>((resolve) => (reached = resolve));
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const app = application({
    merge: async ({ model, index, offset, bytes }) => {
      memory.set(bytes, offset);
      if (model.number !== 2 || index !== 3) return;
      reached();
      await held;
    },
  });
  await app.watched.first;
  await world.expose(young.pack, ['h1']);
  await half;
  await world.withdraw();
  await hears(1);
  go();
  await app.lives(1);
  expect(memory.equals(old.data)).toBe(true);
  expect(app.ready).toEqual([1, 1]);
  await world.acknowledgedAs({ h1: 'live' });
});

test('a model that comes while another one is merged takes its place, and the one in between is never live', async () => {
  const [one, two, three] = [
    await world.published(BYTES, 1),
    await world.published(BYTES, 2),
    await world.published(BYTES, 3),
  ];
  await world.commit(one.pack);
  let reached = (): void => undefined;
  const half = new Promise<void>((resolve) => (reached = resolve));
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const memory = Buffer.alloc(BYTES);
  const app = application({
    merge: async ({ model, index, offset, bytes }) => {
      memory.set(bytes, offset);
      if (model.number !== 2 || index !== 6) return;
      reached();
      await held;
    },
  });
  await app.watched.first;
  await world.commit(two.pack);
  await half;
  await world.commit(three.pack);
  await hears(3);
  go();
  await app.lives(3);
  expect(memory.equals(three.data)).toBe(true);
  expect(app.ready).toEqual([1, 3]);
});

test('the same bytes under a new number are live without a merge', async () => {
  const { pack } = await world.published(BYTES, 1);
  await world.commit(pack);
  const app = application();
  await app.watched.first;
  await world.commit({ ...pack, version: 2 });
  await app.lives(2);
  expect(app.ready).toEqual([1]);
  await world.acknowledgedAs({ h1: 'live' });
});

test('a proxy that goes away in the middle of a model is waited for, and the rest comes from the new one', async () => {
  const { pack, data } = await world.published(BYTES);
  await world.commit(pack);
  const door = await world.door(host);
  let reached = (): void => undefined;
  const half = new Promise<void>((resolve) => (reached = resolve));
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const memory = Buffer.alloc(BYTES);
  const indexes: number[] = [];
  const app = application(
    {
      merge: async ({ index, offset, bytes }) => {
        indexes.push(index);
        memory.set(bytes, offset);
        if (index !== 2) return;
        reached();
        await held;
      },
    },
    { url: door.url },
  );
  await half;
  door.close();
  go();
  await eventually('it says so', async () => app.troubles.some(({ kind }) => kind === 'proxy-away'));
  await world.door(host, door.port);
  await app.watched.first;
  expect(memory.equals(data)).toBe(true);
  expect(indexes).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('applications report again to a proxy that has forgotten them', async () => {
  const { pack } = await world.published(BYTES);
  await world.commit(pack);
  const app = application({}, { repeatMs: 20 });
  await app.watched.first;
  host.vessel.report({ path: FEED, version: host.vessel.status(FEED).version, app: 'ranker', state: 'loading' });
  await world.acknowledgedAs({ h1: 'live' });
});

test('one that is closed before it had a model rejects, and says nothing more', async () => {
  const app = application();
  app.watched.close();
  await expect(app.watched.first).rejects.toThrow('models/feed was closed before it had a model');
});

test('publishing a file publishes its digest, and that of each of its pieces', async () => {
  const { pack, file } = await world.published(randomBytes(2 * PIECE));
  expect(await describePackage(file, { path: FEED, version: 1, source: pack.source, pieceBytes: PIECE })).toEqual(pack);
});

/** Resolves once the application knows that it is to have this one. */
const hears = (number: number): Promise<unknown> =>
  eventually(`the application has been notified of ${number}`, async () => {
    const { package: pack, apps } = host.vessel.status(FEED);
    return pack?.version === number && apps['ranker'] !== undefined;
  });

function refuse(isBad: boolean, why: string): void {
  if (isBad) throw new Error(why);
}

describe('an application that starts while its proxy is dead', () => {
  /** The proxy has all of a model, and is gone. */
  async function left() {
    const { pack, data } = await world.published(BYTES);
    await world.commit(pack);
    const before = application();
    await before.watched.first;
    before.watched.close();
    await host.close();
    const cache = join(world.home, 'h1');
    return { pack, data, cache, file: join(cache, 'packages', `${modelPackageKey(FEED, pack)}.data`) };
  }
  const GONE = 'http://127.0.0.1:9';

  test('lives on the model that the proxy has left on the disk', async () => {
    const { data, cache } = await left();
    const app = application({}, { url: GONE, cache });
    expect(await app.watched.first).toMatchObject({ path: FEED, number: 1 });
    expect(app.memory.equals(data)).toBe(true);
    expect(app.troubles).toContainEqual(expect.objectContaining({ kind: 'proxy-away' }));
  });

  test.each<[string, (file: string) => void]>([
    [
      'was changed',
      (file) =>
        void writeFileSync(
          file,
          Buffer.concat([readFileSync(file).subarray(0, 2 * PIECE), randomBytes(BYTES - 2 * PIECE)]),
        ),
    ],
    ['was cut', (file) => truncateSync(file, 2 * PIECE + 10)],
  ])('takes what is whole there and waits for the rest, where it %s', async (_what, spoil) => {
    const { data, cache, file } = await left();
    spoil(file);
    const indexes: number[] = [];
    const memory = Buffer.alloc(BYTES);
    const app = application(
      {
        merge: ({ index, offset, bytes }) => {
          indexes.push(index);
          memory.set(bytes, offset);
        },
      },
      { url: GONE, cache },
    );
    await eventually('two pieces are merged', async () => indexes.length === 2);
    expect([memory.subarray(0, 2 * PIECE).equals(data.subarray(0, 2 * PIECE)), app.watched.live()]).toEqual([
      true,
      undefined,
    ]);
  });
});
