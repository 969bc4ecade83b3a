import { ServiceError } from '@temporalio/client';
import type { Temporal } from '../../client/connection';
import { whyNothingIsStored } from '../../client/writes';

const NOW_MS = Date.parse('2026-11-27T18:00:00.000Z');

const failure = (code: number, message: string) =>
  Object.assign(new Error(`${code} ${message}`), { code, details: message, metadata: {} });

/** Which task queues a look names, and what it says where Temporal fails. */
async function look(nowMs: number, error?: Error, ofKnown?: Error) {
  const names: string[] = [];
  const client = {
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    workflowService: {
      describeTaskQueue: ({ taskQueue: { name } }: { taskQueue: { name: string } }) => {
        names.push(name);
        const why = name === 'canary' ? ofKnown : error;
        return why === undefined ? Promise.resolve({}) : Promise.reject(why);
      },
    },
  };
  const why = await whyNothingIsStored({ client, namespace: 'default' } as unknown as Temporal, 'canary', nowMs);
  return { why, names };
}

test('all servers ask for one name at a time, which has rested for ten minutes before it comes again', async () => {
  const [first, same, next, later] = await Promise.all(
    [0, 14_999, 15_000, 600_000].map((ms) => look(NOW_MS + ms).then(({ names }) => names[0])),
  );
  expect(same).toBe(first);
  expect(next).not.toBe(first);
  expect(later).toBe(first);
  const names = await Promise.all(Array.from({ length: 40 }, (_, at) => look(NOW_MS + at * 15_000)));
  expect(new Set(names.map((one) => one.names[0])).size).toBe(40);
});

test.each([
  ['has no word', failure(4, 'DEADLINE_EXCEEDED'), 'no confirmation within 8s'],
  ['says that it cannot', failure(14, 'UNAVAILABLE: shard status unknown'), '14 UNAVAILABLE: shard status unknown'],
])('a Temporal server that %s stores nothing', async (_what, error, why) => {
  expect((await look(NOW_MS, error)).why).toBe(why);
});

test('a fault that describes no known task queue stays undecided: it is silent, or throttles us', async () => {
  const late = failure(4, 'DEADLINE_EXCEEDED');
  await expect(look(NOW_MS, late, late)).rejects.toBe(late);
});

test.each([
  ['does not let us ask', failure(7, 'PERMISSION_DENIED')],
  ['is busy', failure(8, 'RESOURCE_EXHAUSTED')],
  ['fails in our own code', new ServiceError('no answer of Temporal')],
])('a worker that %s stays undecided', async (_what, error) => {
  await expect(look(NOW_MS, error)).rejects.toBe(error);
});
