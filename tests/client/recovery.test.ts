import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import { makeOffers, NO_OFFERS, type OfferBoard } from '../../domain/offers/board';
import { findPriorRecords } from '../../client/recovery';
import { SealCodec } from '../../client/seal';

const BOOKS = { nextNumber: 7, active: [], history: [] };
const [started, completed, failed] = [
  { workflowExecutionStartedEventAttributes: { input: { payloads: [defaultPayloadConverter.toPayload(BOOKS)] } } },
  { workflowTaskCompletedEventAttributes: {} },
  { workflowTaskFailedEventAttributes: {} },
];
/** The error of the server if no worker polls. */
const NOBODY = Object.assign(new Error('no poller'), { code: 9, details: 'no poller', metadata: {} });

/** A server with a terminated pipeline of this history, of which no worker says how it stands. */
const clientOf = (
  events: readonly object[],
  payloadCodecs: readonly PayloadCodec[] = [],
  board?: OfferBoard | Error,
): Client => {
  const handle = {
    describe: async () => ({ status: { name: 'TERMINATED' } }),
    query: () => Promise.reject(NOBODY),
    fetchHistory: async () => ({ events }),
  };
  const isGone = () => Promise.reject(new WorkflowNotFoundError('gone', 'release', undefined));
  const gone = { describe: isGone, query: isGone };
  const offers = {
    query: () => (board instanceof Error ? Promise.reject(board) : board ? Promise.resolve(board) : isGone()),
  };
  return {
    options: { namespace: 'default', loadedDataConverter: { ...defaultDataConverter, payloadCodecs } },
    withDeadline: (_: number, call: () => unknown) => call(),
    workflow: {
      getHandle: (id: string) => (id.startsWith('pipeline/') ? handle : id.startsWith('offers/') ? offers : gone),
      list: async function* () {},
    },
    workflowService: { getWorkflowExecutionHistory: async () => ({ history: { events } }) },
  } as unknown as Client;
};

test('a pipeline that ended while no worker runs is not taken for lost', async () => {
  await expect(findPriorRecords(clientOf([started, completed]), 'kv')).rejects.toBe(NOBODY);
});

test('nor is one that was terminated while a worker had a task of it', async () => {
  // FORCE_CLOSE_COMMAND
  const dropped = { workflowTaskFailedEventAttributes: { cause: 17 } };
  await expect(findPriorRecords(clientOf([started, completed, dropped]), 'kv')).rejects.toBe(NOBODY);
});

test.each([
  ['on which no worker has ever worked', [started]],
  ['that could not continue', [started, completed, failed]],
])('one %s continues with what its last history began with', async (_, events) => {
  expect(await findPriorRecords(clientOf(events), 'kv')).toMatchObject({ state: BOOKS, found: { nextNumber: 7 } });
});

describe('one whose offers are still used', () => {
  const made = { release: 40, action: 'deploy', made: [{ name: 'vpc', value: {}, to: ['*'] }], declared: ['vpc'] };
  const board = makeOffers(NO_OFFERS, made, '');

  test('continues after the releases that its offers know, so that they take its next values', async () => {
    const found = await findPriorRecords(clientOf([started, completed, failed], [], board), 'kv');
    expect(found?.found.nextNumber).toBe(41);
    const removed = { ...board, removed: [{ release: 52, action: 'deploy' }] };
    const after = await findPriorRecords(clientOf([started, completed, failed], [], removed), 'kv');
    expect(after?.found.nextNumber).toBe(53);
  });

  test('is not given numbers while no worker says what its offers know', async () => {
    await expect(findPriorRecords(clientOf([started, completed, failed], [], NOBODY), 'kv')).rejects.toBe(NOBODY);
  });
});

test('one that is paused through Temporal is not lost, and no other takes its place', async () => {
  const client = clientOf([started, completed, failed]);
  const { getHandle } = client.workflow;
  const describe = async () => ({ status: { name: 'PAUSED' } });
  client.workflow.getHandle = ((id: string) =>
    id.startsWith('pipeline/') ? { ...getHandle(id), describe } : getHandle(id)) as never;
  expect(await findPriorRecords(client, 'kv')).toBeUndefined();
});

describe('where what goes into Temporal is sealed', () => {
  const codec = new SealCodec({ keys: [{ id: 'k', secret: Buffer.alloc(32, 'k') }], unsealed: 'refuse' });
  const sealedFor = async (workflowId: string, value: unknown) => {
    const context = { type: 'workflow', namespace: 'default', workflowId } as const;
    const payloads = await codec.encode([defaultPayloadConverter.toPayload(value)], context);
    return { workflowExecutionStartedEventAttributes: { input: { payloads } } };
  };
  const unsealed = (value: unknown) => ({
    workflowExecutionStartedEventAttributes: { input: { payloads: [defaultPayloadConverter.toPayload(value)] } },
  });
  const INPUT = { artifacts: [], trigger: { kind: 'manual', actor: 'user:alice', key: null } };

  test('records that a stranger starts its workflow with are not those of the pipeline', async () => {
    const own = await sealedFor('pipeline/kv', BOOKS);
    const others = await sealedFor('pipeline/other', { ...BOOKS, nextNumber: 9 });
    expect(await findPriorRecords(clientOf([own], [codec]), 'kv')).toMatchObject({ state: BOOKS });
    for (const forged of [started, others])
      expect(await findPriorRecords(clientOf([forged], [codec]), 'kv')).toBeUndefined();
  });

  test('a workflow of a stranger, whether it runs or has ended, does not hide those of the run before', async () => {
    const own = await sealedFor('pipeline/kv', BOOKS);
    for (const name of ['RUNNING', 'TERMINATED']) {
      const client = clientOf([own], [codec]);
      const { getHandle } = client.workflow;
      client.workflow.list = async function* ({ query = '' } = {}) {
        if (query.includes('WorkflowId =')) yield* [{ runId: 'of a stranger' }, { runId: 'own' }];
      } as never;
      client.workflow.getHandle = ((id: string, runId = 'of a stranger') => {
        const query = async () => (runId === 'own' ? BOOKS : null);
        const describe = async () => ({ status: { name } });
        return id.startsWith('pipeline/') ? { ...getHandle(id), query, describe } : getHandle(id);
      }) as never;
      expect(await findPriorRecords(client, 'kv')).toMatchObject({ state: BOOKS });
    }
  });

  test('a workflow with the id of a release is none where a stranger started it, and leaves numbers to count on with', async () => {
    const inputs: Record<string, object> = {
      'pipeline/kv': await sealedFor('pipeline/kv', BOOKS),
      'release/kv/7': await sealedFor('release/kv/7', INPUT),
      'release/kv/8': unsealed({ ...INPUT, emergency: { action: 'deploy', skipBake: true } }),
      'release/kv/9007199254740991': unsealed(INPUT),
    };
    const client = clientOf([inputs['pipeline/kv'] ?? {}], [codec]);
    const { getHandle } = client.workflow;
    client.workflow.getHandle = ((id: string) =>
      id in inputs
        ? {
            ...getHandle('pipeline/kv'),
            describe: async () => ({ startTime: new Date(0), status: { name: 'TERMINATED' } }),
          }
        : getHandle(id)) as never;
    client.workflow.list = async function* ({ query = '' } = {}) {
      if (query.includes('WorkflowId =')) return;
      for (const workflowId of Object.keys(inputs).slice(1)) yield { workflowId };
    } as never;
    client.workflowService.getWorkflowExecutionHistory = (async ({
      execution,
    }: {
      execution: { workflowId: string };
    }) => ({
      history: { events: [inputs[execution.workflowId]] },
    })) as never;
    const left = await findPriorRecords(client, 'kv');
    expect(left?.found.nextNumber).toBe(9);
    expect(left?.found.releases.map(({ number }) => number)).toEqual([7]);
  });
});
