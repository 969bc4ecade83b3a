import { MockActivityEnvironment } from '@temporalio/testing';
import { createPushTypeActivities } from '../../activities/pushType';
import type { PushPorts } from '../../activities/pushCalls';
import type { Fetch } from '../../sdk/request';

const CALL = {
  ...{ pushType: 'twine', pipeline: 'kv', release: 2, deployId: 'deploy/kv/2/deploy/1', actor: 'user:alice' },
  config: {},
};
const UPDATE = 'deploy/kv/2/deploy/1/0/1';

/** The keys under which a push type is asked by a run of a deploy. */
async function keysOf(
  runId: string,
  work: (activities: ReturnType<typeof createPushTypeActivities>) => Promise<unknown>,
) {
  const keys: (string | null)[] = [];
  const fetch: Fetch = (request) => {
    keys.push(request.headers.get('idempotency-key'));
    return Promise.resolve(Response.json({}));
  };
  const registry = { find: () => ({ name: 'twine', kind: 'push-type', url: 'http://push-type' }) };
  const ports = { registry, fetch, snapshots: { read: async () => [] } } as unknown as PushPorts;
  const workflowExecution = { workflowId: CALL.deployId, runId };
  await new MockActivityEnvironment({ workflowExecution }).run(() => work(createPushTypeActivities(ports)));
  return keys;
}

test.each([
  ['pause', (push: ReturnType<typeof createPushTypeActivities>) => push.pauseUpdates(CALL, [UPDATE], 1)],
  ['resume', (push: ReturnType<typeof createPushTypeActivities>) => push.resumeUpdates(CALL, [UPDATE], 1)],
  [
    'shift of traffic',
    (push: ReturnType<typeof createPushTypeActivities>) =>
      push.shiftTraffic(CALL, {
        step: '0/1',
        selection: { snapshot: { units: [] }, parts: [] },
        percent: 5,
        toVersion: 'kv:2',
      }),
  ],
])('a repeated %s has one key; that of a lost release with the same number had another', async (_, work) => {
  const [first, again, lost] = [await keysOf('run-1', work), await keysOf('run-1', work), await keysOf('run-2', work)];
  expect(first).toHaveLength(1);
  expect(again).toEqual(first);
  expect(lost).not.toEqual(first);
});
