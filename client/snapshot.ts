import { conveyorError, ConveyorError } from '../domain/errors';
import type { DeployStatus, ReleaseStatus, WaitView } from '../domain/views';
import type { ConveyorClient } from './api';

/** A snapshot of a watched object: a release with its deploys, or one deploy. */
export interface WatchSnapshot {
  readonly release: ReleaseStatus | null;
  /** The reason why a release that has not started waits, from its pipeline. */
  readonly waits: readonly WaitView[];
  readonly deploys: readonly DeployStatus[];
}

type StatusClient = Pick<ConveyorClient, 'status'>;

/** A release with its deploys, or a single deploy. Objects that have ended are not queried again. */
export async function takeSnapshot(
  client: StatusClient,
  id: string,
  before: WatchSnapshot | null,
): Promise<WatchSnapshot> {
  const status = await client.status(id);
  if (status.kind === 'deploy') return { release: null, waits: [], deploys: [status] };
  if (status.kind === 'pipeline') throw conveyorError('invalid-id', { text: id, expected: 'a release or a deploy' });
  const ids = status.actions.flatMap((action) => (action.deploy === null ? [] : [action.deploy]));
  const deploys = await Promise.all(ids.map((one) => fetchDeploy(client, one, before)));
  const waits = status.state === 'queued' ? await listWaits(client, status) : [];
  return { release: status, waits, deploys: deploys.filter((deploy) => deploy !== null) };
}

/** Why a release has not started yet; only its pipeline knows. */
async function listWaits(client: StatusClient, { pipeline, number }: ReleaseStatus): Promise<readonly WaitView[]> {
  const status = await client.status(pipeline);
  if (status.kind !== 'pipeline') return [];
  return (status.waits ?? []).filter((wait) => wait.release === number);
}

/** An action may name its deploy before that workflow answers. */
async function fetchDeploy(
  client: StatusClient,
  id: string,
  before: WatchSnapshot | null,
): Promise<DeployStatus | null> {
  const known = before?.deploys.find((deploy) => deploy.id === id);
  try {
    const status = await client.status(id);
    return status.kind === 'deploy' ? status : null;
  } catch (error) {
    if (error instanceof ConveyorError && error.code === 'unknown-deploy') return known ?? null;
    throw error;
  }
}
