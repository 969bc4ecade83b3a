import type { Temporal } from '../../client/connection';
import { unlessUnpolled } from '../../client/silence';

interface World {
  readonly pollers: readonly object[];
  readonly isAway?: boolean;
}

/** Temporal with one workflow on the task queue `canary`; and whether a call was given up. */
function given({ pollers, isAway = false }: World) {
  let given: AbortSignal | undefined;
  const away = () => Promise.reject(new Error('unavailable'));
  const client = {
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    withAbortSignal: (signal: AbortSignal, call: () => Promise<unknown>) => {
      given = signal;
      return call();
    },
    workflow: {
      getHandle: (workflowId: string) => ({
        describe: () => (isAway ? away() : Promise.resolve({ workflowId, taskQueue: 'canary' })),
      }),
    },
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  };
  return { temporal: { client, namespace: 'default' } as unknown as Temporal, isGivenUp: () => given?.aborted };
}

const OF = { workflowId: 'pipeline/kvstore', id: 'kvstore' };
const soon = (): Promise<void> => Promise.resolve();
const silent = (): Promise<never> => new Promise<never>(() => undefined);
/** Answers after whoever looks has looked. */
const slow = (): Promise<string> => new Promise((resolve) => setImmediate(() => resolve('here')));

test('a call where nobody polls fails early, names the task queue, and is taken back', async () => {
  const { temporal, isGivenUp } = given({ pollers: [] });
  await expect(unlessUnpolled(temporal, OF, silent, soon)).rejects.toMatchObject({
    ...{ code: 'no-worker', message: 'kvstore exists, but no worker polls its task queue canary' },
    ...{ retryable: true, exit: 1 },
  });
  expect(isGivenUp()).toBe(true);
});

test.each([
  ['a worker that is busy', { pollers: [{ identity: 'worker' }] }],
  ['one of which the server does not know just now', { pollers: [], isAway: true }],
])('%s is waited for', async (_title, world) => {
  expect(await unlessUnpolled(given(world).temporal, OF, slow, soon)).toBe('here');
});

test('an answer that comes at once is not doubted', async () => {
  let looked = 0;
  const never = (): Promise<void> => {
    looked += 1;
    return silent();
  };
  expect(await unlessUnpolled(given({ pollers: [] }).temporal, OF, () => Promise.resolve('here'), never)).toBe('here');
  expect(looked).toBe(1);
});

test('an error meanwhile is the one that is reported', async () => {
  const { temporal } = given({ pollers: [] });
  const call = (): Promise<never> => Promise.reject(new Error('refused'));
  await expect(unlessUnpolled(temporal, OF, call, silent)).rejects.toThrow('refused');
});
