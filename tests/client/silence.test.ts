import { ServiceError } from '@temporalio/client';
import type { Temporal } from '../../client/connection';
import { noWorker, unlessUnpolled } from '../../client/silence';

interface World {
  readonly pollers: readonly object[];
  readonly versioningInfo?: object;
  /** How the workflow stands between builds. */
  readonly info?: object;
  readonly isAway?: boolean;
  /** So many looks at the server fail as those at one that was killed. */
  readonly dead?: number;
  /** An unused task queue is not taken up. */
  readonly storesNothing?: boolean;
}

const DEAD = new ServiceError('the call failed', {
  cause: Object.assign(new Error('14 UNAVAILABLE: no connection'), { code: 14, details: '', metadata: {} }),
});

const FULL = Object.assign(new Error('14 UNAVAILABLE: disk full'), { code: 14, details: '', metadata: {} });

/** Temporal with one workflow on the task queue `canary`; and whether a call was given up. */
function given({ pollers, versioningInfo, info, isAway = false, dead = 0, storesNothing = false }: World) {
  let looks = 0;
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
        describe: () =>
          (looks += 1) <= dead
            ? Promise.reject(DEAD)
            : isAway
              ? away()
              : Promise.resolve({
                  ...{ workflowId, taskQueue: 'canary' },
                  raw: { workflowExecutionInfo: { versioningInfo: info } },
                }),
      }),
    },
    workflowService: {
      describeTaskQueue: ({ taskQueue }: { taskQueue: { name: string } }) =>
        storesNothing && taskQueue.name !== 'canary'
          ? Promise.reject(FULL)
          : Promise.resolve({ pollers, versioningInfo }),
    },
  };
  const connection = {
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    healthService: { check: () => (looks < dead ? Promise.reject(FULL) : Promise.resolve({ status: 1 })) },
  };
  return {
    temporal: { client, connection, namespace: 'default', address: 'dns:///temporal' } as unknown as Temporal,
    isGivenUp: () => given?.aborted,
  };
}

/** A build `two`, which is current, and an older worker without one. */
const VERSIONED = {
  pollers: [
    { identity: 'plain' },
    { identity: 'new', deploymentOptions: { deploymentName: 'conveyor', buildId: 'two', workerVersioningMode: 2 } },
  ],
  versioningInfo: { currentDeploymentVersion: { deploymentName: 'conveyor', buildId: 'two' } },
};
const PINNED_TO_ONE = { behavior: 1, deploymentVersion: { deploymentName: 'conveyor', buildId: 'one' } };

describe('where workers have builds, the one that is missing is named, with the command', () => {
  test.each<[what: string, world: World, words: string, command: string]>([
    ['of a build that is gone', { ...VERSIONED, info: PINNED_TO_ONE }, 'of build one', 'conveyor worker --build one'],
    [
      'of the current build, although a worker without one runs',
      { ...VERSIONED, pollers: VERSIONED.pollers.slice(0, 1) },
      'of build two',
      'conveyor worker --build two',
    ],
    ['without a build', { pollers: VERSIONED.pollers.slice(1) }, 'without a build', 'conveyor worker, without --build'],
  ])('%s', async (_what, world, words, command) => {
    await expect(unlessUnpolled(given(world).temporal, OF, silent, soon)).rejects.toMatchObject({
      message: `kvstore exists, but no worker ${words} polls its task queue canary`,
      hint: expect.stringContaining(`start one with ${command}; conveyor doctor lists`) as string,
    });
  });

  test('and what has its worker is waited for', async () => {
    expect(await unlessUnpolled(given(VERSIONED).temporal, OF, slow, soon)).toBe('here');
    const moved = { ...PINNED_TO_ONE, versioningOverride: { autoUpgrade: true } };
    expect(await unlessUnpolled(given({ ...VERSIONED, info: moved }).temporal, OF, slow, soon)).toBe('here');
  });
});

test('work that is pinned to a build names the missing worker as soon as none answers', async () => {
  const pollers = [{ ...VERSIONED.pollers[1]!, deploymentOptions: { buildId: 'one', workerVersioningMode: 2 } }];
  const error = await noWorker(given({ ...VERSIONED, pollers, info: PINNED_TO_ONE }).temporal, OF);
  expect(error.message).toMatch(/^kvstore exists, but no worker of build one answers for it/);
  expect(error.hint).toMatch(
    /^start one with conveyor worker --build one; if one is running, it is busy or frozen, or was just lost/,
  );
});

test('where new work goes to no build and none without one polls, set-current-version is named', async () => {
  const world = { pollers: VERSIONED.pollers.slice(1) };
  expect((await noWorker(given(world).temporal, OF)).hint).toContain('set-current-version');
});

const OF = { workflowId: 'pipeline/kvstore', id: 'kvstore' };
const soon = (): Promise<void> => Promise.resolve();
const silent = (): Promise<never> => new Promise<never>(() => undefined);
/** Answers after the reader has looked. */
const slow = (): Promise<string> => new Promise((resolve) => setImmediate(() => resolve('here')));

test('a call without a poller fails early, names the task queue, and is withdrawn', async () => {
  const { temporal, isGivenUp } = given({ pollers: [] });
  await expect(unlessUnpolled(temporal, OF, silent, soon)).rejects.toMatchObject({
    ...{ code: 'no-worker', message: 'kvstore exists, but no worker polls its task queue canary' },
    ...{ retryable: true, exit: 1 },
  });
  expect(isGivenUp()).toBe(true);
});

const polled = (agoMs: number): object => {
  const at = Date.now() - agoMs;
  return { identity: 'worker', lastAccessTime: { seconds: Math.floor(at / 1000), nanos: 0 } };
};

test('a worker that has not polled for two minutes is gone, which is said with since when, though the server still lists it', async () => {
  const { temporal } = given({ pollers: [polled(290_000), polled(121_000)] });
  const since = new Date(Math.floor((Date.now() - 121_000) / 1000) * 1000).toISOString();
  await expect(unlessUnpolled(temporal, OF, silent, soon)).rejects.toMatchObject({
    message: `kvstore exists, but no worker polls its task queue canary (last poll: ${since})`,
  });
});

test('names the last poll of a silent worker that may be busy', async () => {
  const { temporal } = given({ pollers: [polled(30_000)] });
  expect((await noWorker(temporal, OF)).message).toMatch(
    /^kvstore exists, but no worker answers for it \(last poll: \d{4}-.*Z\)$/,
  );
  expect((await noWorker(given({ pollers: [], isAway: true }).temporal, OF)).message).toBe(
    'kvstore exists, but no worker answers for it',
  );
});

test('where the Temporal server itself is silent, that is said, and soon: no worker is blamed', async () => {
  const said = {
    code: 'temporal-unreachable',
    message: expect.stringMatching(/^no Temporal server answers at dns:\/\/\/temporal /),
  };
  await expect(unlessUnpolled(given({ pollers: [], dead: 9 }).temporal, OF, silent, soon)).rejects.toMatchObject(said);
  expect(await noWorker(given({ pollers: [], dead: 9 }).temporal, OF)).toMatchObject(said);
});

test('where Temporal stores nothing that is said, though a worker polls', async () => {
  const { temporal } = given({ pollers: [{ identity: 'worker' }], storesNothing: true });
  await expect(unlessUnpolled(temporal, OF, silent, soon)).rejects.toMatchObject({
    code: 'temporal-unreachable',
    message:
      'the Temporal server at dns:///temporal answers, but did not do this (it stores nothing: 14 UNAVAILABLE: disk full)',
    hint: expect.stringMatching(/^conveyor doctor checks/) as string,
  });
});

test.each([
  ['a server that does not answer one look', { pollers: [{ identity: 'worker' }], dead: 1 }],
  ['a worker that is busy', { pollers: [{ identity: 'worker' }] }],
  ['one that polled a minute ago', { pollers: [polled(70_000)] }],
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
