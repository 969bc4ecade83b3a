import type { ConveyorClient } from '../client/api';
import { meanUpdateMs } from '../domain/deploy/pastUpdates';
import type { DeployStatus } from '../domain/views';
import type { ConnectOptions, Io } from './io';
import { withClient } from './door';

/** How many deploys the mean covers; older ones are no longer representative. */
const DEPLOYS = 5;

/**
 * How long the updates of one phase took in the last successful deploys of an action, in ms; null if there are none.
 * Also null if no worker answers, since a plan must not fail for an estimate.
 */
export async function pastUpdateMs(
  io: Io,
  connect: ConnectOptions,
  pipeline: string,
  action: string,
): Promise<number | null> {
  try {
    return await withClient(io, connect, async (client) =>
      meanUpdateMs(await successfulDeploys(client, pipeline, action)),
    );
  } catch {
    return null;
  }
}

/** A rollback updates everything in one phase, and an undeploy removes it, so their times tell nothing about phases. */
async function successfulDeploys(client: ConveyorClient, pipeline: string, action: string): Promise<DeployStatus[]> {
  const rows = await client.history(pipeline);
  const ids = rows
    .filter(({ trigger }) => trigger.kind !== 'rollback' && trigger.kind !== 'undeploy')
    .filter(({ deploys }) => deploys.some((deploy) => deploy.action === action && deploy.outcome === 'succeeded'))
    .map(({ id }) => `${id}/${action}`);
  return Promise.all(ids.slice(0, DEPLOYS).map(async (id) => (await client.status(id)) as DeployStatus));
}
