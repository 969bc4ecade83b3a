import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import type { PushTypeSubject } from '../../sdk/conform/pushType/world';
import { expectNoViolations, givenFleet } from '../builders/simulatorFleet';
import { describeSuite } from './suite';

describeSuite('push type twine', PUSH_TYPE_CHECKS, async (): Promise<PushTypeSubject> => {
  const fleet = givenFleet();
  for (const name of ['kvstore-x', 'kvstore-y']) await fleet.job(name, { tasks: 10, nSmall: 2, budget: 2 });
  await fleet.behaves('dead:1', { crashOnStart: true });
  return {
    fetch: viaApp(fleet.app),
    url: 'http://simulator/push-types/twine',
    config: { jobs: ['kvstore-x', 'kvstore-y'] },
    units: ['kvstore-x', 'kvstore-y'],
    sizes: [10, 10],
    version: 'kv:1',
    newVersions: ['new:1', 'new:2'],
    deadVersion: 'dead:1',
    ...{ pipeline: 'kvstore', release: 12 },
    now: fleet.now,
    tick: async () => fleet.pass(15_000),
    settle: async () => fleet.pass(600_000),
    grow: async (unit) => {
      const { size } = await fleet.look(unit);
      await fleet.control('PATCH', `/jobs/${unit}`, { tasks: size + 1 });
    },
  };
});

afterEach(expectNoViolations);
