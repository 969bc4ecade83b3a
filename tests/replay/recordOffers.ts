import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { given, type Service } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

const AT_ONCE = { phases: [], completion: { bake: '0s' }, healthChecks: [] };
const WHY = ['--reason', 'to record a history'];

/** A deploy waits for an offer, uses it, and is rolled back; the offer changes, waits for its user, and is withdrawn. */
export async function recordOffers(stack: Stack, save: Save): Promise<void> {
  const network = await given(stack, { name: 'shop-network', deploy: AT_ONCE });
  const wishes = [{ from: network.name, offer: 'place', version: '^1' }];
  const config = { jobs: ['shop-wishing-x', '${wishes.shop-network.place.job}'] };
  const shop = await given(stack, { name: 'shop-wishing', pipeline: { wishes }, deploy: { ...AT_ONCE, config } });
  const apply = (of: Service, more: Partial<PipelineSource>) =>
    stack.client.apply(pipelineSchema.parse({ ...of.source, ...more }), OWNER);
  const waits = (of: Service, number: number, why: string) =>
    eventually(`${of.name} waits`, async () => {
      const { actions } = await of.release(number);
      return actions.some(({ blockedBy }) => blockedBy?.includes(why)) || undefined;
    });
  const value = { job: 'shop-wishing-y' };
  await shop.ships(2);
  await waits(shop, 1, 'has not offered');
  await apply(network, { offers: [{ name: 'place', version: '1.0.0', value }] });
  await network.ships(2);
  await network.ended(1);
  await shop.ended(1);
  await shop.ships(3);
  await shop.ended(2);
  await stack.json(['revert', `${shop.name}/2`, ...WHY]);
  await shop.ended(3);
  await apply(network, { offers: [{ name: 'place', version: '2.0.0', value }] });
  await network.ships(3);
  await waits(network, 2, 'does not fit');
  await stack.json(['end-use', network.name, `${shop.name}/deploy`, ...WHY]);
  await network.ended(2);
  await apply(network, {});
  const offers = stack.temporal.workflow.getHandle(workflowIds.offers(network.name));
  await eventually(
    'they are withdrawn',
    async () => (await offers.describe()).status.name === 'COMPLETED' || undefined,
  );
  await save(stack, 'offers-withdrawn', workflowIds.offers(network.name));
  await save(stack, 'release-offers', workflowIds.release(network.name, 2));
  await save(stack, 'release-wishes', workflowIds.release(shop.name, 1));
  await save(stack, 'release-rollback-wishes', workflowIds.release(shop.name, 3));
  await save(stack, 'deploy-wishes', shop.deployWorkflow(1));
  await save(stack, 'pipeline-offers', workflowIds.pipeline(network.name));
  await save(stack, 'pipeline-wishes', workflowIds.pipeline(shop.name));
}
