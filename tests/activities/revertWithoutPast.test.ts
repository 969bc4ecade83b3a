import { MockActivityEnvironment } from '@temporalio/testing';
import type { DeployCall, Invoke, PushPorts } from '../../activities/pushCalls';
import { createRevertActivities, type RevertRequest, type SentRevert } from '../../activities/reverts';

/** The first three were reached. Only the previous version of a is known. */
const units = ['a', 'b', 'c', 'd'].map((id) => ({
  ...{ id, labels: {}, size: 1, version: id === 'a' ? 'kv:1' : null, mixed: false, available: true },
}));

function revert(listed: readonly string[]): Promise<SentRevert> {
  const invoke = (async (_: unknown, method: string) =>
    method === 'executeUpdates'
      ? {}
      : { service: 'kv', units: units.filter(({ id }) => listed.includes(id)), next: null }) as unknown as Invoke;
  const ports = { snapshots: { read: async () => units } } as unknown as PushPorts;
  const call = { pushType: 'twine', deployId: 'deploy/kv/2/deploy/1' } as unknown as DeployCall;
  const request: RevertRequest = {
    ...{ updateId: 'deploy/kv/2/deploy/1/revert/1', snapshot: { units }, updatedBy: [] },
    parts: [{ kind: 'partial', scope: '*', amount: { units: { count: 3 } }, without: [] }],
    rules: { lastGood: null, deployed: 'kv:2' },
  };
  const environment = new MockActivityEnvironment();
  return environment.run(() => createRevertActivities(ports, invoke).revertUpdates(call, request));
}

test('a revert names what it leaves as it is: units without a past that it reached, and that are still there', async () => {
  const { units: sent, withoutPast } = await revert(['a', 'b', 'd']);
  expect(sent).toEqual([{ id: 'a', toVersion: 'kv:1' }]);
  expect(withoutPast).toEqual({ count: 1, names: ['b'] });
});

test('once none of them is there any more, nothing keeps it from its end', async () => {
  expect(await revert(['a', 'd'])).not.toHaveProperty('withoutPast');
});
