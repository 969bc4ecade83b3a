import fc from 'fast-check';
import { popDue, pushDue, type Due } from '../../simulator/kernel/heap';
import { decode, encode } from '../../simulator/kernel/codec';
import { freshKernel, World } from '../../simulator/kernel/world';
import { expectNoViolations, givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

test('events come in the order of time, and at the same moment as they were scheduled', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const heap: Due<number>[] = [];
      times.forEach((at, seq) => pushDue(heap, { at, seq, event: at }));
      const out = times.map(() => popDue(heap));
      expect(out).toEqual([...out].sort((a, b) => (a?.at ?? 0) - (b?.at ?? 0) || (a?.seq ?? 0) - (b?.seq ?? 0)));
      expect(popDue(heap)).toBeUndefined();
    }),
  );
});

test('events run at their own time, those they schedule too, and none before it is due', () => {
  const seen: [string, number][] = [];
  const world: World<string> = new World(freshKernel<string>(1, 10, 0), (event) => {
    seen.push([event, world.now]);
    if (event === 'first') world.after(1000, 'second');
  });
  world.after(5000, 'first');
  world.advanceTo(499);
  expect(seen).toEqual([]);
  world.advanceTo(10_000);
  expect(seen).toEqual([
    ['first', 500],
    ['second', 600],
  ]);
  world.advanceTo(3);
  expect(world.now).toBe(10_000);
});

test('a stream of random numbers depends on seed and name only, not on the other streams', () => {
  const world = (seed: number): World<never> => new World(freshKernel<never>(seed, 1, 0), () => undefined);
  const three = (source: World<never>, name: string): number[] => [1, 2, 3].map(() => source.random(name));
  const disturbed = world(1);
  three(disturbed, 'b');
  expect(three(disturbed, 'a')).toEqual(three(world(1), 'a'));
  expect(three(world(1), 'a')).not.toEqual(three(world(1), 'b'));
  expect(three(world(1), 'a')).not.toEqual(three(world(2), 'a'));
  const many = Array.from({ length: 2000 }, () => disturbed.random('even'));
  expect(many.every((value) => value >= 0 && value < 1)).toBe(true);
  expect(many.reduce((a, b) => a + b, 0) / many.length).toBeCloseTo(0.5, 1);
});

test('plain data survives being written out, with maps, sets, typed arrays and infinities', () => {
  const value = {
    map: new Map([['a', new Set([1])]]),
    array: Int32Array.of(1, -2),
    floats: Float64Array.of(0.1),
    end: Infinity,
  };
  expect(decode(encode(value))).toEqual(value);
});

/** A deploy with a fault in the middle: everything that is random takes part. */
async function story(fleet: TestFleet): Promise<void> {
  await fleet.job('kvstore-x', { tasks: 40, nSmall: '10%', budget: '25%' });
  await fleet.control('POST', '/faults', { kind: 'http', service: 'twine', mode: 'error', rate: 0.5 });
  for (let i = 0; i < 8; i += 1) await fleet.twine('executeUpdates', update('deploy/p/1/d/1/0/1', 'kvstore-x', 'kv:2'));
  fleet.pass(20_000);
  await fleet.control('POST', '/faults', { kind: 'msb', id: 'x-msb3', downMs: 60_000 });
}

const outcome = async (fleet: TestFleet): Promise<unknown> => [
  await fleet.look('kvstore-x'),
  await fleet.control('GET', '/ledger'),
  await fleet.control('GET', '/metrics?job=kvstore-x&metric=rpc.latency'),
];

test('the same seed and the same calls give the same ledger, fleet and metrics, another seed does not', async () => {
  const ends = [];
  for (const seed of [7, 7, 8]) {
    const fleet = givenFleet({ seed });
    await story(fleet);
    fleet.pass(47_000);
    ends.push(JSON.stringify(await outcome(fleet)));
  }
  expect(ends[0]).toEqual(ends[1]);
  expect(ends[0]).not.toEqual(ends[2]);
});

test('how often the world is looked at changes nothing', async () => {
  const [rarely, often] = [givenFleet(), givenFleet()];
  for (const fleet of [rarely, often]) await story(fleet);
  for (let i = 0; i < 100; i += 1) {
    often.pass(1000);
    await often.look('kvstore-x');
  }
  rarely.pass(100_000);
  expect(await outcome(rarely)).toEqual(await outcome(often));
});

test('a world that was written out in the middle continues in another process exactly as the first', async () => {
  const [first, second] = [givenFleet(), givenFleet({ seed: 99 })];
  await story(first);
  await second.control('POST', '/snapshot', await first.control('GET', '/snapshot'));
  second.pass(20_000);
  for (const fleet of [first, second]) fleet.pass(400_000);
  expect(await outcome(second)).toEqual(await outcome(first));
});

test('an idle world lets a year pass at no cost', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  fleet.pass(365 * 86_400_000);
  expect((await fleet.look('kvstore-x')).running).toBe(6);
});
