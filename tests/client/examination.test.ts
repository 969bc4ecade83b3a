import { ServiceError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, RetryState } from '@temporalio/common';
import type { Temporal } from '../../client/connection';
import { examine } from '../../client/examination';
import type { Examination } from '../../domain/examination';

/** As the client throws what gRPC says. */
const failed = (code: number, message: string): ServiceError =>
  new ServiceError('the call failed', {
    cause: Object.assign(new Error(`${code} ${message}`), { code, details: message, metadata: {} }),
  });
const LATE = failed(4, 'DEADLINE_EXCEEDED');
const POLLERS = [{ identity: '12@one' }];
const taken = { workflowTaskStartedEventAttributes: { identity: '12@one' } };

interface World {
  readonly pollers?: readonly object[];
  readonly start?: () => Promise<unknown>;
  readonly result?: () => Promise<Examination>;
  readonly events?: readonly object[];
  /** Deploys that used a push type. */
  readonly deploys?: number;
  readonly describe?: () => Promise<object>;
  /** How far Temporal's clock is ahead of ours. */
  readonly aheadMs?: number;
  /** How many lists show of it. */
  readonly lists?: () => Promise<{ count: number }>;
  readonly attributes?: () => Promise<object>;
}

const listed = () => Promise.resolve({ count: 1 });

/** An examination on the task queue `canary`, and whether it was ended by hand. */
async function examined({
  pollers = POLLERS,
  start,
  result,
  events = [],
  deploys = 0,
  describe,
  lists = listed,
  attributes = () => Promise.resolve({ customAttributes: {} }),
  aheadMs = 0,
}: World) {
  let isEnded = false;
  const startTime = new Date(Date.now() + aheadMs);
  const handle = {
    describe: () => Promise.resolve({ startTime }),
    result: result ?? (() => Promise.reject(LATE)),
    terminate: () => Promise.resolve((isEnded = true)),
    fetchHistory: () => Promise.resolve({ events }),
  };
  const client = {
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    workflow: {
      start: start ?? (() => Promise.resolve(handle)),
      count: (query: string) => (query.startsWith('WorkflowId') ? lists() : Promise.resolve({ count: deploys })),
    },
    workflowService: {
      describeTaskQueue: describe ?? (() => Promise.resolve({ pollers })),
      describeWorkerDeployment: () => Promise.resolve({}),
    },
  };
  const connection = { operatorService: { listSearchAttributes: attributes } };
  const view = await examine({ client, connection, namespace: 'default' } as unknown as Temporal, 'canary');
  return { ...view, isEnded };
}

test('an examination that ended has what extensions answered, and which push types no deploy has used', async () => {
  const extensions = ['push-type', 'data-source'].map((kind) => ({
    ...{ kind, name: `a-${kind}`, address: 'http://here', trouble: 'no answer' },
  }));
  const seen = (deploys: number) => examined({ result: () => Promise.resolve({ extensions }), deploys });
  expect(await seen(0)).toMatchObject({
    ...{ taskQueue: 'canary', pollers: [{ identity: '12@one', build: null }] },
    end: { kind: 'answered', extensions, unused: ['a-push-type'] },
  });
  expect(await seen(1)).toMatchObject({ end: { unused: [] } });
});

test('one that Temporal did not write down says why', async () => {
  const start = () => Promise.reject(failed(14, 'UNAVAILABLE: database or disk is full'));
  const unwritten = { kind: 'unwritten', reason: '14 UNAVAILABLE: database or disk is full' };
  expect((await examined({ start })).end).toEqual(unwritten);
  // A server that cannot write does not say who polls, either.
  expect((await examined({ start, describe: start as never })).end).toEqual(unwritten);
  const late = () => Promise.reject(LATE);
  expect((await examined({ start: late })).end).toEqual({ kind: 'unwritten', reason: 'no confirmation within 8s' });
});

test.each<[string, World]>([
  ['throttles this namespace', { start: () => Promise.reject(failed(8, 'RESOURCE_EXHAUSTED: too many requests')) }],
  [
    'says nothing of that, and nothing of a task queue',
    { start: () => Promise.reject(LATE), describe: () => Promise.reject(LATE) },
  ],
  ['refuses it', { start: () => Promise.reject(failed(7, 'PERMISSION_DENIED')) }],
])('one that was not begun does not show that Temporal stores nothing where it %s', async (_what, world) => {
  const { end, listing } = await examined(world);
  expect(end).toEqual({ kind: 'unbegun', reason: expect.stringMatching(/^[478] [A-Z_]+/) as string });
  expect(listing).toBeNull();
});

test('one is waited for where Temporal does not say who polls', async () => {
  const describe = () => Promise.reject(LATE);
  expect(await examined({ describe })).toMatchObject({ end: { kind: 'silent' }, pollers: [], backlogs: [] });
});

test('an examination names the questions that Temporal did not answer', async () => {
  const reason = '7 PERMISSION_DENIED';
  const attributes = () => Promise.reject(failed(7, 'PERMISSION_DENIED'));
  const seen = await examined({ attributes });
  expect(seen).toMatchObject({ attributes: null, unanswered: [{ subject: 'search attributes', reason }] });
  const { unanswered } = await examined({ attributes, describe: () => Promise.reject(LATE) });
  expect(unanswered?.map(({ subject }) => subject).sort()).toEqual(['backlogs', 'builds', 'search attributes']);
  expect((await examined({})).unanswered).toBeUndefined();
});

test('an examination without a polling worker ends at once', async () => {
  expect(await examined({ pollers: [] })).toMatchObject({ end: { kind: 'unpolled' }, isEnded: true });
});

test('whether workers poll goes by the clock of Temporal, however wrong that of this machine is', async () => {
  const polled = (aheadMs: number) => {
    const seconds = Math.floor((Date.now() + aheadMs) / 1000) - 10;
    return examined({ aheadMs, pollers: [{ identity: '12@one', lastAccessTime: { seconds } }] });
  };
  for (const aheadMs of [-125_000, 125_000]) {
    const { end, pollers, clockAheadMs } = await polled(aheadMs);
    expect([end.kind, pollers.map(({ identity }) => identity)]).toEqual(['silent', ['12@one']]);
    expect(Math.abs((clockAheadMs ?? 0) - aheadMs)).toBeLessThan(1_000);
  }
});

test.each([
  ['was taken by no worker', [], { kind: 'silent', takenBy: null }],
  ['was given to a worker that said nothing', [taken], { kind: 'silent', takenBy: '12@one' }],
  ['was begun', [taken, { workflowTaskCompletedEventAttributes: {} }], { kind: 'stuck' }],
  [
    'is unknown to the worker',
    [taken, { workflowTaskFailedEventAttributes: { failure: { message: 'no such function' } } }],
    { kind: 'refused', reason: 'no such function' },
  ],
])('one that is late and %s is ended, and shows how far it came', async (_how, events, end) =>
  expect(await examined({ events })).toMatchObject({ end, isEnded: true }),
);

test('one that workers do not believe shows that they answer', async () => {
  const cause = ApplicationFailure.nonRetryable('Conveyor did not start this workflow');
  const refusal = new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE);
  expect((await examined({ result: () => Promise.reject(refusal) })).end).toEqual({
    kind: 'refused',
    reason: 'Conveyor did not start this workflow',
  });
});

test('one that lists show soon is listed, and lists that do not answer say why', async () => {
  let looks = 0;
  const soon = () => Promise.resolve({ count: (looks += 1) > 2 ? 1 : 0 });
  expect((await examined({ lists: soon })).listing).toEqual({ kind: 'listed' });
  const away = () => Promise.reject(new Error('the store is away'));
  expect((await examined({ lists: away })).listing).toEqual({ kind: 'silent', reason: 'the store is away' });
  expect((await examined({ start: () => Promise.reject(new Error('full')) })).listing).toBeNull();
});

test.each([
  ['show more than five seconds after its start', 2, 5_000],
  ['do not show within fifteen seconds', Infinity, 15_000],
])('one that lists %s is late by that', async (_, hidden, withinMs) => {
  let [looks, passedMs] = [0, 0];
  const now = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + passedMs);
  // Each look takes six seconds.
  const lists = () => {
    passedMs += 6_000;
    return Promise.resolve({ count: (looks += 1) > hidden ? 1 : 0 });
  };
  try {
    expect((await examined({ lists })).listing).toEqual({ kind: 'late', withinMs });
  } finally {
    clock.mockRestore();
  }
});
