import { inMemory, shopSitevars } from '../../examples/sitevars/limits';
import { sitevars } from '../../sdk';

const HISTORY = { 'cart-limits': [{ items: 100 }, { items: 200 }], motd: ['hello', 'closed on Sunday'] };
const message = 'more room';

test('a value like those before it is proposed without a word', async () => {
  const port = inMemory(HISTORY);
  expect(await shopSitevars(port).propose('cart-limits', { items: 300 }, { message })).toBe('cart-limits@3');
  expect((await port.history('cart-limits')).at(-1)).toEqual({ items: 300 });
});

test('one that deviates is not, until a person says that it is meant', async () => {
  const port = inMemory(HISTORY);
  const shop = shopSitevars(port);
  await expect(shop.propose('motd', 7, { message })).rejects.toMatchObject({
    code: 'sitevar-deviates',
    message: 'motd deviates from its past values: it was a text so far, and is a number now',
  });
  expect(await port.history('motd')).toHaveLength(2);
  expect(await shop.propose('motd', 7, { message, anyway: true })).toBe('motd@3');
});

test('a value that its checker refuses is not proposed, and a checker that fails refuses', async () => {
  const port = inMemory(HISTORY);
  await expect(
    shopSitevars(port).propose('cart-limits', { items: 0 }, { message, anyway: true }),
  ).rejects.toMatchObject({
    code: 'sitevar-refused',
    message: expect.stringContaining('cart-limits is refused: items: '),
  });
  const broken = () => {
    throw new Error('no such table');
  };
  const shop = sitevars({ port, checkers: { motd: broken } });
  await expect(shop.propose('motd', 'hi', { message, anyway: true })).rejects.toThrow(
    'its checker failed: no such table',
  );
  expect(await port.history('motd')).toHaveLength(2);
});

test('a review says what it was, what deviates and what is refused, and proposes nothing', async () => {
  const port = inMemory(HISTORY);
  expect(await shopSitevars(port).review('cart-limits', { items: 900, note: 'x' })).toEqual({
    was: 'an object',
    warnings: [{ path: 'note', why: 'was never there so far' }],
    refused: [expect.stringContaining('items: ')],
  });
  expect(await shopSitevars(port).review('brand-new', [1])).toEqual({ warnings: [], refused: [] });
  expect(await port.history('cart-limits')).toHaveLength(2);
});

test.each<[string, unknown, string]>([
  ['../motd', 'x', 'a name has lower-case letters'],
  ['motd', undefined, 'there is no such value in JSON'],
  ['motd', 'x'.repeat(70_000), 'it has 68 kB, more than 64 kB'],
])('%s cannot be given what it cannot hold', async (name, value, why) => {
  await expect(shopSitevars(inMemory({})).propose(name, value, { message })).rejects.toThrow(why);
});

test('while its history cannot be read nothing is proposed', async () => {
  const port = { ...inMemory(HISTORY), history: () => Promise.reject(new Error('the repository is away')) };
  await expect(shopSitevars(port).propose('motd', 'x', { message, anyway: true })).rejects.toThrow(
    'the repository is away',
  );
});

const circle: { self?: unknown } = {};
circle.self = circle;
let deep: unknown = 1;
for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];

test.each([
  ['NaN', { items: NaN }],
  ['an infinite number', Infinity],
  ['a BigInt', { items: 7n }],
  ['what holds itself', circle],
  ['what is too deep', deep],
  ['a function', () => 1],
  ['undefined', undefined],
])('a value that JSON lacks is refused, and never converted: %s', async (_what, value) => {
  const port = inMemory({});
  const proposed = sitevars({ port }).propose('fresh', value, { message, anyway: true });
  await expect(proposed).rejects.toMatchObject({
    code: 'sitevar-refused',
    message: 'fresh is refused: there is no such value in JSON',
  });
  expect(await port.history('fresh')).toEqual([]);
});
