import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createWaitForActivities } from '../../activities/waitFor';

/** A client to which the pipeline's workflow says this. */
function clientOf(says: () => unknown): Client {
  const getHandle = (id: string) => ({
    query: async (name: string) => (id === 'pipeline/api' && name === 'pipeline' ? says() : undefined),
  });
  return { workflow: { getHandle } } as unknown as Client;
}

const ask = (says: () => unknown, info: object = {}) => {
  const env = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  const beats: unknown[] = [];
  env.on('heartbeat', (details: unknown) => beats.push(details));
  const { waitForRelease } = createWaitForActivities({ client: clientOf(says) });
  const answer = env.run(waitForRelease, { action: 'wait', pipeline: 'api', artifact: null, intervalMs: 30_000 });
  return { answer, beats };
};
const ended = (number: number, state: string) => ({ number, state, cause: null, artifacts: [] });

test('while it must wait, the server learns when to ask again, and which release it is about', async () => {
  const { answer, beats } = ask(() => ({ active: [{ number: 4, artifacts: [] }], history: [] }));
  await expect(answer).rejects.toMatchObject({
    type: 'still-waiting',
    nonRetryable: false,
    nextRetryDelay: 30_000,
    message: 'waiting: api/4 has not ended yet',
  });
  expect(beats).toEqual([{ action: 'wait', progress: null, message: 'waiting: api/4 has not ended yet', release: 4 }]);
});

test('asked again, it is about the release of the first time', async () => {
  const known = { active: [], history: [ended(4, 'succeeded'), ended(5, 'failed')] };
  expect(await ask(() => known, { heartbeatDetails: { release: 4 } }).answer).toEqual({
    succeeded: true,
    message: 'api/4 succeeded',
    outputs: [],
  });
  expect(await ask(() => known).answer).toMatchObject({ succeeded: false, message: 'api/5 failed' });
});

test.each<[string, () => unknown]>([
  [
    'is not there',
    () => {
      throw new WorkflowNotFoundError('not found', 'pipeline/api', undefined);
    },
  ],
  ['was never applied', () => null],
])('a pipeline that %s is waited for', async (_title, says) => {
  await expect(ask(says).answer).rejects.toMatchObject({
    type: 'still-waiting',
    message: 'waiting: there is no pipeline api yet',
  });
});

test('a pipeline that cannot be asked is no end of the wait', async () => {
  const broken = () => {
    throw new Error('no worker');
  };
  await expect(ask(broken).answer).rejects.toThrow('no worker');
});
