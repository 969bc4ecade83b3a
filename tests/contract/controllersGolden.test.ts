import { serve } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { shardController } from '../../examples/controllers/shardAware';
import { callExtension } from '../../sdk/client';
import { taskControllerProtocol, type TaskControlRequest } from '../../sdk/protocol/taskController';
import { placeShards } from '../../simulator/controllers/placement';
import { op, requestOf } from '../sdk/controllersWorld';

/**
 * The exchange of Conveyor §2.3, over HTTP: 500 shards, three replicas each, on twelve tasks in two regions. X1 and X3
 * share no shard; X2 shares some with each of them.
 */
const GROUPS = [
  ['x/1', 'x/3', 'y/1', 'y/4'],
  ['x/2', 'x/5', 'y/2', 'y/5'],
  ['x/4', 'x/6', 'y/3', 'y/6'],
];
const placement = placeShards(GROUPS, 500, 1);

let server: ReturnType<typeof serve>;
let url: string;
beforeAll(async () => {
  const app = shardController(() => placement);
  server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const ask = async (request: Partial<TaskControlRequest> & { sequenceNumber: number }): Promise<string[]> => {
  const service = { name: 'shards', url, timeoutMs: 5000 };
  const common = { service, protocol: taskControllerProtocol, method: 'process', context: null } as const;
  const { ack } = await callExtension({ ...common, request: requestOf({ jobHandle: 'x', ...request }) });
  return ack.map((id) => id.replace('update ', ''));
};

test('asked for X1, X2 and X3, the controller of the store approves X1 and X3, and X2 when both are back', async () => {
  expect(await ask({ sequenceNumber: 1, request: [op('x/1'), op('x/2'), op('x/3')] })).toEqual(['x/1', 'x/3']);
  const waits = { request: [op('x/2')] };
  expect(await ask({ ...waits, sequenceNumber: 2, allUnhealthyTasks: ['x/1', 'x/3'] })).toEqual([]);
  const first = { completed: [op('x/1')], allUnhealthyTasks: ['x/3'] };
  expect(await ask({ ...waits, ...first, sequenceNumber: 3 })).toEqual([]);
  expect(await ask({ ...waits, sequenceNumber: 4, completed: [op('x/3')] })).toEqual(['x/2']);
  expect(await ask({ sequenceNumber: 5, completed: [op('x/2')] })).toEqual([]);
});

test('the second phase, of both regions at once, costs no shard a second replica either', async () => {
  const jobs = { x: ['x/4', 'x/5', 'x/6'], y: ['y/1', 'y/2', 'y/3', 'y/4', 'y/5', 'y/6'] };
  const inFlight: Record<string, string[]> = { x: [], y: [] };
  const done: string[] = [];
  for (let round = 0; done.length < 9; round += 1) {
    expect(round).toBeLessThan(20);
    for (const job of ['x', 'y'] as const) {
      const completed = inFlight[job]!;
      const pending = jobs[job].filter((task) => !done.includes(task) && !completed.includes(task));
      done.push(...completed);
      const request = pending.map((task) => op(task));
      const call = {
        jobHandle: job,
        sequenceNumber: 10 + round,
        request,
        completed: completed.map((task) => op(task)),
      };
      inFlight[job] = await ask(call);
      const away = [...inFlight['x']!, ...inFlight['y']!];
      const lost = away.flatMap((task) => placement.get(task)!);
      expect(new Set(lost).size).toBe(lost.length);
    }
  }
  expect(done.sort()).toEqual([...jobs.x, ...jobs.y]);
});
