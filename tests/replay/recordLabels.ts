import { workflowIds } from '../../domain/ids';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { given } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import type { Save } from './recordModel';

/** The output of a build becomes a label of its release. */
export async function recordLabels(stack: Stack, save: Save): Promise<void> {
  const pipeline: Partial<PipelineSource> = {
    artifacts: { source: { finder: 'manual' } },
    actions: { build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: { target: '//shop' } } },
  };
  const shop = await given(stack, { name: 'shop-labelled', pipeline });
  const builtFrom = { repository: 'acme/shop', revision: '4f0c1d2e9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d' };
  const source = { name: 'source', kind: 'source', version: '77', builtFrom, metadata: {} } as const;
  await stack.client.release(shop.name, [source], { kind: 'manual', actor: OWNER, key: null });
  await shop.ended(1);
  await save(stack, 'release-labelled', workflowIds.release(shop.name, 1));
}
