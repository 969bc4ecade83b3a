import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { releaseEnd } from '../../activities/remains';

const PATIENCE = { cancelGraceMs: 60_000, dependencyGraceMs: 60_000, reconcileIntervalMs: 600_000 };
const NOW = Date.parse('2026-01-05T12:00:00Z');

const begun = (workflowId: string) => ({
  startChildWorkflowExecutionInitiatedEventAttributes: {
    ...{ workflowType: { name: 'deploy' }, workflowId },
    input: { payloads: [defaultPayloadConverter.toPayload({ action: workflowId.split('/')[3], artifacts: [] })] },
  },
});

/** A server that knows so much of each workflow. */
const clientOf = (statuses: Readonly<Record<string, string>>, events: readonly object[]): Client =>
  ({
    workflow: {
      getHandle: (id: string) => ({
        describe: async () => {
          const name = statuses[id];
          if (name === undefined) throw new WorkflowNotFoundError('no such workflow', id, undefined);
          return { status: { name }, closeTime: new Date(NOW) };
        },
        fetchHistory: async () => ({ events }),
        result: async () => ({ outcome: 'succeeded' }),
      }),
    },
  }) as unknown as Client;

test('a deploy that Temporal has forgotten hides none of the others of a release that was terminated', async () => {
  const [staging, canary, prod] = ['staging', 'canary', 'prod'].map((action) => `deploy/kv/7/${action}/1`) as [
    string,
    string,
    string,
  ];
  const statuses = { 'release/kv/7': 'TERMINATED', [canary]: 'COMPLETED', [prod]: 'RUNNING' };
  const client = clientOf(statuses, [begun(staging), begun(canary), begun(prod)]);
  const parts = { client, clock: { now: async () => NOW } } as unknown as Parameters<typeof releaseEnd>[0];
  expect(await releaseEnd(parts, { pipeline: 'kv', number: 7 }, PATIENCE)).toMatchObject({
    kind: 'gone',
    deploys: [{ action: 'canary', result: { outcome: 'succeeded' } }],
    open: [`${prod} has not ended`],
  });
});
