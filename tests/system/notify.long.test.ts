import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudEvent } from '../../domain/notify/cloudEvents';
import { given, SELDOM } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
let receiver: Server;
const told: CloudEvent[] = [];
beforeAll(async () => {
  stack = await Stack.open();
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      told.push(JSON.parse(body) as CloudEvent);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  receiver.close();
  await stack.close();
});

const hook = (): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
/** The notices of a release, in order: `paused`, `reverted`, … */
const noticesOf = (release: string): string[] =>
  told.flatMap(({ data }) => {
    const notice = ((data as { customData?: unknown }).customData ?? data) as { release: string; on: string };
    return notice.release === release ? [notice.on] : [];
  });

describe('every receiver in notify gets a notice', () => {
  test('that a bad version was reverted and that its release failed, once each', async () => {
    const shop = await given(stack, {
      pipeline: { notify: [{ on: ['reverted', 'failed', 'succeeded'], url: hook() }] },
    });
    await shop.behaves(2, { errorRatio: 0.5 });
    await shop.ships(2);
    await shop.ended(1);
    await eventually('both were notified', () => Promise.resolve(noticesOf(`${shop.name}/1`).length >= 2));
    expect(noticesOf(`${shop.name}/1`).sort()).toEqual(['failed', 'reverted']);
  });

  test('that a deploy paused, and how it ended', async () => {
    const shop = await given(stack, {
      deploy: { phases: [{ name: 'first', scope: '*', amount: 1, bake: '1h' }], healthInterval: SELDOM },
      pipeline: { notify: [{ on: ['paused', 'cancelled'], url: hook() }] },
    });
    await shop.ships(2);
    await shop.reaches(1, 'bakes', ({ state }) => state === 'baking');
    await stack.json(['pause', `${shop.name}/1/deploy`, '--reason', 'looking at it']);
    await eventually('the pause was notified', () => Promise.resolve(noticesOf(`${shop.name}/1`).length === 1));
    await stack.json(['cancel', `${shop.name}/1/deploy`, '--reason', 'not today']);
    await shop.ended(1);
    await eventually('the end was notified', () => Promise.resolve(noticesOf(`${shop.name}/1`).length === 2));
    expect(noticesOf(`${shop.name}/1`)).toEqual(['paused', 'cancelled']);
  });
});
