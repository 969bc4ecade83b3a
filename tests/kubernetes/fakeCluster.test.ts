import { FakeCluster } from './fake/cluster';
import { RULES } from './rules';
import { RuleWorld } from './ruleWorld';

/** The fake control plane obeys the rules that a real one does (tests/kubernetes/realCluster.long.test.ts). */
const NODES = ['node-0', 'node-1', 'node-2'];
let cluster: FakeCluster;

beforeAll(async () => {
  cluster = await FakeCluster.open({ nodes: NODES });
});
afterAll(() => cluster.close());

describe('in a fake cluster', () => {
  test.each(RULES.map(({ title, story }) => [title, story] as const))('%s', async (_, story) => {
    const world = new RuleWorld({ api: cluster.api, kubelet: cluster.kubelet, nodes: NODES, reactionMs: 30 });
    await story(world);
    await world.clear();
  });
});
