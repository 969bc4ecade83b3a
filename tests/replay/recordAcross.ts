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

/** Two pipelines name the same many units in two ways, and one of them is cancelled on its way. */
export async function recordAcrossMany(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-many', deploy: { ...AT_ONCE, config: { service: 'shop-many' } } });
  const jobs = Array.from({ length: 58 }, (_, nth) => `shop-many-${nth}`);
  const job = { service: shop.name, region: 'x', tasks: 1, version: shop.version(1), nSmall: 1, budget: 1 };
  const timings = { fetchMs: 10, stopMs: 10, startMs: 10 };
  for (const name of jobs) await stack.control('POST', '/control/jobs', { ...job, name, timings });
  const config = { jobs: [...jobs, ...shop.jobs] };
  const hotfix = await given(stack, {
    ...{ name: 'shop-many-hotfix', jobsOf: shop, deploy: { ...AT_ONCE, config, phases: FIRST } },
  });
  await shop.ships(2);
  await shop.ended(1);
  await hotfix.ships(9);
  await hotfix.isIn(1, 'baking');
  await stack.json(['skip-bake', `${hotfix.name}/1/deploy`, '--reason', 'to record a history']);
  await hotfix.ended(1);
  await hotfix.ships(10);
  await hotfix.isIn(2, 'baking');
  await stack.json(['cancel', `${hotfix.name}/2`, '--reason', 'to record a history']);
  await hotfix.ended(2);
  await save(stack, 'deploy-stopped-of-many', hotfix.deployWorkflow(2));
  await save(stack, 'lock-knows-many', workflowIds.serviceLock('twine', shop.name));
}

/** A push comes before the one that it follows, with an older date. */
export async function recordEarly(stack: Stack, save: Save): Promise<void> {
  const artifacts = { executable: { finder: 'latest-build', with: { target: '//shop:early' } } };
  const shop = await given(stack, { name: 'shop-early', deploy: AT_ONCE, pipeline: { artifacts } });
  const pushes = [
    { n: 2, before: shop.version(1), committedAt: '2026-11-20T12:00:00Z' },
    { n: 4, before: shop.version(3), committedAt: '2026-11-20T10:00:00Z' },
    { n: 3, before: shop.version(2), committedAt: '2026-11-20T13:00:00Z' },
  ];
  for (const { n, ...metadata } of pushes) {
    const artifact = { name: 'executable', kind: 'executable', version: shop.version(n), metadata };
    await stack.client.submit(shop.name, [artifact], { kind: 'webhook', actor: OWNER, key: `early-${n}` });
  }
  for (const number of [1, 2, 3]) await shop.ended(number);
  await save(stack, 'pipeline-early', workflowIds.pipeline(shop.name));
}

const FIRST = [{ name: 'first', scope: '*', amount: 1, bake: '1h' }];

function renamed({ source }: Service): PipelineSource {
  const { deploy, ...others } = source.actions;
  return { ...source, actions: { ...others, ship: deploy } } as PipelineSource;
}
