import { viaApp } from '../../sdk/client';
import { expectNoViolations, givenFleet } from '../domain/simulatorFleet';
import { describePushType, type PushTypeSubject } from './pushType';

describePushType('twine', async (): Promise<PushTypeSubject> => {
  const fleet = givenFleet();
  for (const name of ['kvstore-x', 'kvstore-y']) await fleet.job(name, { tasks: 10, nSmall: 2, budget: 2 });
  await fleet.behaves('dead:1', { crashOnStart: true });
  return {
    fetch: viaApp(fleet.app),
    url: 'http://simulator/push-types/twine',
    config: { jobs: ['kvstore-x', 'kvstore-y'] },
    units: ['kvstore-x', 'kvstore-y'],
    size: 10,
    version: 'kv:1',
    inPages: true,
    deadVersion: 'dead:1',
    tick: () => fleet.pass(15_000),
    settle: () => fleet.pass(600_000),
    grow: async (unit) => {
      const { size } = await fleet.look(unit);
      await fleet.control('PATCH', `/jobs/${unit}`, { tasks: size + 1 });
    },
  };
});

afterEach(expectNoViolations);
