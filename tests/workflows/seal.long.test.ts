import type { Client } from '@temporalio/client';
import { payloadsIn } from '../../client/activityPayloads';
import { sendCommand } from '../../client/commands';
import { serverView } from '../../client/live';
import { untilAction } from './flows';
import { kvstore } from './pipelines';
import { isContinued, shortHistories } from './shortHistories';
import { MINUTE, SEAL, VirtualWorld } from './world';

const [PIPELINE, RELEASE, DEPLOY] = ['pipeline/kvstore', 'release/kvstore/1', 'deploy/kvstore/1/deploy/1'] as const;
const ALICE = { actor: 'user:alice', reason: 'because' };

let world: VirtualWorld;
let stranger: Client;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore(SEAL);
  stranger = world.stranger();
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'running');
  await world.sleep(2 * MINUTE);
});
afterEach(() => world.close());

const asked = (verb: Parameters<typeof sendCommand>[2], input = ALICE, of = 'kvstore/1') =>
  sendCommand(world.workflows(), of, verb, input);

const allRun = async (version: string): Promise<void> => {
  for (const job of await world.jobs()) expect(job.versions).toEqual({ [version]: 6 });
};

/** The last input of an update that a workflow accepted, as Temporal stores it. */
async function lastInput(workflowId: string) {
  const { events = [] } = await stranger.workflow.getHandle(workflowId).fetchHistory();
  const accepted = (events ?? []).flatMap((event) => {
    const { acceptedRequest } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
    return acceptedRequest?.input?.args ? [acceptedRequest.input.args] : [];
  });
  const last = accepted.at(-1);
  if (last === undefined) throw new Error(`${workflowId} has accepted nothing`);
  return last;
}

const signal = async (workflowId: string, signalName: string, input: object) =>
  stranger.workflowService.signalWorkflowExecution({
    ...{ namespace: 'default', workflowExecution: { workflowId }, signalName, input },
    requestId: signalName,
  });

test('a deploy whose every word is sealed goes its way, and Temporal shows it as ever', async () => {
  await asked('pause');
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ paused: { actor: 'user:alice' } });
  await asked('resume');
  await world.ended('kvstore', 1);
  await allRun('kv:2');
  const { events } = await stranger.workflow.getHandle(PIPELINE).fetchHistory();
  expect(JSON.stringify(events?.map((event) => event.workflowExecutionUpdateAcceptedEventAttributes))).not.toBe('[]');
});

test('people see what its activities were given, see now, and returned', async () => {
  const handle = world.client.workflow.getHandle(DEPLOY);
  const [watch] = (await serverView(handle)).pending;
  expect(watch).toMatchObject({ activity: 'watchHealth', heartbeat: { rows: expect.any(Array) } });
  const read = payloadsIn(handle);
  const events = (await handle.fetchHistory()).events ?? [];
  const ids = new Map(
    events.map((event) => [String(event.eventId), event.activityTaskScheduledEventAttributes?.activityId ?? '']),
  );
  for (const { activityTaskScheduledEventAttributes: given, userMetadata } of events) {
    if (!given) continue;
    const shown = [given.input?.payloads?.[0], userMetadata?.summary].filter((payload) => payload);
    for (const payload of shown) expect(await read(payload, given.activityId ?? '')).toBeDefined();
  }
  const results = events.flatMap(({ activityTaskCompletedEventAttributes: done }) => done ?? []);
  const returned = results.map(({ result, scheduledEventId }) =>
    read(result?.payloads?.[0], ids.get(String(scheduledEventId)) ?? ''),
  );
  expect((await Promise.all(returned)).filter((result) => result !== undefined).length).toBeGreaterThan(0);
});

test('a bad version is reverted automatically, is not taken again, and a person takes back the next one', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
  await allRun('kv:1');
  await expect(world.release('kvstore', 'kv:2')).rejects.toMatchObject({ name: 'WorkflowUpdateFailedError' });
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  await allRun('kv:3');
  await asked('revert', ALICE, 'kvstore/2');
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'succeeded', trigger: { kind: 'rollback', of: 2 } });
  await allRun('kv:1');
});

describe('where histories are short', () => {
  beforeEach(async () => {
    await world.close();
    world = await VirtualWorld.ofKvstore(SEAL, shortHistories());
    stranger = world.stranger();
    await world.apply(kvstore({ phases: [...PHASES], completion: { bake: '1h' } }));
    await world.release('kvstore', 'kv:2');
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  });
  const PHASES = [
    { name: 'first', scope: 'region:x', amount: 3, bake: '1h' },
    { name: 'half', scope: '*', amount: '50%', bake: '1h' },
  ];

  test('a sealed deploy continues in a new one, which knows what was taken in the old, and is reverted there', async () => {
    await asked('pause');
    const payloads = await lastInput(DEPLOY);
    await asked('resume');
    await asked('pause');
    await asked('resume');
    await world.until('it bakes the next phase', async () => {
      const { phases } = await world.deployStatus('kvstore', 1);
      return Boolean(phases[1]?.bakeUntil);
    });
    expect(await isContinued(stranger, DEPLOY)).toBe(true);
    await signal(DEPLOY, 'pause', payloads);
    await world.sleep(MINUTE);
    const { commands, state } = await world.deployStatus('kvstore', 1);
    expect(state).toBe('baking');
    expect(commands.map(({ verb, accepted }) => `${verb} ${accepted}`)).toEqual([
      ...['pause true', 'resume true', 'pause true', 'resume true', 'pause false'],
    ]);
    expect(commands.at(-1)?.rejection).toBe('this was asked for once, and has been taken');
    await asked('revert');
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
    await allRun('kv:1');
    await asked('unhold', ALICE, 'kvstore');
    await world.release('kvstore', 'kv:3');
    await world.ended('kvstore', 2);
    await allRun('kv:3');
    expect(await isContinued(stranger, PIPELINE)).toBe(true);
  });
});

describe('a client with access to Temporal and without a key changes nothing', () => {
  test.each([
    [DEPLOY, 'cancel', ALICE],
    [DEPLOY, 'skip-bake', ALICE],
    [RELEASE, 'pause', ALICE],
    [PIPELINE, 'freeze', ALICE],
    [PIPELINE, 'roll-back', { ...ALICE, of: 1 }],
    [PIPELINE, 'start-release', { artifacts: [], trigger: { kind: 'manual', actor: 'user:alice', key: null } }],
    [PIPELINE, 'submit', { artifacts: [], trigger: { kind: 'webhook', actor: 'service:ci', key: null } }],
  ])('by an update of %s: %s', async (workflowId, update, input) => {
    await expect(
      stranger.workflow.getHandle(workflowId).executeUpdate(update, { args: [input] }),
    ).rejects.toMatchObject({ name: 'WorkflowUpdateFailedError' });
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ state: 'baking', commands: [] });
  });

  test('by a signal between workflows, or by one that is a verb', async () => {
    const [release, deploy] = [RELEASE, DEPLOY].map((id) => stranger.workflow.getHandle(id));
    for (const handle of [release, deploy]) {
      await handle?.signal('policy', { owners: ['user:mallory'], groups: {} });
      await handle?.signal('pause', { actor: 'user:mallory', reason: 'mine' });
      await handle?.signal('cancel', ALICE);
      await handle?.signal('frozen', { by: ALICE });
    }
    await world.ended('kvstore', 1);
    expect(await world.releaseStatus('kvstore', 1)).toMatchObject({ state: 'succeeded' });
  });

  test('by starting a pipeline of a name in a stranger’s words', async () => {
    await stranger.workflow.start('pipeline', {
      ...{ workflowId: 'pipeline/other', taskQueue: world.taskQueue },
      args: [{ spec: { ...kvstore(), pipeline: 'other' } }],
    });
    await expect(world.pipelineStatus('other')).rejects.toThrow();
    expect(await world.apply({ ...kvstore(), pipeline: 'other' })).toMatchObject({ created: true });
  });
});

describe('a message sealed for one purpose is good for no other', () => {
  test('not for another workflow, not as another verb, not a second time', async () => {
    await asked('pause');
    const payloads = await lastInput(DEPLOY);
    await asked('resume');
    for (const verb of ['pause', 'cancel', 'skip-bake']) await signal(DEPLOY, verb, payloads);
    await signal(RELEASE, 'pause', payloads);
    await world.sleep(MINUTE);
    const deploy = await world.deployStatus('kvstore', 1);
    expect(deploy).toMatchObject({ state: 'baking' });
    expect(deploy.commands.map(({ verb, accepted, rejection }) => [verb, accepted, rejection])).toEqual([
      ['pause', true, undefined],
      ['resume', true, undefined],
      ['pause', false, 'this was asked for once, and has been taken'],
      ['cancel', false, 'this was asked for as pause, not as cancel'],
      ['skip-bake', false, 'this was asked for as pause, not as skip-bake'],
    ]);
    expect(await world.releaseStatus('kvstore', 1)).toMatchObject({ state: 'running' });
  });
});
