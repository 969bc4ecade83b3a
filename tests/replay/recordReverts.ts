import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { workflowIds } from '../../domain/ids';
import { given } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

const BECAUSE = { actor: OWNER, reason: 'to record a history' };

/** A revert of which the push type takes nothing at first, and one that comes to a release whose actions have all ended. */
export async function recordReverts(stack: Stack, save: Save): Promise<void> {
  await recordRefusedWhole(stack, save);
  await recordAboutToEnd(stack, save);
}

async function recordRefusedWhole(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, {
    name: 'shop-revert-refused',
    deploy: { phases: FIRST, completion: { bake: '0s' } },
  });
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  const fault = { kind: 'http', service: 'twine', method: 'executeUpdates', mode: 'garbage' };
  const { id } = await stack.control<{ id: string }>('POST', '/control/faults', fault);
  await stack.json(['revert', `${shop.name}/1/deploy`, '--reason', BECAUSE.reason]);
  await shop.reaches(1, 'is not taken back', ({ summary }) => summary.includes('does not take back'));
  await stack.control('DELETE', `/control/faults/${id}`);
  await shop.ended(1, 120_000);
  await save(stack, 'deploy-revert-refused-whole', shop.deployWorkflow(1));
}

const FIRST = [{ name: 'first', scope: 'region:x', amount: 2, bake: '1h' }];

/** The receiver of its last notice is slow to answer, so that it is still open. */
async function recordAboutToEnd(stack: Stack, save: Save): Promise<void> {
  const receiver = createServer();
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const noticed = new Promise<ServerResponse>((resolve) => receiver.once('request', (_, answer) => resolve(answer)));
  const shop = await given(stack, {
    ...{ name: 'shop-about-to-end', deploy: { phases: [], completion: { bake: '0s' } } },
    pipeline: { notify: [{ on: ['succeeded'], url }] },
  });
  await shop.ships(2);
  const answer = await noticed;
  await stack.temporal.workflow.getHandle(workflowIds.release(shop.name, 1)).signal('revert', BECAUSE);
  await eventually('it took the revert', async () => (await shop.release(1)).commands.length > 0);
  answer.end();
  await shop.ended(2);
  await save(stack, 'release-about-to-end', workflowIds.release(shop.name, 1));
  receiver.close();
}
