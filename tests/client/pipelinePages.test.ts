import type { Temporal } from '../../client/connection';
import { readPipelinePage } from '../../client/pipelinePages';

/** A Temporal that answers a page without rows, and records what it was asked. */
function fakeTemporal(nextPageToken: Uint8Array) {
  const asked: { readonly query?: string; readonly nextPageToken?: Uint8Array }[] = [];
  const client = {
    options: { loadedDataConverter: {} },
    withDeadline: (_at: number, call: () => unknown) => call(),
    workflow: { count: () => Promise.resolve({ count: 30_000 }) },
    workflowService: {
      listWorkflowExecutions: (request: (typeof asked)[number]) => (
        asked.push(request),
        Promise.resolve({ executions: [], nextPageToken })
      ),
    },
  };
  return { asked, temporal: { client, namespace: 'default', address: 'localhost:1' } as unknown as Temporal };
}

test('a page leads to the next one by its cursor', async () => {
  const token = Uint8Array.from([1, 2, 250]);
  const { asked, temporal } = fakeTemporal(token);
  const { next, total } = await readPipelinePage(temporal, { limit: 2 });
  expect([typeof next, total]).toEqual(['string', 30_000]);
  await readPipelinePage(temporal, { limit: 2, cursor: next ?? '' });
  expect(asked.map((request) => [...(request.nextPageToken ?? [])])).toEqual([[], [1, 2, 250]]);
  const last = await readPipelinePage(fakeTemporal(new Uint8Array()).temporal, { limit: 2 });
  expect(last.next).toBeNull();
});

test.each(['abcd', 'abcd.x', "x' OR 1=1", '.', 'AQL6.'])(
  'a cursor %j that no page gave is refused before Temporal is asked',
  async (cursor) => {
    const { asked, temporal } = fakeTemporal(new Uint8Array());
    await expect(readPipelinePage(temporal, { limit: 2, cursor })).rejects.toMatchObject({ code: 'invalid-request' });
    expect(asked).toEqual([]);
  },
);

test('Temporal filters, and a quote in a filter ends no text of its query', async () => {
  const { asked, temporal } = fakeTemporal(new Uint8Array());
  await readPipelinePage(temporal, {
    limit: 2,
    q: "kv'",
    owner: 'group:storage',
    label: 'team=storage',
    state: 'held',
  });
  expect(asked[0]?.query).toBe(
    `WorkflowType = 'pipeline' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH 'pipeline/kv' AND ConveyorOwners = 'group:storage' AND ConveyorLabels = 'team=storage' AND (ConveyorState IN ('held') OR ConveyorState IS NULL)`,
  );
});
