import { workflowIds } from '../../domain/ids';
import { given } from '../system/service';
import type { Stack } from '../system/stack';
import type { Save } from './recordModel';

/** A deploy pauses for a bug and is taken back, the next release is refused for it, and the one after that has the fix. */
export async function recordBugs(stack: Stack, save: Save): Promise<void> {
  const phases = [{ name: 'first', scope: 'region:x', amount: 2, bake: '1h' }];
  const shop = await given(stack, { name: 'shop-bugs', deploy: { phases, completion: { bake: '0s' } } });
  const target = `//${shop.name}:server`;
  await stack.control('POST', '/control/targets', { target, deps: ['//lib:rpc'] });
  const release = (n: number) =>
    stack.client.release(
      shop.name,
      [
        {
          ...{ name: 'executable', kind: 'executable', version: shop.version(n), metadata: {} },
          builtFrom: { repository: 'mono', revision: String(n), target },
        },
      ],
      { kind: 'manual', actor: 'user:alice', key: null },
    );
  await release(2);
  await shop.reaches(1, 'bakes', ({ phases: [phase] }) => Boolean(phase?.bakeUntil));
  await stack.json(['bugs', 'report', '--target', '//lib:rpc', '--from', '2', '--reason', 'it loses replies']);
  await shop.reaches(1, 'pauses', ({ paused }) => paused !== null);
  await stack.json(['revert', `${shop.name}/1`, '--not-bad', '--reason', 'bug/1']);
  await shop.ended(1);
  await stack.json(['unhold', shop.name, '--reason', 'bug/1']);
  await release(3);
  await shop.ended(2);
  await stack.json(['bugs', 'close', 'bug/1', '--to', '4', '--reason', 'fixed']);
  await release(4);
  await shop.reaches(3, 'bakes', ({ phases: [phase] }) => Boolean(phase?.bakeUntil));
  await stack.json(['skip-bake', `${shop.name}/3/deploy`, '--reason', 'it is fixed']);
  await shop.ended(3);
  await save(stack, 'bugs', workflowIds.bugs);
  await save(stack, 'release-bug-paused', workflowIds.release(shop.name, 1));
  await save(stack, 'release-bug-refused', workflowIds.release(shop.name, 2));
}
