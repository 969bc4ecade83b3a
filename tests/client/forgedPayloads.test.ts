import { defaultDataConverter } from '@temporalio/common';
import { encodeToPayload } from '@temporalio/common/lib/internal-non-workflow';
import type { WorkflowHandle } from '@temporalio/client';
import { serverView } from '../../client/live';
import { actionLogs } from '../../client/logs';
import { createSealOptions, type Seal } from '../../client/seal';
import type { Workflows } from '../../client/workflows';

/** A process with access to Temporal can send heartbeats and ends in the name of an activity: people see only what is sealed for it. */

const SEAL: Seal = { keys: [{ id: 'k1', secret: Buffer.from('a secret of this test') }], unsealed: 'refuse' };
const RELEASE = 'release/kvstore/1';
const sealed = { ...defaultDataConverter, ...createSealOptions(SEAL).dataConverter };

interface Sender {
  readonly by?: 'worker' | 'stranger';
  readonly activityId?: string;
}

/** As a worker or a stranger sends it, for the activity of that id. */
async function payloads(value: unknown, { by = 'worker', activityId = '7' }: Sender) {
  const context = { type: 'activity', namespace: 'default', workflowId: RELEASE, activityId, isLocal: false } as const;
  return { payloads: [await encodeToPayload(by === 'worker' ? sealed : defaultDataConverter, value, context)] };
}

const SENT: readonly [what: string, sender: Sender, isShown: boolean][] = [
  ['its worker sends', {}, true],
  ['a stranger sends', { by: 'stranger' }, false],
  ['was sealed for another activity', { activityId: '8' }, false],
];
const SAID = { run: 'kvstore/1/test/1', log: '12 passed', message: 'done', succeeded: true };

/** A release with one script, which runs or has ended. */
async function releaseWith(sender: Sender, isOver: boolean): Promise<WorkflowHandle> {
  const said = await payloads(SAID, sender);
  const scheduled = {
    activityId: '7',
    activityType: { name: 'runScript' },
    input: await payloads({ runId: SAID.run }, {}),
  };
  const running = { activityId: '7', activityType: { name: 'runScript' }, heartbeatDetails: said };
  const events = [
    { eventId: 5, activityTaskScheduledEventAttributes: scheduled },
    ...(isOver ? [{ eventId: 9, activityTaskCompletedEventAttributes: { scheduledEventId: 5, result: said } }] : []),
  ];
  const description = { status: { name: 'RUNNING' }, raw: { pendingActivities: isOver ? [] : [running] } };
  return {
    ...{ workflowId: RELEASE, client: { options: { namespace: 'default', loadedDataConverter: sealed } } },
    ...{ describe: () => Promise.resolve(description), fetchHistory: () => Promise.resolve({ events }) },
  } as unknown as WorkflowHandle;
}

async function logOf(handle: WorkflowHandle) {
  const actions = [{ name: 'test', attempt: 1, endedAt: null, deploy: null }];
  const workflows = {
    release: () => Promise.resolve({ actions }),
    temporal: { client: { workflow: { getHandle: () => handle } } },
    withWording: (_: string, ask: () => unknown) => ask(),
  } as unknown as Workflows;
  return (await actionLogs(workflows, 'kvstore/1/test')).runs[0]?.log;
}

describe.each(SENT)('what %s', (_, sender, isShown) => {
  test(`is ${isShown ? '' : 'not '}shown as what the activity is at`, async () => {
    const { pending } = await serverView(await releaseWith(sender, false));
    expect(pending[0]?.heartbeat).toEqual(isShown ? SAID : undefined);
  });

  test.each([
    ['runs', false],
    ['has ended', true],
  ])(`is ${isShown ? '' : 'not '}shown as the log of a script that %s`, async (_state, isOver) => {
    expect(await logOf(await releaseWith(sender, isOver))).toBe(isShown ? SAID.log : null);
  });
});
