import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { readGuests } from '../../activities/holders';

/** A client whose lock answers so; a call that is cut off fails, as gRPC's does. */
const clientOf = (query: () => Promise<unknown>): Client =>
  ({
    withAbortSignal: (_signal: AbortSignal, ask: () => Promise<unknown>) => ask(),
    workflow: { getHandle: () => ({ query }) },
  }) as unknown as Client;

test('a lock that does not answer is asked again, and whoever waits says for whom', async () => {
  const silent = clientOf(() => Promise.reject(new Error('cancelled')));
  await expect(readGuests(silent, 'lock/twine/kvstore')).rejects.toMatchObject({
    type: 'lock-silent',
    nonRetryable: false,
    message: 'waiting for lock/twine/kvstore, which does not say whose canaries run: cancelled',
  });
});

test('where there is no lock there are no canaries', async () => {
  const gone = clientOf(() => Promise.reject(new WorkflowNotFoundError('gone', 'lock/twine/kvstore', undefined)));
  expect(await readGuests(gone, 'lock/twine/kvstore')).toEqual([]);
});
