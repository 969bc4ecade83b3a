import { viaApp } from '../../sdk/client';
import type { VirtualWorld } from './world';

/** The requests of another deploy, of all jobs, to the push type, as Conveyor would send them. */
export async function pushingBeside(
  world: VirtualWorld,
  method: string,
  deployId: string,
  request: object,
): Promise<void> {
  const jobs = (await world.jobs()).map(({ name }) => name);
  const context = { pipeline: 'other', release: 1, deployId, actor: 'user:bob', config: { jobs } };
  const response = await viaApp(world.simulator.app)(
    new Request(`http://simulator/push-types/twine/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `${deployId}/${method}` },
      body: JSON.stringify({ ...request, context }),
    }),
  );
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}
