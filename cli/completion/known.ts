import type { ConveyorClient } from '../../client/api';
import type { ActionView } from '../../domain/views';
import type { Candidate, Known } from './wanted';

/** More than this nobody reads in a terminal. */
const LIMIT = 50;

/** Asks a server for what could stand where the cursor is. */
export function lookUp(client: ConveyorClient, of: Known, pipeline: string): Promise<readonly Candidate[]> {
  switch (of) {
    case 'pipelines':
      return pipelines(client);
    case 'ids':
      return flat([pipelines(client), releases(client), deploys(client)]);
    case 'running':
      return flat([releases(client), deploys(client)]);
    case 'deploys':
      return deploys(client);
    case 'picks':
      return actions(client, ({ pickBy, endedAt }) => pickBy !== null && endedAt === null);
    case 'begun':
      return actions(client, ({ startedAt }) => startedAt !== null);
    case 'failures':
      return actions(client, ({ state }) => state === 'failed');
    case 'inputs':
      return inputs(client, pipeline);
    case 'deploy-actions':
      return deployActions(client, pipeline);
    case 'known-bad':
      return knownBad(client, pipeline);
  }
}

const flat = async (lists: readonly Promise<readonly Candidate[]>[]): Promise<readonly Candidate[]> =>
  (await Promise.all(lists)).flat();

async function pipelines(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listPipelines({ limit: LIMIT });
  return rows.map(({ id, description }) => ({ value: id, description }));
}

async function releases(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listReleases({ limit: LIMIT });
  return rows
    .filter(({ endedAt }) => endedAt === null)
    .map(({ id, state, artifacts }) => ({
      value: id,
      description: [state, ...artifacts.map(({ name, version }) => `${name}=${version}`)].join(' '),
    }));
}

async function deploys(client: ConveyorClient): Promise<Candidate[]> {
  const rows = await client.listDeploys({ limit: LIMIT });
  return rows
    .filter(({ endedAt }) => endedAt === null)
    .map(({ id, state, version }) => ({ value: id, description: `${state} ${version}` }));
}

async function actions(client: ConveyorClient, isMeant: (action: ActionView) => boolean): Promise<Candidate[]> {
  const running = (await client.listReleases({ limit: LIMIT })).filter(({ endedAt }) => endedAt === null);
  const statuses = await Promise.all(running.map(({ id }) => client.status(id)));
  return statuses.flatMap((status) =>
    status.kind === 'release'
      ? status.actions.filter(isMeant).map(({ name, type }) => ({ value: `${status.id}/${name}`, description: type }))
      : [],
  );
}

async function inputs(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const { artifacts } = await client.spec(pipeline);
  return Object.keys(artifacts).map((name) => ({ value: `${name}=`, description: 'and its version' }));
}

async function deployActions(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const spec = await client.spec(pipeline);
  return Object.entries(spec.actions)
    .filter(([, { type }]) => type === 'deploy')
    .map(([value, { type }]) => ({ value, description: type }));
}

async function knownBad(client: ConveyorClient, pipeline: string): Promise<Candidate[]> {
  const status = await client.status(pipeline);
  const bad = status.kind === 'pipeline' ? status.knownBad : [];
  return bad.map(({ artifact, reason }) => ({ value: artifact.replace(/#.*$/, ''), description: reason }));
}
