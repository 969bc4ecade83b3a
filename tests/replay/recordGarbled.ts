import { setTimeout } from 'node:timers/promises';
import { workflowIds } from '../../domain/ids';
import { given, type Given, type Service } from '../system/service';
import type { Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

const GARBLED = { kind: 'http', service: 'integr-test', method: 'getRunProgress', mode: 'garbage' } as const;

/** A step of a deploy, and an action that is tried again, whose service answers nonsense once they have ended. */
export async function recordGarbled(stack: Stack, save: Save): Promise<void> {
  await recordGarbledStep(stack, save);
  await recordGarbledAction(stack, save);
}

async function recordGarbledStep(stack: Stack, save: Save): Promise<void> {
  const shop = await pauseByStep(stack, 'shop-garbled-step', {});
  await save(stack, 'deploy-garbled-step', shop.deployWorkflow(1));
}

/** A step of a deploy garbles its answers; the deploy pauses by itself, until a person resumes it. */
async function pauseByStep(stack: Stack, name: string, pipeline: Given['pipeline']): Promise<Service> {
  const pre = [{ service: 'integr-test' }];
  const phases = [{ name: 'first', scope: '*', amount: 1, bake: '1s', pre }];
  const shop = await given(stack, { name, deploy: { phases, completion: { bake: '0s' } }, pipeline });
  const { id } = await stack.control<{ id: string }>('POST', '/control/faults', GARBLED);
  await shop.ships(2);
  await shop.reaches(1, 'is paused', ({ paused }) => paused !== null);
  await eventually(
    'a person was paged if one is on call',
    async () =>
      pipeline?.onCall === undefined ||
      (await shop.release(1)).timeline.some(({ text }) => /page/.test(text)) ||
      undefined,
  );
  await stack.control('DELETE', `/control/faults/${id}`);
  await stack.json(['resume', `${shop.name}/1/deploy`, '--reason', 'to record a history']);
  await shop.ended(1);
  return shop;
}

/** The person on call is paged about such a pause, before a person resumes. */
export async function recordPages(stack: Stack, save: Save): Promise<void> {
  const shop = await pauseByStep(stack, 'shop-paged', { onCall: { page: 'user:maria', after: '1s' } });
  await save(stack, 'deploy-alarm', shop.deployWorkflow(1));
  await save(stack, 'release-paged', workflowIds.release(shop.name, 1));
}

async function recordGarbledAction(stack: Stack, save: Save): Promise<void> {
  const name = 'shop-garbled-action';
  const test = { type: 'integr-test', inputs: ['executable'], retry: { attempts: 5, backoff: '1s' } } as const;
  const deploy = { pushType: 'twine', config: { jobs: [`${name}-x`] }, phases: [], completion: { bake: '0s' } };
  const actions = { test, deploy: { type: 'deploy', inputs: ['executable'], needs: ['test'], with: deploy } } as const;
  const shop = await given(stack, { name, pipeline: { actions: actions as never } });
  const { id } = await stack.control<{ id: string }>('POST', '/control/faults', GARBLED);
  await shop.ships(2);
  await eventually('the test runs', async () =>
    (await shop.release(1)).actions.some(({ state }) => state === 'running'),
  );
  // The first attempt is stopped meanwhile.
  await setTimeout(3_000);
  await stack.control('DELETE', `/control/faults/${id}`);
  await shop.ended(1);
  await save(stack, 'release-garbled-action', workflowIds.release(shop.name, 1));
}
