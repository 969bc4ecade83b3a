import { LandingQueue } from '../../client/landingQueue';
import type { Landing, LandRequest } from '../../configerator/domain/landing';

const R = 'flags';

/** A strip that takes so many at once as Temporal does, and refuses the next. */
function strip() {
  const open = new Map<number, { end: (landing: Landing) => void; fail: (error: Error) => void }>();
  const asked: number[] = [];
  const queue = new LandingQueue(({ change }) => {
    if (open.size >= 10) return Promise.reject(new Error(`RESOURCE_EXHAUSTED: ${change}`));
    asked.push(change);
    return new Promise<Landing>((end, fail) => open.set(change, { end, fail })).finally(() => open.delete(change));
  });
  const land = (change: number, rest: Partial<LandRequest> = {}) => queue.land({ repository: R, change, ...rest });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ...{ asked, queue, land, settled },
    ends: async (change: number): Promise<void> => {
      open.get(change)?.end({ change, commit: `c${change}` });
      await settled();
    },
    fails: async (change: number): Promise<void> => {
      open.get(change)?.fail(new Error('no worker'));
      await settled();
    },
  };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

test('fifty who come at once land in their order, and none of them is refused', async () => {
  const { land, ends, asked, queue } = strip();
  const all = Promise.all(upTo(50).map((change) => land(change)));
  expect([asked, queue.waiting().get(R)]).toEqual([upTo(8), 42]);
  for (const change of upTo(50)) await ends(change);
  expect((await all).map(({ change }) => change)).toEqual(upTo(50));
  expect([asked, queue.waiting().get(R)]).toEqual([upTo(50), 0]);
});

test('who waits knows how many go first', async () => {
  const { land, ends, queue } = strip();
  for (const change of upTo(12)) void land(change);
  expect([8, 9, 12].map((change) => queue.before(R, change))).toEqual([undefined, 8, 11]);
  await ends(1);
  expect([9, 12].map((change) => queue.before(R, change))).toEqual([undefined, 10]);
});

test('a revert asks at once, although the line is full, and goes first', async () => {
  const { land, ends, asked } = strip();
  for (const change of upTo(12)) void land(change);
  for (const change of [101, 102, 103]) void land(change, { ahead: true });
  expect(asked).toEqual([...upTo(8), 101, 102]);
  await ends(1);
  expect(asked.at(-1)).toBe(103);
  for (const change of [101, 102, 103]) await ends(change);
  expect(asked.at(-1)).toBe(9);
});

test('one that fails gives its place to the next, and those of other repositories wait for none of them', async () => {
  const { land, fails, asked, queue } = strip();
  const first = land(1);
  for (const change of upTo(9).slice(1)) void land(change);
  const [failed] = await Promise.allSettled([first, fails(1)]);
  expect(failed).toMatchObject({ status: 'rejected', reason: new Error('no worker') });
  expect(asked.at(-1)).toBe(9);
  void land(10);
  void queue.land({ repository: 'other', change: 11 });
  expect(asked.at(-1)).toBe(11);
});
