import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { given, type Service } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import type { Save } from './recordModel';

const AT_ONCE = { phases: [], completion: { bake: '0s' }, healthChecks: [] };

/** One pipeline replaces what another brought to the same service, a revert leaves that alone, and the deploy of the first gets a new name. */
export async function recordAcross(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-replaced', deploy: AT_ONCE });
  const hotfix = await given(stack, { name: 'shop-hotfix', jobsOf: shop, deploy: { ...AT_ONCE, phases: FIRST } });
  await shop.ships(2);
  await shop.ended(1);
  await hotfix.ships(9);
  await hotfix.isIn(1, 'baking');
  await stack.json(['revert', `${shop.name}/1`, '--reason', 'to record a history']);
  await shop.isIn(2, 'waiting-lock');
  await stack.json(['skip-bake', `${hotfix.name}/1/deploy`, '--reason', 'to record a history']);
  await hotfix.ended(1);
  await shop.ended(2);
  await save(stack, 'deploy-leaves-replaced', shop.deployWorkflow(2));
  await save(stack, 'lock-knows', workflowIds.serviceLock('twine', shop.name));
  await stack.client.apply(pipelineSchema.parse(renamed(shop)), OWNER);
  await save(stack, 'pipeline-replaced', workflowIds.pipeline(shop.name));
}

const FIRST = [{ name: 'first', scope: '*', amount: 1, bake: '1h' }];

function renamed({ source }: Service): PipelineSource {
  const { deploy, ...others } = source.actions;
  return { ...source, actions: { ...others, ship: deploy } } as PipelineSource;
}
