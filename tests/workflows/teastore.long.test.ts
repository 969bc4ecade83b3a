import type { PipelineSource } from '../../domain/spec/pipeline';
import { Arrivals, seedsFrom } from './arrivals';
import { Shop, TEAMS, type ShopResult, type Team } from './teastore';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** Six teams whose pipelines wish of each other (examples/teastore; µs §3). */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const REGISTRY = 'registry.tea.internal:8080';
const PERSISTENCE = 'persistence.tea.internal:8080';
const at = (host: string) => ({ host: `${host}.tea.internal`, port: 8080 });
const SERVICES = ['auth/service', 'image/service', 'persistence/service', 'recommender/service', 'webui/service'];
const USES_STORE = ['auth/service', 'image/service', 'recommender/service', 'webui/service'];

/** The shop after the first release of each team. */
const OPENED: ShopResult = {
  states: Object.fromEntries(TEAMS.map((team) => [team, 'succeeded'])),
  runs: {
    ...{ 'tea-network': 'net:1', 'tea-registry': 'registry:1', 'tea-auth-network': 'auth-net:1', 'tea-auth': 'auth:1' },
    ...{ 'tea-database': 'db:1', 'tea-persistence': 'persistence:1', 'tea-image': 'image:1' },
    ...{ 'tea-recommender': 'recommender:1', 'tea-load-balancer': 'webui-net:1', 'tea-webui': 'webui:1' },
  },
  offers: {
    registry: {
      vpc: {
        version: '1.0.0',
        value: { id: 'vpc-1' },
        users: ['auth/network', 'persistence/database', 'webui/network'],
      },
      cluster: { version: '1.0.0', value: { name: 'tea-1' }, users: SERVICES },
      service: { version: '1.4.0', value: at('registry'), users: SERVICES },
    },
    auth: {
      'security-group': {
        ...{ version: '1.0.0', value: { id: 'sg-auth' } },
        users: ['persistence/service', 'registry/service'],
      },
      service: { version: '2.1.0', value: at('auth'), users: ['webui/service'] },
    },
    persistence: { service: { version: '3.0.1', value: at('persistence'), users: USES_STORE } },
    image: { service: { version: '1.1.0', value: at('image'), users: ['webui/service'] } },
    recommender: { service: { version: '1.0.0', value: at('recommender'), users: ['webui/service'] } },
    webui: { 'security-group': { version: '1.0.0', value: { id: 'sg-webui' }, users: ['auth/service'] } },
  },
  early: [],
  env: {
    registry: { network: undefined, service: { ALLOWED: 'sg-auth' } },
    auth: { network: { VPC: 'vpc-1' }, service: { CLUSTER: 'tea-1', REGISTRY, PERSISTENCE, ALLOWED: 'sg-webui' } },
    persistence: { database: { VPC: 'vpc-1' }, service: { CLUSTER: 'tea-1', REGISTRY, ALLOWED: 'sg-auth' } },
    image: { service: { CLUSTER: 'tea-1', REGISTRY, PERSISTENCE } },
    recommender: { service: { CLUSTER: 'tea-1', REGISTRY, PERSISTENCE } },
    webui: {
      network: { VPC: 'vpc-1' },
      service: {
        ...{ CLUSTER: 'tea-1', REGISTRY, PERSISTENCE, AUTH: 'auth.tea.internal:8080' },
        ...{ IMAGE: 'image.tea.internal:8080', RECOMMENDER: 'recommender.tea.internal:8080' },
      },
    },
  },
};

/** Releases a team's first versions in each shop, in the order of that shop, and lets each deploy what it can before the next begins. */
async function releaseInOrder(shops: readonly Shop[], orders: readonly (readonly Team[])[]): Promise<void> {
  for (const turn of TEAMS.keys()) {
    await Promise.all(shops.map((shop, index) => shop.release(orders[index]![turn]!, 1)));
    await world.sleep(4 * MINUTE);
  }
  const areIdle = async () => (await Promise.all(shops.map((shop) => shop.isIdle()))).every((isIdle) => isIdle);
  await world.until('all teams have deployed', areIdle, { stepMs: 5 * MINUTE, withinMs: 6 * HOUR });
}

test('six teams that release in the worst order wait for each other, and each gets the values that it wished for', async () => {
  const shop = new Shop(world);
  await shop.open();
  const before = await shop.runs();
  for (const team of TEAMS.slice(0, -1)) await shop.release(team, 1);
  await world.sleep(10 * MINUTE);
  expect(await Promise.all([shop.obstacle('webui', 1, 'network'), shop.obstacle('image', 1, 'service')])).toEqual([
    'waiting for other pipelines: registry has not offered vpc yet',
    'waiting for other pipelines: registry has not offered cluster yet; 2 more unsatisfied',
  ]);
  expect([Object.values(before), await shop.runs()]).toEqual([Object.keys(before).map(() => 'none:0'), before]);
  await shop.release('registry', 1);
  await world.until('all teams have deployed', () => shop.isIdle(), { stepMs: 5 * MINUTE });
  expect(await shop.result()).toEqual(OPENED);
  const registry = await world.releaseStatus('registry', 1);
  const auth = await world.releaseStatus('auth', 1);
  const [network, group, service] = [registry.actions[0], auth.actions[0], registry.actions[1]];
  expect([network, group, service].map((action) => action?.name)).toEqual(['network', 'network', 'service']);
  const ends = [network, group, service].map((action) => Date.parse(action?.endedAt ?? ''));
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
});

/** `CONVEYOR_ORDERS=all`, by hand: all 720 orders of six releases; `=60`: that many. */
const { CONVEYOR_ORDERS: wanted = '3' } = process.env;
const COUNT = wanted === 'all' ? 720 : Number(wanted);
/** The shops of one world. */
const SHARING = 12;

/** One of the 720 orders. */
function orderOf(index: number): readonly Team[] {
  const left = [...TEAMS];
  let rest = index;
  return TEAMS.map((_, at) => {
    const [next] = left.splice(rest % (TEAMS.length - at), 1);
    rest = Math.floor(rest / (TEAMS.length - at));
    return next!;
  });
}

/** The first of all orders, shuffled by the seed. */
function pickOrders(seed: number): number[] {
  const random = new Arrivals(seed);
  const all = Array.from({ length: 720 }, (_, index) => index);
  return Array.from({ length: COUNT }, () => all.splice(Math.floor(random.between(0, all.length)), 1)[0]!);
}

describe.each(seedsFrom(Math.floor(Date.now() / (24 * HOUR))))('seed %d', (seed) => {
  const picked = pickOrders(seed);
  const portions = Array.from({ length: Math.ceil(picked.length / SHARING) }, (_, at) =>
    picked.slice(at * SHARING, (at + 1) * SHARING),
  );

  test.each(portions)(
    'the order in which six teams release makes no difference: order %d and those after it',
    async (...numbers) => {
      process.stderr.write(`seed ${seed}: orders ${numbers.join(', ')}\n`);
      const startedAt = Date.now();
      const orders = numbers.map(orderOf);
      const shops = numbers.map((number) => new Shop(world, { prefix: `o${number}-`, isSmall: true }));
      for (const shop of shops) await shop.open();
      await releaseInOrder(shops, orders);
      for (const [index, shop] of shops.entries())
        expect([orders[index], await shop.result()]).toEqual([orders[index], OPENED]);
      process.stderr.write(`${Math.round((Date.now() - startedAt) / orders.length)} ms an order\n`);
    },
  );
});

const acceptsBoth = (source: PipelineSource): PipelineSource => ({
  ...source,
  wishes: source.wishes?.map((wish) => (wish.offer === 'vpc' ? { ...wish, version: '>=1' } : wish)),
});

test('a network of another major version waits until each team that uses it accepts both', async () => {
  const shop = new Shop(world, { isSmall: true });
  await shop.open();
  await releaseInOrder([shop], [TEAMS.toReversed()]);
  await shop.apply('registry', (source) => ({
    ...source,
    offers: source.offers?.map((offer) => (offer.name === 'vpc' ? { ...offer, version: '2.0.0' } : offer)),
  }));
  await shop.release('registry', 2);
  const waitsFor = (users: string) =>
    world.until(`it waits for ${users}`, async () => {
      const why = await shop.obstacle('registry', 2, 'network');
      return why === `waiting for other pipelines: vpc 2.0.0 does not fit ${users}`;
    });
  await waitsFor(
    '3 deploys of other pipelines: auth/network wishes for ^1, persistence/database wishes for ^1, webui/network wishes for ^1',
  );
  for (const team of ['auth', 'webui', 'persistence'] as const) {
    expect((await shop.runs())['tea-network']).toBe('net:1');
    await shop.apply(team, acceptsBoth);
    await world.ended(team, await shop.release(team, 2));
    if (team === 'webui') await waitsFor('1 deploy of other pipelines: persistence/database wishes for ^1');
  }
  await world.ended('registry', 2);
  await world.ended('auth', await shop.release('auth', 3));
  const { vpc } = await shop.offersOf('registry');
  expect([(await shop.runs())['tea-network'], vpc]).toEqual([
    'net:2',
    { ...OPENED.offers['registry']?.['vpc'], version: '2.0.0', value: { id: 'vpc-2' } },
  ]);
  expect(await shop.envOf('auth', 3)).toMatchObject({ network: { VPC: 'vpc-2' } });
});

describe('a shop that is not needed any more', () => {
  const isEmpty = async (shop: Shop): Promise<void> => {
    await world.until('all is removed', () => shop.isIdle(), { stepMs: 5 * MINUTE, withinMs: 6 * HOUR });
    expect(Object.values(await shop.runs())).toEqual(Object.keys(OPENED.runs).map(() => ''));
    expect(await Promise.all(TEAMS.map((team) => shop.offersOf(team)))).toEqual(TEAMS.map(() => ({})));
  };
  const undeploy = (team: Team) => world.command(`pipeline/${team}`, 'undeploy', { reason: 'it is closed' });
  const endOf = async (team: Team, name: string): Promise<number> => {
    const { actions } = await world.releaseStatus(team, 2);
    return Date.parse(actions.find((action) => action.name === name)?.endedAt ?? '');
  };

  test('is removed in the reverse order of its wishes, although its teams wish of each other', async () => {
    const shop = new Shop(world, { isSmall: true });
    await shop.open();
    await releaseInOrder([shop], [TEAMS.toReversed()]);
    await undeploy('registry');
    await world.sleep(10 * MINUTE);
    expect(await shop.obstacle('registry', 2, 'service')).toBe(
      'waiting for other pipelines: service is removed, but is used by 5 deploys of other pipelines: auth/service wishes for ^1.2, image/service wishes for ^1.2, persistence/service wishes for ^1.2 and 2 more',
    );
    for (const team of TEAMS.filter((one) => one !== 'registry')) await undeploy(team);
    await isEmpty(shop);
    const order = [
      ...[await endOf('webui', 'service'), await endOf('auth', 'service'), await endOf('persistence', 'service')],
      ...[await endOf('registry', 'service'), await endOf('auth', 'network'), await endOf('registry', 'network')],
    ];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('follows the team whose offers all others need, if their wishes say so', async () => {
    const shop = new Shop(world, { isSmall: true });
    await shop.open();
    const follows = (source: PipelineSource): PipelineSource => ({
      ...source,
      wishes: source.wishes?.map((wish) => ({ ...wish, onWithdraw: 'undeploy' as const })),
    });
    for (const team of TEAMS) await shop.apply(team, follows);
    await releaseInOrder([shop], [TEAMS.toReversed()]);
    await undeploy('registry');
    await world.sleep(MINUTE);
    await isEmpty(shop);
  });
});
