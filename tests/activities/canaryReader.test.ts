import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { createCanaryReader } from '../../activities/canaryReader';
import type { Canary } from '../../domain/mutex';

const LOCK = 'lock/twine/kvstore';
const canary: Canary = { owner: 'kvstore/2', requester: 'deploy/kvstore/2/canary/1', updates: ['one'] };

/** A lock as the server shows it. */
class Lock {
  canaries: readonly Canary[] = [];
  length = 5;
  runId = 'first';
  /** A task of it is with a worker. */
  isBusy = false;
  asked = 0;
  failure: Error | undefined;

  /** A client that knows no other; a call that is cut off fails, as gRPC's does. */
  readonly client = {
    withAbortSignal: (_signal: AbortSignal, ask: () => Promise<unknown>) => ask(),
    workflow: { getHandle: () => ({ describe: () => this.describe(), query: () => this.answer() }) },
  } as unknown as Client;

  joined(): void {
    this.canaries = [canary];
    this.length += 3;
  }

  private async describe() {
    if (this.failure) throw this.failure;
    const { runId, length: historyLength } = this;
    return Promise.resolve({ runId, historyLength, raw: { pendingWorkflowTask: this.isBusy ? {} : null } });
  }

  private answer() {
    this.asked += 1;
    return Promise.resolve(this.canaries);
  }
}

test('a lock is asked again only when its history has grown, or it is another', async () => {
  const lock = new Lock();
  const canaries = createCanaryReader(lock.client);
  for (let look = 0; look < 3; look += 1) expect(await canaries(LOCK)).toEqual([]);
  expect(lock.asked).toBe(1);
  lock.joined();
  for (let look = 0; look < 3; look += 1) expect(await canaries(LOCK)).toEqual([canary]);
  expect(lock.asked).toBe(2);
  lock.runId = 'second';
  await canaries(LOCK);
  expect(lock.asked).toBe(3);
});

test('an answer during a task is not kept, since a canary that joins then is not in its history yet', async () => {
  const lock = new Lock();
  const canaries = createCanaryReader(lock.client);
  lock.isBusy = true;
  expect(await canaries(LOCK)).toEqual([]);
  lock.canaries = [canary];
  expect(await canaries(LOCK)).toEqual([canary]);
});

test('only so many locks are remembered', async () => {
  const lock = new Lock();
  const canaries = createCanaryReader(lock.client);
  for (let nth = 0; nth <= 10_000; nth += 1) await canaries(`lock/twine/store-${nth}`);
  await canaries('lock/twine/store-10000');
  expect(lock.asked).toBe(10_001);
  await canaries('lock/twine/store-0');
  expect(lock.asked).toBe(10_002);
});

test('a lock that does not answer is asked again, and whoever waits says for whom', async () => {
  const lock = new Lock();
  lock.failure = new Error('cancelled');
  await expect(createCanaryReader(lock.client)(LOCK)).rejects.toMatchObject({
    type: 'lock-silent',
    nonRetryable: false,
    message: 'waiting for lock/twine/kvstore, which does not say whose canaries run: cancelled',
  });
});

test('where there is no lock there are no canaries', async () => {
  const lock = new Lock();
  lock.failure = new WorkflowNotFoundError('gone', LOCK, undefined);
  expect(await createCanaryReader(lock.client)(LOCK)).toEqual([]);
});
