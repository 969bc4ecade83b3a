import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { createHolderActivities } from '../../activities/holders';
import { releaseEnd, stepsLeft } from '../../activities/remains';

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
    options: { namespace: 'default', loadedDataConverter: { ...defaultDataConverter, payloadCodecs: [] } },
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

describe('while it is paused through Temporal', () => {
  const parts = (statuses: Readonly<Record<string, string>>, events: readonly object[]) =>
    ({ client: clientOf(statuses, events), clock: { now: async () => NOW } }) as unknown as Parameters<
      typeof releaseEnd
    >[0];

  test('a release has not ended, and none of its actions is cancelled', async () => {
    const runs = { activityTaskScheduledEventAttributes: { activityType: { name: 'runAction' } } };
    const read = jest.fn(async () => ({ events: [runs] }));
    const given = parts({ 'release/kv/7': 'PAUSED' }, []);
    const { getHandle } = given.client.workflow;
    given.client.workflow.getHandle = ((id: string) => ({ ...getHandle(id), fetchHistory: read })) as never;
    expect(await releaseEnd(given, { pipeline: 'kv', number: 7 }, PATIENCE)).toBeUndefined();
    expect(read).not.toHaveBeenCalled();
  });

  test('a deploy of a release that was terminated has not ended, and keeps its steps', async () => {
    const deploy = 'deploy/kv/7/prod/1';
    const given = parts({ 'release/kv/7': 'TERMINATED', [deploy]: 'PAUSED' }, [begun(deploy)]);
    expect(await releaseEnd(given, { pipeline: 'kv', number: 7 }, PATIENCE)).toMatchObject({
      open: [`${deploy} has not ended`],
    });
    expect(await stepsLeft(given, deploy, PATIENCE.cancelGraceMs)).toEqual([]);
  });

  test('release, deploy and lock keep what they hold', async () => {
    const ids = ['release/kv/7', 'deploy/kv/7/prod/1', 'lock/service/kv'];
    const given = parts(Object.fromEntries(ids.map((id) => [id, 'PAUSED'])), []);
    const { stillRunning } = createHolderActivities(given as unknown as Parameters<typeof createHolderActivities>[0]);
    expect(await stillRunning(ids, PATIENCE)).toEqual(ids);
  });
});
