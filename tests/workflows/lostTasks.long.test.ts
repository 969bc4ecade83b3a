import { sideQueue } from '../../domain/taskQueues';
import { CALM, flow, slowAction } from './flows';
import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6);
  await world.job('kvstore-y', 'y', 3);
});
afterEach(() => world.close());

/** Each call has its own signal: Temporal's client adds a listener for every call, and Node warns of the eleventh on one signal. */
const pollOften = <T>(over: AbortSignal, poll: () => Promise<T>): Promise<T>[] =>
  Array.from({ length: 20 }, () => world.client.withAbortSignal(AbortSignal.any([over]), poll));

test('a task that a story waits for in vain is not lost as long as a worker has it or none is due', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  expect(await world.lostTasks()).toEqual([]);
});

test('an activity that the server gave to no worker is found, and named', async () => {
  const thief = new AbortController();
  const request = { namespace: 'default', taskQueue: { name: world.taskQueue }, identity: 'thief' };
  const poll = () => world.client.workflowService.pollActivityTaskQueue(request);
  const polls = pollOften(thief.signal, poll);
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  const { activityType, activityId, workflowExecution } = await Promise.race(polls);
  const name = `${activityType?.name} (activity ${activityId} of run ${workflowExecution?.runId})`;
  expect(await world.lostTasks()).toContain(name);
  await world.client.workflow.getHandle(workflowExecution?.workflowId ?? '').terminate();
  thief.abort();
  await Promise.allSettled(polls);
});

test('an activity that the server has forgotten, since it failed while it was asked to cancel, is found too', async () => {
  const thief = new AbortController();
  const { workflowService } = world.client;
  const request = {
    namespace: 'default',
    taskQueue: { name: sideQueue(world.taskQueue, 'looks') },
    identity: 'thief',
  };
  const poll = () => workflowService.pollActivityTaskQueue(request);
  const polls = pollOften(thief.signal, poll);
  await world.apply(flow({ test: slowAction(600) }, { pipeline: 'kvstore' }), CALM);
  await world.release('kvstore', 'kv:2');
  const { taskToken, activityId, workflowExecution } = await Promise.race(polls);
  const release = world.client.workflow.getHandle(workflowExecution?.workflowId ?? '');
  await world.command(release.workflowId, 'cancel');
  const failure = { message: 'not yet', applicationFailureInfo: { type: 'still-waiting' } };
  await workflowService.respondActivityTaskFailed({ namespace: 'default', taskToken, failure });
  expect(await world.lostTasks()).toContainEqual(expect.stringContaining(`activity ${activityId} of run`));
  await release.terminate();
  thief.abort();
  await Promise.allSettled(polls);
});

test('a workflow task that the server has forgotten, since a timer fired that it cancelled, is found too', async () => {
  const { workflowService } = world.client;
  const taskQueue = { name: 'by hand' };
  const poll = () => workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue });
  const answer = (taskToken: Uint8Array, command: object) =>
    workflowService.respondWorkflowTaskCompleted({ namespace: 'default', taskToken, commands: [command] });
  const handle = await world.client.workflow.start('by-hand', { taskQueue: 'by hand', workflowId: 'by-hand' });
  const startTimer = { timerId: '1', startToFireTimeout: { seconds: 2 } };
  await answer((await poll()).taskToken, { commandType: START_TIMER, startTimerCommandAttributes: startTimer });
  await handle.signal('wake');
  const { taskToken } = await poll();
  await world.sleep(3_000);
  await answer(taskToken, { commandType: CANCEL_TIMER, cancelTimerCommandAttributes: { timerId: '1' } }).catch(
    () => undefined,
  );
  await world.sleep(30_000);
  expect(await world.lostTasks()).toEqual([`a workflow task of run ${handle.firstExecutionRunId}`]);
  await handle.terminate();
});

/** COMMAND_TYPE_START_TIMER, …_CANCEL_TIMER */
const [START_TIMER, CANCEL_TIMER] = [3, 6];
