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

/** A person lets a deploy begin although its offer does not fit a user. */
export async function recordOverride(stack: Stack, save: Save): Promise<void> {
  const network = await given(stack, { name: 'shop-subnet', deploy: AT_ONCE });
  const offering = (version: string) =>
    stack.client.apply(
      pipelineSchema.parse({ ...network.source, offers: [{ name: 'place', version, value: { job: 'x' } }] }),
      OWNER,
    );
  const wishes = [{ from: network.name, offer: 'place', version: '^1' }];
  const shop = await given(stack, { name: 'shop-routed', pipeline: { wishes }, deploy: AT_ONCE });
  await offering('1.0.0');
  for (const service of [network, shop]) {
    await service.ships(2);
    await service.ended(1);
  }
  await offering('2.0.0');
  await network.ships(3);
  await eventually('it waits for its user', async () => {
    const { actions } = await network.release(2);
    return actions.some(({ unfit }) => unfit?.users[0]?.user === `${shop.name}/deploy`) || undefined;
  });
  await stack.json(['override-offer', `${network.name}/2`, '--yes', ...WHY]);
  await network.ended(2);
  await save(stack, 'release-override-offer', workflowIds.release(network.name, 2));
}

/**
 * A rollback brings an offer that does not fit its user, and both owners are notified at addresses that are refused. An emergency cannot make it.
 */
export async function recordBrokenOffers(stack: Stack, save: Save): Promise<void> {
  const notify = [{ on: ['offer-broken' as const], url: '${NOT_LISTED}' }];
  const offers = (version: string, id = 'vpc-7') => [{ name: 'place', version, value: { id } }];
  const pipeline = { notify, offers: offers('1.0.0') };
  const network = await given(stack, { name: 'shop-breaking', pipeline, deploy: AT_ONCE });
  const wishes = [{ from: network.name, offer: 'place', version: '^2' }];
  const shop = await given(stack, { name: 'shop-at-risk', pipeline: { wishes, notify }, deploy: AT_ONCE });
  const apply = (more: Partial<PipelineSource>) =>
    stack.client.apply(pipelineSchema.parse({ ...network.source, ...more }), OWNER);
  await network.ships(2);
  await network.ended(1);
  await apply({ offers: offers('2.0.0') });
  await network.ships(3);
  await network.ended(2);
  await shop.ships(2);
  await shop.ended(1);
  await stack.json(['revert', `${network.name}/2`, ...WHY]);
  await network.ended(3);
  await apply({ offers: offers('2.0.0', '${executable.metadata.id}') });
  const artifact = { name: 'executable', kind: 'executable', version: network.version(4), metadata: {} };
  const reason = 'to record a history';
  await stack.client.push(network.name, 'deploy', [artifact], { actor: OWNER, reason, skipBake: true });
  await network.ended(4);
  for (const number of [3, 4]) {
    const release = stack.temporal.workflow.getHandle(workflowIds.release(network.name, number));
    await eventually(
      'its notices are over',
      async () => (await release.describe()).status.name === 'COMPLETED' || undefined,
    );
  }
  await save(stack, 'release-rollback-breaks-offer', workflowIds.release(network.name, 3));
  await save(stack, 'release-emergency-drops-offer', workflowIds.release(network.name, 4));
}

/** A pipeline is undeployed, and so is another, whose wish says so. */
export async function recordUndeploy(stack: Stack, save: Save): Promise<void> {
  const offers = [{ name: 'place', version: '1.0.0', value: { job: 'x' } }];
  const network = await given(stack, { name: 'shop-removed', pipeline: { offers }, deploy: AT_ONCE });
  const wishes = [{ from: network.name, offer: 'place', onWithdraw: 'undeploy' as const }];
  const shop = await given(stack, { name: 'shop-following', pipeline: { wishes }, deploy: AT_ONCE });
  for (const service of [network, shop]) {
    await service.ships(2);
    await service.ended(1);
  }
  await stack.json(['undeploy', network.name, ...WHY]);
  await eventually(
    'the other is undeployed',
    async () => (await stack.client.history(shop.name)).length > 1 || undefined,
  );
  await network.ended(2);
  await save(stack, 'release-undeploy', workflowIds.release(network.name, 2));
  await save(stack, 'deploy-removal', network.deployWorkflow(2));
  await save(stack, 'pipeline-undeploy', workflowIds.pipeline(network.name));
  await save(stack, 'offers-removed', workflowIds.offers(network.name));
  await save(stack, 'release-undeploy-wishes', workflowIds.release(shop.name, 2));
  await save(stack, 'pipeline-follows-withdrawal', workflowIds.pipeline(shop.name));
}

/** An action that is no deploy waits for an offer and runs with its value. */
export async function recordActionWish(stack: Stack, save: Save): Promise<void> {
  const network = await given(stack, { name: 'shop-rig', deploy: AT_ONCE });
  const wishes = [{ from: network.name, offer: 'place', for: ['profile'] }];
  const name = 'shop-measured';
  const profile = {
    ...{ type: 'custom', inputs: ['executable'], outputs: ['profile'] },
    with: { service: 'profile', samples: 5, jobs: [`${name}-x`], place: '${wishes.shop-rig.place.job}' },
  } as const;
  const config = { jobs: [`${name}-x`] };
  const deploy = {
    type: 'deploy',
    inputs: ['executable'],
    needs: ['profile'],
    with: { pushType: 'twine', config, ...AT_ONCE },
  };
  const shop = await given(stack, { name, pipeline: { wishes, actions: { profile, deploy } as never } });
  await shop.ships(2);
  await eventually('it waits for the offer', async () => {
    const { actions } = await shop.release(1);
    return actions.some(({ blockedBy }) => blockedBy?.includes('has not offered')) || undefined;
  });
  await stack.client.apply(
    pipelineSchema.parse({ ...network.source, offers: [{ name: 'place', value: { job: 'x' } }] }),
    OWNER,
  );
  await network.ships(2);
  await shop.ended(1);
  await save(stack, 'release-action-wishes', workflowIds.release(shop.name, 1));
}
