import { randomBytes } from 'node:crypto';
import { SESSION_LIMITS } from '../../../domain/limits';
import { Vault } from '../../../server/sessions/vault';

const vault = new Vault(() => ['a secret of sessions, long enough']);

/** Random text is not made smaller. */
const random = (bytes: number): { readonly text: string } => ({ text: randomBytes(bytes).toString('latin1') });

test('a value that fits into a cookie is sealed and opened, and one that does not is neither', async () => {
  let bytes = 1;
  let last = await vault.seal('session', random(bytes));
  for (let next = last; next !== undefined; next = await vault.seal('session', random((bytes += 50)))) last = next;
  expect(last?.length).toBeLessThanOrEqual(SESSION_LIMITS.cookie.max);
  expect(last?.length).toBeGreaterThan(SESSION_LIMITS.cookie.max - 300);
  expect(await vault.open('session', last ?? '')).toEqual({ text: expect.any(String) as string });
  expect(await vault.open('session', 'x'.repeat(SESSION_LIMITS.cookie.max + 1))).toBeUndefined();
});

test('equal values are sealed differently, and for one purpose only', async () => {
  const [one, other] = [await vault.seal('session', { a: 1 }), await vault.seal('session', { a: 1 })];
  expect(one).not.toBe(other);
  expect(await vault.open('session', one ?? '')).toEqual({ a: 1 });
  expect(await vault.open('sign-in', one ?? '')).toBeUndefined();
});

test('without a secret in the configuration, no other process opens a value', async () => {
  const [here, there] = [new Vault(() => []), new Vault(() => [])];
  const sealed = (await here.seal('session', { a: 1 })) ?? '';
  expect([await here.open('session', sealed), await there.open('session', sealed)]).toEqual([{ a: 1 }, undefined]);
});

test('a value that would take too much memory is not unpacked', async () => {
  const huge = await vault.seal('session', { text: 'x'.repeat(200_000) });
  expect(huge?.length).toBeLessThan(SESSION_LIMITS.cookie.max);
  expect(await vault.open('session', huge ?? '')).toBeUndefined();
});
