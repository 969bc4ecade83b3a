import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { given, SELDOM } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

/** A completion that waits for a canary beside it, which a person cancels. */
export async function recordWaitsForCanary(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-canaries' });
  const canary = {
    ...{ type: 'canary', inputs: ['executable'] },
    with: { pushType: 'twine', config: { jobs: [...shop.jobs] }, amount: 1, bake: '1h', healthInterval: SELDOM },
  };
  const { executable } = shop.source.artifacts ?? {};
  const source = { ...shop.source, artifacts: { executable }, actions: { canary } } as PipelineSource;
  await stack.client.apply(pipelineSchema.parse(source), OWNER);
  await shop.ships(2);
  const baking = stack.temporal.workflow.getHandle(workflowIds.deploy(shop.name, 1, 'canary', 1));
  await eventually('the canary bakes', async () => {
    const { state } = await baking.query<{ state: string }>('status');
    return state === 'baking' || undefined;
  });
  const deploy = { phases: [], completion: { bake: '0s' } };
  const beside = await given(stack, { name: 'shop-beside', jobsOf: shop, deploy });
  await beside.ships(3);
  await beside.reaches(1, 'waits for it', ({ summary }) => summary.includes('waiting for the canaries'));
  await stack.json(['cancel', `${shop.name}/1`, '--reason', 'to record a history']);
  await beside.ended(1, 120_000);
  await save(stack, 'deploy-waits-for-canary', beside.deployWorkflow(1));
}
