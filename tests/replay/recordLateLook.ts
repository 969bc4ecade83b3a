import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { given, type Service } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

const AT_ONCE = { phases: [], completion: { bake: '0s' } };
const BECAUSE = { actor: OWNER, reason: 'to record a history' };

/** A release that looks late: before its deploy and its canary begin, the graph is away, and its pipeline is frozen meanwhile; and one that loses its turn. */
export async function recordLateLook(stack: Stack, save: Save): Promise<void> {
  await recordFrozen(stack, save);
  await recordLost(stack, save);
}

async function recordFrozen(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-late-look', deploy: AT_ONCE });
  const canary = {
    ...{ type: 'canary', inputs: ['executable'] },
    with: { pushType: 'twine', config: { jobs: [shop.jobs[0]] }, amount: 1, bake: '1s' },
  };
  await applyWith(shop, { canary } as PipelineSource['actions']);
  const target = `//${shop.name}:server`;
  await stack.control('POST', '/control/targets', { target, deps: [] });
  await stack.json(['bugs', 'report', '--target', '//lib:other', '--from', '2', '--reason', 'it loses replies']);
  const fault = { kind: 'http', service: 'dependency-graph', mode: 'down' };
  const { id } = await stack.control<{ id: string }>('POST', '/control/faults', fault);
  const made = { name: 'executable', kind: 'executable', version: shop.version(2), metadata: {} };
  const artifact = { ...made, builtFrom: { repository: 'mono', revision: '2', target } };
  await stack.client.release(shop.name, [artifact], { kind: 'manual', actor: OWNER, key: null });
  await blocked(shop, 'whether it contains a bug is unknown');
  await stack.json(['freeze', shop.name, '--reason', BECAUSE.reason]);
  await stack.control('DELETE', `/control/faults/${id}`);
  await blocked(shop, 'is frozen');
  await stack.json(['unfreeze', shop.name, '--reason', BECAUSE.reason]);
  await shop.ended(1, 120_000);
  await save(stack, 'release-late-look', workflowIds.release(shop.name, 1));
}

/** Its pipeline is gone when its deploy asks for its turn. */
async function recordLost(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-lost-turn', deploy: AT_ONCE });
  const { deploy } = shop.source.actions;
  await applyWith(shop, { go: { type: 'manual-pick' }, deploy: { ...deploy!, needs: ['go'] } } as never);
  await shop.ships(2);
  const release = stack.temporal.workflow.getHandle(workflowIds.release(shop.name, 1));
  const goes = async () => (await shop.release(1)).actions.find(({ name }) => name === 'go');
  await eventually('it is at its pick', async () => ((await goes())?.pickBy ? true : undefined));
  await release.signal('pause', BECAUSE);
  await release.signal('pick', { ...BECAUSE, action: 'go', approve: true });
  await eventually('it was picked', async () => ((await goes())?.state === 'succeeded' ? true : undefined));
  await stack.temporal.workflow.getHandle(workflowIds.pipeline(shop.name)).terminate(BECAUSE.reason);
  await release.signal('resume', BECAUSE);
  await release.result();
  await save(stack, 'release-lost-turn', workflowIds.release(shop.name, 1));
}

const applyWith = ({ stack, source }: Service, actions: PipelineSource['actions']) =>
  stack.client.apply(pipelineSchema.parse({ ...source, actions: { ...source.actions, ...actions } }), OWNER);

/** Both of its actions, for the minute that a look at the graph may take. */
const blocked = (shop: Service, why: string) =>
  eventually(
    `its actions wait: ${why}`,
    async () => {
      const { actions } = await shop.release(1);
      return actions.every(({ state, blockedBy }) => state === 'blocked' && blockedBy?.includes(why)) || undefined;
    },
    120_000,
  );
