import type { ConveyorClient } from '../client/api';
import { meanUpdateMs } from '../domain/deploy/pastUpdates';
import type { DeployStatus } from '../domain/views';
import type { ConnectOptions, Io } from './io';
import { withClient } from './door';

/** Of how many deploys the mean is taken: what took long a year ago says little. */
const DEPLOYS = 5;

/**
 * How long the updates of one phase took in the last deploys of an action that succeeded, in ms; null when there are none.
 * An estimate is no reason for a plan to fail, so it is null as well when nobody answers.
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

/** A rollback updates everything in one phase, and says nothing of phases. */
async function successfulDeploys(client: ConveyorClient, pipeline: string, action: string): Promise<DeployStatus[]> {
  const rows = await client.history(pipeline);
  const ids = rows
    .filter(({ trigger }) => trigger.kind !== 'rollback')
    .filter(({ deploys }) => deploys.some((deploy) => deploy.action === action && deploy.outcome === 'succeeded'))
    .map(({ id }) => `${id}/${action}`);
  return Promise.all(ids.slice(0, DEPLOYS).map(async (id) => (await client.status(id)) as DeployStatus));
}
