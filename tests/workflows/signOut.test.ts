import { temporalSignOuts } from '../../client/signOuts';
import type { Temporal } from '../../client/connection';
import { workflowIds } from '../../domain/ids';
import { HOUR, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const signOutsAt = (taskQueue: string) =>
  temporalSignOuts({ client: world.client, address: 'virtual' } as Temporal, taskQueue);

test('a sign-out is found at once, without a worker; a second one is another, and each ends by itself', async () => {
  const [id, without] = [workflowIds.signOutEverywhere('user:alice'), signOutsAt('no worker is here')];
  expect(await without.find(id)).toBeNull();
  const first = await without.record(id, 'user:alice signed out everywhere');
  expect(await without.find(id)).toBe(first);
  const signOuts = signOutsAt(world.taskQueue);
  const second = await signOuts.record(id, 'user:alice signed out everywhere');
  expect(second).not.toBe(first);
  expect(await without.find(id)).toBe(second);
  const stateNow = async () => (await world.client.workflow.getHandle(id).describe()).status.name;
  expect(await stateNow()).toBe('RUNNING');
  await world.sleep(9 * HOUR);
  await world.until('it has ended', async () => (await stateNow()) === 'COMPLETED', {
    stepMs: 1_000,
    withinMs: 60_000,
  });
  // A sign-out that has ended was one nevertheless.
  expect(await signOuts.find(id)).toBe(second);
});
