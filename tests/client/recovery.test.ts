import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { leftOf } from '../../client/recovery';

const BOOKS = { nextNumber: 7, active: [], history: [] };
const [started, completed, failed] = [
  { workflowExecutionStartedEventAttributes: { input: { payloads: [defaultPayloadConverter.toPayload(BOOKS)] } } },
  { workflowTaskCompletedEventAttributes: {} },
  { workflowTaskFailedEventAttributes: {} },
];
/** What the server says when no worker polls. */
const NOBODY = Object.assign(new Error('no poller'), { code: 9, details: 'no poller', metadata: {} });

/** A server with a terminated pipeline of this history, of which no worker says how it stands. */
const clientOf = (events: readonly object[]): Client => {
  const handle = {
    describe: async () => ({ status: { name: 'TERMINATED' } }),
    query: () => Promise.reject(NOBODY),
    fetchHistory: async () => ({ events }),
  };
  const gone = { describe: () => Promise.reject(new WorkflowNotFoundError('gone', 'release', undefined)) };
  return {
    options: { namespace: 'default' },
    withDeadline: (_: number, call: () => unknown) => call(),
    workflow: {
      getHandle: (id: string) => (id.startsWith('pipeline/') ? handle : gone),
      list: async function* () {},
    },
    workflowService: { getWorkflowExecutionHistory: async () => ({ history: { events } }) },
  } as unknown as Client;
};

test('a pipeline that ended while no worker runs is not taken for lost', async () => {
  await expect(leftOf(clientOf([started, completed]), 'kv')).rejects.toBe(NOBODY);
});

test('nor is one that was terminated while a worker had a task of it', async () => {
  // FORCE_CLOSE_COMMAND
  const dropped = { workflowTaskFailedEventAttributes: { cause: 17 } };
  await expect(leftOf(clientOf([started, completed, dropped]), 'kv')).rejects.toBe(NOBODY);
});

test.each([
  ['on which no worker has ever worked', [started]],
  ['that could not continue', [started, completed, failed]],
])('one %s continues with what its last history began with', async (_, events) => {
  expect(await leftOf(clientOf(events), 'kv')).toMatchObject({ state: BOOKS, found: { nextNumber: 7 } });
});

test('one that is paused through Temporal is not lost, and no other takes its place', async () => {
  const client = clientOf([started, completed, failed]);
  const { getHandle } = client.workflow;
  const describe = async () => ({ status: { name: 'PAUSED' } });
  client.workflow.getHandle = ((id: string) =>
    id.startsWith('pipeline/') ? { ...getHandle(id), describe } : getHandle(id)) as never;
  expect(await leftOf(client, 'kv')).toBeUndefined();
});
