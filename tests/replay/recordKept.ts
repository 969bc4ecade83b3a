import { workflowIds } from '../../domain/ids';
import { addJobs, given, type Given, type Service } from '../system/service';
import type { Stack } from '../system/stack';
import type { Save } from './recordModel';

/** A command that was kept while no worker ran, and an update that its push type forgot. */
export async function recordKept(stack: Stack, save: Save): Promise<void> {
  await recordHandedOn(stack, save);
  await recordForgotten(stack, save);
}

const BECAUSE = ['--reason', 'to record a history'] as const;
const FIRST = [{ name: 'first', scope: 'region:x', amount: 2, bake: '1h' }];

/** A deploy is paused by itself; Temporal keeps a resume for its release, which hands it on. */
async function recordHandedOn(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-kept', deploy: { phases: FIRST, completion: { bake: '0s' } } });
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await stack.json(['pause', `${shop.name}/1/deploy`, ...BECAUSE]);
  await stack.killWorker();
  await stack.conveyor(['resume', `${shop.name}/1`, ...BECAUSE]);
  await stack.startWorker();
  await continues(shop);
  await stack.json(['skip-bake', `${shop.name}/1/deploy`, ...BECAUSE]);
  await shop.ended(1);
  await save(stack, 'release-handed-on', workflowIds.release(shop.name, 1));
  await save(stack, 'deploy-handed-on', shop.deployWorkflow(1));
}

/** The fleet starts anew before any task was updated, and knows the jobs again but no update; a person resumes. */
async function recordForgotten(stack: Stack, save: Save): Promise<void> {
  const slow: Given = { restartMs: 20_000, nSmall: 1 };
  const shop = await given(stack, { ...slow, name: 'shop-forgotten', deploy: { phases: FIRST } });
  await shop.ships(2);
  await shop.reaches(1, 'waits for its update', ({ phases }) => (phases[0]?.units[0]?.targeted ?? 0) > 0);
  await stack.control('POST', '/control/reset', { seed: 1 });
  await addJobs(shop, {});
  await shop.reaches(1, 'is refused', ({ paused }) => paused?.until === 'resumed');
  await stack.json(['resume', `${shop.name}/1/deploy`, ...BECAUSE]);
  await continues(shop);
  await shop.isIn(1, 'baking');
  await stack.json(['cancel', `${shop.name}/1/deploy`, ...BECAUSE]);
  await shop.ended(1);
  await save(stack, 'deploy-forgotten', shop.deployWorkflow(1));
}

const continues = (shop: Service) => shop.reaches(1, 'continues', ({ paused }) => paused === null);
