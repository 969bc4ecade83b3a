import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { createCanaryReader } from '../../activities/canaryReader';
import { CANARIES_MEMO, type Canary } from '../../domain/mutex';

const LOCK = 'lock/twine/kvstore';
const canary: Canary = { owner: 'kvstore/2', requester: 'deploy/kvstore/2/canary/1', updates: ['one'] };

/** A lock as the server shows it. */
class Lock {
  canaries: readonly Canary[] = [];
  /** One that began before locks had any. */
  hasMemo = true;
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
  }

  private async describe() {
    if (this.failure) throw this.failure;
    const memo = this.hasMemo ? { [CANARIES_MEMO]: this.canaries.length } : undefined;
    return Promise.resolve({ memo, raw: { pendingWorkflowTask: this.isBusy ? {} : null } });
  }

  private answer() {
    this.asked += 1;
    return Promise.resolve(this.canaries);
  }
}

test('a lock without canaries is never asked: the server has their number', async () => {
  const lock = new Lock();
  const canaries = createCanaryReader(lock.client);
  for (let look = 0; look < 3; look += 1) expect(await canaries(LOCK)).toEqual([]);
  expect(lock.asked).toBe(0);
  lock.joined();
  expect(await canaries(LOCK)).toEqual([canary]);
});

test('during a task the lock itself is asked, since a canary that joins then is not counted yet', async () => {
  const lock = new Lock();
  lock.isBusy = true;
  expect(await createCanaryReader(lock.client)(LOCK)).toEqual([]);
  expect(lock.asked).toBe(1);
});

test('a lock that began before canaries were counted is asked', async () => {
  const lock = new Lock();
  lock.hasMemo = false;
  lock.joined();
  expect(await createCanaryReader(lock.client)(LOCK)).toEqual([canary]);
});

test('a silent lock is asked again, and the wait names it', async () => {
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
