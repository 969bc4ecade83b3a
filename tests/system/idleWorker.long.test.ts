import { setTimeout as delay } from 'node:timers/promises';
import { given } from './service';
import { Stack } from './stack';

let stack: Stack;
beforeAll(async () => void (stack = await Stack.open()));
afterAll(() => stack.close());

/** Temporal counts a poller as recent if it began to wait within twenty seconds. */
const IDLE_MS = 25_000;
const PEOPLE = 40;

test('however many people look at once after a quiet time, each gets an answer', async () => {
  const shop = await given(stack);
  await stack.client.status(shop.name);
  await delay(IDLE_MS);
  const looks = await Promise.allSettled(Array.from({ length: PEOPLE }, () => stack.client.status(shop.name)));
  expect(looks.flatMap((look) => (look.status === 'rejected' ? [String(look.reason)] : []))).toEqual([]);
});
