import { viaApp } from '../../sdk/client';
import { DEPENDENCY_GRAPH_CHECKS } from '../../sdk/conform/dependencyGraph';
import { givenFleet } from '../builders/simulatorFleet';
import { describeSuite } from './suite';

describeSuite('dependency graph of the simulated monorepo', DEPENDENCY_GRAPH_CHECKS, async () => {
  const fleet = givenFleet();
  await fleet.control('POST', '/targets', { target: '//kv:server', deps: ['//kv/log'] });
  await fleet.control('POST', '/targets', { target: '//kv/log', deps: ['//lib:rpc'] });
  await fleet.control('POST', '/targets', { target: '//lib:rpc', deps: [] });
  return {
    ...{ fetch: viaApp(fleet.app), url: 'http://simulator/dependency-graph' },
    ...{ target: '//lib:rpc', dependent: '//kv:server', revisions: ['9', '10', '11'] as const },
  };
});
