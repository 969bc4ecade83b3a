import { VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

test('a mistake in the code of a workflow is shown with the place that made it, without callers', async () => {
  const { workflow } = world.client;
  const options = { workflowId: 'deploy/kvstore/1/deploy/1', taskQueue: world.taskQueue };
  const handle = await workflow.start('deploy', { ...options, args: [{}] });
  const failures = async () => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes?.failure ?? []);
  };
  await world.until('its task failed', async () => (await failures()).length > 0);
  const [{ stackTrace } = { stackTrace: '' }] = await failures();
  const frames = (stackTrace ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  expect(frames).toEqual([expect.stringMatching(/(workflows|domain)\/.+\.ts:\d+:\d+/)]);
  await handle.terminate();
});
