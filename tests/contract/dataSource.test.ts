import { viaApp } from '../../sdk/client';
import { DATA_SOURCE_CHECKS } from '../../sdk/conform/dataSource';
import { givenFleet } from '../builders/simulatorFleet';
import { describeSuite } from './suite';

describeSuite('data source of the simulator', DATA_SOURCE_CHECKS, async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  const start = fleet.now();
  fleet.pass(600_000);
  return {
    ...{ fetch: viaApp(fleet.app), url: 'http://simulator/data-source' },
    ...{
      metric: 'system.cpu',
      unit: 'kvstore-x',
      tasks: ['kvstore-x/1/1', 'kvstore-x/2/1'] as const,
      window: { start, end: fleet.now() },
    },
  };
});
