import { toWire, type DeployCall } from '../../activities/pushCalls';
import type { PlannedTarget } from '../../domain/deploy/plan';

const CALL: DeployCall = {
  ...{ pushType: 'twine', pipeline: 'kvstore', release: 2, deployId: 'deploy/kvstore/2/deploy/1', actor: 'user:alice' },
  config: {},
  inPages: true,
};
const target = (unit: string, count: number): PlannedTarget => ({
  ...{ unit, version: 'kv:2', artifacts: [], amount: { count } },
});

test('settings go with each unit where they differ, and are sent once where they do not', () => {
  const common = { version: 'kv:2', artifacts: [] };
  expect(toWire(CALL, [target('a', 2), target('b', 3)], [])).toEqual({
    targets: [
      { unit: 'a', amount: { count: 2 } },
      { unit: 'b', amount: { count: 3 } },
    ],
    common,
  });
  expect(toWire(CALL, [target('a', 2), target('b', 2)], [])).toEqual({
    targets: [{ unit: 'a' }, { unit: 'b' }],
    common: { ...common, amount: { count: 2 } },
  });
});
