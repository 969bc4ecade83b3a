import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { given, SELDOM, type Service } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

/** A service whose canary bakes, and the id of the canary's workflow. */
async function bakeCanary(
  stack: Stack,
  name: string,
): Promise<{ readonly shop: Service; readonly workflowId: string }> {
  const shop = await given(stack, { name });
  const canary = {
    ...{ type: 'canary', inputs: ['executable'] },
    with: { pushType: 'twine', config: { jobs: [...shop.jobs] }, amount: 1, bake: '1h', healthInterval: SELDOM },
  };
  const { executable } = shop.source.artifacts ?? {};
  const source = { ...shop.source, artifacts: { executable }, actions: { canary } } as PipelineSource;
  await stack.client.apply(pipelineSchema.parse(source), OWNER);
  await shop.ships(2);
  const workflowId = workflowIds.deploy(shop.name, 1, 'canary', 1);
  const baking = stack.temporal.workflow.getHandle(workflowId);
  await eventually('the canary bakes', async () => {
    const { state } = await baking.query<{ state: string }>('status');
    return state === 'baking' || undefined;
  });
  return { shop, workflowId };
}

const cancelRelease = (stack: Stack, { name }: Service): Promise<unknown> =>
  stack.json(['cancel', `${name}/1`, '--reason', 'to record a history']);

/** A completion that waits for a canary beside it, which a person cancels. */
export async function recordWaitsForCanary(stack: Stack, save: Save): Promise<void> {
  const { shop } = await bakeCanary(stack, 'shop-canaries');
  const deploy = { phases: [], completion: { bake: '0s' } };
  const beside = await given(stack, { name: 'shop-beside', jobsOf: shop, deploy });
  await beside.ships(3);
  await beside.reaches(1, 'waits for it', ({ summary }) => summary.includes('waiting for the canaries'));
  await cancelRelease(stack, shop);
  await beside.ended(1, 120_000);
  await save(stack, 'deploy-waits-for-canary', beside.deployWorkflow(1));
  await recordGoesBackUnseen(stack, save);
}

/** A canary that goes back although the push type does not say what its units run. */
async function recordGoesBackUnseen(stack: Stack, save: Save): Promise<void> {
  const { shop, workflowId } = await bakeCanary(stack, 'shop-unseen');
  const fault = { kind: 'http', service: 'twine', method: 'fetchDeployUnits', mode: 'garbage' };
  const { id } = await stack.control<{ id: string }>('POST', '/control/faults', fault);
  await cancelRelease(stack, shop);
  // Whether a deploy beside it has moved the units meanwhile is unknown.
  await eventually('it waits for a person', async () => {
    const handle = stack.temporal.workflow.getHandle(workflowId);
    const { paused } = await handle.query<{ paused: object | null }>('status');
    return paused !== null || undefined;
  });
  await stack.control('DELETE', `/control/faults/${id}`);
  await stack.json(['resume', `${shop.name}/1/canary`, '--reason', 'to record a history']);
  await shop.ended(1);
  await save(stack, 'deploy-canary-unseen', workflowId);
}
