import { makeOffers, NO_OFFERS, type OfferBoard } from '../../domain/offers/board';
import type { Wish } from '../../domain/offers/judge';
import { OFFER_LIMITS } from '../../domain/limits';
import { OfferWorld } from '../builders/offerActivities';
import { specOf } from '../builders/pipelineWorld';

const AT = '2026-11-23T17:00:00.000Z';
const made = (version: string, board: OfferBoard = NO_OFFERS, release = 1): OfferBoard =>
  makeOffers(
    board,
    { release, action: 'deploy', made: [{ name: 'vpc', version, value: { id: 7 }, to: ['*'] }], declared: ['vpc'] },
    AT,
  );
const WISH: Wish = { from: 'net', offer: 'vpc', version: '^2', paths: [] };
const run = { wishes: [WISH] };
const UNMADE = 'net has not offered vpc yet';
const OTHER = 'net offers vpc 1.0.0, but the wish is for ^2';

const withUsers = (board: OfferBoard, count: number): OfferBoard => ({
  ...board,
  users: Array.from({ length: count }, (_, n) => `team-${n}/deploy`)
    .sort()
    .map((user) => ({ user, pins: [{ release: 1, uses: [{ offer: 'vpc', seq: 1, paths: [] }] }] })),
});

test('a look asks for the offers alone, however many deploys use them', async () => {
  const world = new OfferWorld(0);
  world.boards.set('net', withUsers(made('2.0.0'), OFFER_LIMITS.users.max - 1));
  expect(await world.look(run)).toMatchObject({ kind: 'satisfied' });
  expect(world.queries).toEqual(['offers net']);
});

test('a look at offers on a worker of an earlier build asks for the whole board', async () => {
  const world = new OfferWorld(0, ['board']);
  world.boards.set('net', made('2.0.0'));
  expect(await world.look(run)).toMatchObject({ kind: 'satisfied' });
  expect(world.queries.at(-1)).toBe('board net');
});

test('a deploy for which there is no room waits and says so, and one that is a user already does not', async () => {
  const world = new OfferWorld(0);
  world.boards.set('net', withUsers(made('2.0.0'), OFFER_LIMITS.users.max));
  expect(await world.look(run)).toEqual({
    kind: 'waiting',
    reason: 'net has no room for another deploy: at most 10,000 use its offers, in 768 kB',
    unmet: [WISH],
  });
  expect(await world.look({ ...run, user: 'team-7/deploy' })).toMatchObject({ kind: 'satisfied' });
});

test('a look of a deploy that has not waited for long stays, and sees within a second what has changed', async () => {
  const world = new OfferWorld(1);
  const from = world.nowMs;
  world.after(7_500, () => world.boards.set('net', made('2.0.0')));
  expect(await world.look({ ...run, seen: UNMADE })).toMatchObject({ kind: 'satisfied' });
  expect(world.nowMs - from).toBe(8_000);
});

test('a look that stays has no news while another version than the wished one is made', async () => {
  const world = new OfferWorld(1);
  world.boards.set('net', made('1.0.0'));
  world.after(3_000, () => world.boards.set('net', made('1.0.0', made('1.0.0'), 2)));
  world.after(6_000, () => world.boards.set('net', made('2.0.0', made('1.0.0'), 3)));
  const from = world.nowMs;
  expect(await world.look({ ...run, seen: OTHER })).toMatchObject({ kind: 'satisfied' });
  expect(world.nowMs - from).toBe(6_000);
});

test('a look that stays is over in time, and the next one follows at once', async () => {
  const world = new OfferWorld(1);
  const from = world.nowMs;
  const looked = world.look({ ...run, seen: UNMADE });
  await expect(looked).rejects.toMatchObject({ type: 'still-waiting', message: UNMADE, nextRetryDelay: 1_000 });
  expect(world.nowMs - from).toBe(15_000);
});

test('a look ends at once if its worker stops', async () => {
  const world = new OfferWorld(1);
  const stopped = new AbortController();
  world.after(2_000, () => stopped.abort());
  const from = world.nowMs;
  await expect(world.look({ ...run, seen: UNMADE }, 2, stopped.signal)).rejects.toMatchObject({
    type: 'still-waiting',
  });
  expect(world.nowMs - from).toBe(2_000);
});

const delay = (error: unknown): number => (error as { nextRetryDelay: number }).nextRetryDelay;

test.each<[string, (world: OfferWorld) => Promise<unknown>]>([
  ['has just got an answer', (world) => world.look({ ...run, seen: UNMADE }, 1)],
  ['has waited for long', (world) => world.look({ ...run, seen: UNMADE, sinceMs: world.nowMs - 1_800_000 })],
])('a look of a deploy that %s does not stay', async (_, look) => {
  const world = new OfferWorld(1);
  const from = world.nowMs;
  expect(delay(await look(world).catch((error: unknown) => error))).toBeGreaterThanOrEqual(2_500);
  expect(world.nowMs).toBe(from);
});

test('as many looks stay as there are places, and their places are free again after them', async () => {
  const world = new OfferWorld(2);
  const looks = Array.from({ length: 10 }, () =>
    world.look({ ...run, seen: UNMADE }).catch((error: unknown) => delay(error)),
  );
  const delays = await Promise.all(looks);
  expect(delays.filter((ms) => ms === 1_000)).toHaveLength(2);
  expect(delay(await world.look({ ...run, seen: UNMADE }).catch((error: unknown) => error))).toBe(1_000);
});

test('an attempt that took too long and sends its pin late sends none that is new, and the next step of its release does', async () => {
  const world = new OfferWorld(0);
  world.boards.set('net', made('2.0.0'));
  await world.take([WISH], 1, '7');
  await world.take([WISH], 2, '7');
  await world.take([WISH], 1, '8');
  const [first, again, next] = world.updates;
  expect(first).toMatch(/^pin-offers offers\/net \S+\/7\/\w+$/);
  expect(again).toBe(first);
  expect(next).not.toBe(first);
});

test('a deploy that begins anyway learns which of its offers are gone', async () => {
  const world = new OfferWorld(0);
  world.boards.set('net', made('2.0.0'));
  const granted = (from: string, offer: string) => ({
    from,
    use: { offer, seq: 1, paths: [] },
    version: null,
    parts: {},
  });
  expect(await world.pinAnyway([granted('net', 'vpc'), granted('net', 'dns'), granted('away', 'vpc')])).toEqual({
    full: [],
    gone: ['dns of net', 'vpc of away'],
  });
});

test('a deploy that begins anyway learns which offers are not for it any more, unless it still has its pin', async () => {
  const world = new OfferWorld(0);
  const board = made('2.0.0');
  const narrowed = { ...board, offers: board.offers.map((offer) => ({ ...offer, to: ['shop'] })) };
  const granted = [{ from: 'net', use: { offer: 'vpc', seq: 1, paths: [] }, version: null, parts: {} }];
  world.boards.set('net', narrowed);
  expect(await world.pinAnyway(granted)).toEqual({ full: [], gone: ['vpc of net'] });
  const users = [{ user: 'app/deploy', pins: [{ release: 1, uses: [granted[0]!.use] }] }];
  world.boards.set('net', { ...narrowed, users });
  expect(await world.pinAnyway(granted)).toEqual({ full: [], gone: [] });
});

test('a deploy that begins anyway with offers that are not made any more has both owners notified', async () => {
  const world = new OfferWorld(0);
  const granted = ['net', 'dns'].map((from) => {
    const board = made('2.0.0');
    const use = { offer: 'vpc', seq: 1, paths: [] };
    const offers = board.offers.map((offer) => ({ ...offer, notMadeBy: { release: 2 } }));
    world.boards.set(from, { ...board, offers, users: [{ user: 'app/deploy', pins: [{ release: 1, uses: [use] }] }] });
    return { from, use, version: null, parts: {} };
  });
  const [net, dns] = ['net', 'dns'].map((name) => `release 2 of ${name} does not make vpc, which app/deploy uses`);
  const news = [
    { pipeline: 'net', reason: net },
    { pipeline: 'app', reason: `${net}; ${dns}` },
    { pipeline: 'dns', reason: dns },
  ];
  expect(await world.pinAnyway(granted)).toEqual({ full: [], gone: [], broken: { news, more: 0 } });
});

describe('a deploy that has another name since', () => {
  const offers = (after: string, version: string) => [{ name: 'vpc', after, version, value: { id: 7 } }];
  const file = (deploy: string, version: string) =>
    specOf([deploy], { pipeline: 'net', offers: offers(deploy, version) });
  const givenRenamed = (): OfferWorld => {
    const world = new OfferWorld(0);
    world.inputs.set('release/net/1', { spec: file('deploy', '1.0.0') });
    world.inputs.set('release/net/3', { spec: file('ship', '1.1.0') });
    world.pipelines.set('net', { spec: file('ship', '1.1.0'), ready: [] });
    world.boards.set('net', made('1.1.0'));
    return world;
  };

  test('makes the offers that it made before when its release is rolled back', async () => {
    const world = givenRenamed();
    await world.restore('net', { release: 3, action: 'ship', of: 1, artifacts: [] });
    expect(world.signals.find(({ name }) => name === 'make-offers')?.message).toMatchObject({
      ...{ action: 'ship', made: [{ name: 'vpc', version: '1.0.0' }], elsewhere: [] },
    });
  });

  test('goes back to the values that it was deployed with under its earlier name', async () => {
    const world = givenRenamed();
    const spec = { pushType: 'twine', config: { vpc: 7 } };
    world.inputs.set('deploy/net/1/deploy/1', { spec, wishes: [] });
    const ask = { pipeline: 'net', wishes: [WISH], pushType: null, needsPresent: false, isPrompt: true };
    const before = [{ pipeline: 'net', release: 1, action: 'ship' }];
    expect(await world.readOffers({ ...ask, before, release: 3 })).toEqual({
      earlier: { ...spec, granted: [] },
      present: [],
    });
    expect((await world.readOffers({ ...ask, before: [{ ...before[0]!, action: 'other' }], release: 3 })).earlier).toBe(
      null,
    );
  });
});
